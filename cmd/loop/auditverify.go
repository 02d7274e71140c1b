package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/seed-b23e517c/loop/audit"
	"github.com/seed-b23e517c/loop/internal/proc"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/receipt"
	"github.com/seed-b23e517c/loop/report"
	"github.com/seed-b23e517c/loop/transcript"
)

const auditVerifyLong = `Check an audit trail: that no record was changed, removed, added or moved, and that each signed
state is signed by the session's key and has its root. SESSION is the last one by default; FILE is
what ` + "`loop audit export`" + ` printed (- is standard input) and is checked without the queue.

What no check of the trail alone can know: whether records were cut off its end together with the
signed states that stood for them, and whether all of it was made anew with another key. --root
and --key tell, with a root or public key that was kept elsewhere: in the report, a mail, a note.
It does not check that loop was honest while it ran, nor that the machine's clock was right.

--proof FILE checks one that ` + "`loop audit prove`" + ` printed.

Exit codes: 0 as it was written; 1 damaged, or not what --root or --key stand for; 2 wrong use.`

type auditVerifyOptions struct {
	root, key, proof string
	json             bool
}

func newAuditVerify(a *app) *cobra.Command {
	var o auditVerifyOptions
	cmd := &cobra.Command{
		Use: "verify [SESSION|FILE]", Short: "Check an audit trail, or a proof from one", Long: auditVerifyLong,
		Args: args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, refs []string) error {
			root, err := parseRoot(o.root)
			if err != nil {
				return err
			}
			if o.proof != "" {
				if len(refs) > 0 {
					return usagef("loop audit verify --proof FILE", "--proof needs no session: all that is checked stands in the file")
				}
				return a.verifyProof(o, root)
			}
			return a.verifyTrail(cmd.Context(), refs, o, root)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.root, "root", "", "a root that was kept elsewhere, 64 hex digits")
	f.StringVar(&o.key, "key", "", "the session's public key, kept elsewhere")
	f.StringVar(&o.proof, "proof", "", "check this proof of one receipt (- is standard input)")
	f.BoolVar(&o.json, "json", false, "print JSON")
	return cmd
}

func (a *app) verifyTrail(ctx context.Context, refs []string, o auditVerifyOptions, root *receipt.Hash) error {
	ask := audit.Ask{Root: root, Key: o.key}
	t, known, err := a.trail(ctx, refs)
	if err != nil {
		return err
	}
	ask.Known = known
	r := audit.Check(t, ask)
	ro, err := a.reportOptions()
	if err != nil {
		return err
	}
	if o.json {
		err = report.WriteJSON(a.stdout, struct {
			Schema int  `json:"schema"`
			OK     bool `json:"ok"`
			audit.Result
		}{queue.Schema, r.OK(), r}, ro)
	} else {
		err = report.Audit(a.stdout, r, ro)
	}
	if err == nil && !r.OK() {
		return &codeError{code: exitFailed}
	}
	return err
}

// trail is that of a file, or of a session with what the queue knows of it.
func (a *app) trail(ctx context.Context, refs []string) (audit.Trail, *audit.Known, error) {
	if len(refs) > 0 && isFile(refs[0]) {
		t, err := readFrom(a, refs[0], audit.Read)
		return t, nil, err
	}
	if len(refs) > 0 && isDir(refs[0]) {
		return audit.Trail{}, nil, usagef("name a session, or a file that `loop audit export` printed", "%q is a directory", refs[0])
	}
	store, s, err := a.openSession(ctx, refs)
	if err != nil {
		return audit.Trail{}, nil, err
	}
	known, err := knownOf(ctx, store, s)
	if err != nil {
		return audit.Trail{}, nil, err
	}
	t, err := trailOf(ctx, store, s)
	return t, known, err
}

// knownOf is what the queue knows of a session. It is asked for before the trail:
// an attempt may end in between, and then its trail is the longer one.
func knownOf(ctx context.Context, store *queue.Store, s queue.Session) (*audit.Known, error) {
	attempts, err := store.Attempts(ctx, s.ID)
	return &audit.Known{Ended: !s.Ended.IsZero(), Running: isRunning(s), Attempts: attempts}, err
}

func isRunning(s queue.Session) bool {
	return s.Ended.IsZero() && proc.Running(s.Pid, s.PidStart, s.BootID)
}

func (a *app) verifyProof(o auditVerifyOptions, root *receipt.Hash) error {
	p, err := readFrom(a, o.proof, audit.ReadProof)
	if err != nil {
		return err
	}
	rec, c, err := p.Check()
	switch {
	case err != nil:
		return fmt.Errorf("the proof does not hold: %w", err)
	case root != nil && *root != c.Root:
		return fmt.Errorf("the proof leads to the root %s, not to the one that was given", c.Root)
	case o.key != "" && o.key != p.PublicKey:
		return errors.New("the proof is signed by another key than the one that was given")
	}
	ro, err := a.reportOptions()
	if err != nil {
		return err
	}
	ro.Known = func(token string) bool { return token == rec.Receipt.String() }
	elsewhere := root != nil || o.key != ""
	if o.json {
		return report.WriteJSON(a.stdout, struct {
			Schema    int            `json:"schema"`
			OK        bool           `json:"ok"`
			Record    receipt.Record `json:"record"`
			Origin    string         `json:"origin"`
			Signed    receipt.Tree   `json:"signed"`
			Elsewhere bool           `json:"root_or_key_given"`
		}{queue.Schema, true, rec, c.Origin, c.Tree, elsewhere}, ro)
	}
	return report.ProofChecked(a.stdout, rec, c, elsewhere, ro)
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return name == "-" || err == nil && !info.IsDir()
}

// readFrom reads a file, or standard input.
func readFrom[T any](a *app, name string, read func(io.Reader) (T, error)) (T, error) {
	var zero T
	if name == "-" {
		return read(transcript.UTF8(a.stdin))
	}
	f, err := os.Open(name)
	if err != nil {
		return zero, err
	}
	defer f.Close()
	text, err := plainText(f, name, "loop audit verify")
	if err != nil {
		return zero, err
	}
	v, err := read(transcript.UTF8(text))
	if err != nil {
		return zero, fmt.Errorf("%q: %w", name, err)
	}
	return v, nil
}
