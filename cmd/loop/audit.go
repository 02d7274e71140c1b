package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/seed-b23e517c/loop/audit"
	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/report"
)

func newAudit(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "audit", Short: "Check, prove and export the audit trail of a session",
		Long: "Check, prove and export the audit trail of a session: the records of its calls and decisions,\n" +
			"each chained to the one before, and signed at the end of each story.\n\n" + exitHelp,
		Args: args(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			return usagef("loop audit verify", "loop audit needs a command: verify, prove or export")
		},
	}
	cmd.AddCommand(newAuditVerify(a), newAuditProve(a), newAuditExport(a))
	return cmd
}

func newAuditProve(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "prove RECEIPT", Short: "Prove that a receipt stands in a signed trail",
		Long: "Print a proof that a receipt's record stands in its session's signed audit trail. Whoever has it\n" +
			"can check it with `loop audit verify --proof FILE`, without the trail and without this repository.\n\n" + exitHelp,
		Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, refs []string) error {
			p, err := a.prove(cmd.Context(), refs[0])
			if errors.Is(err, audit.ErrRevoked) {
				fmt.Fprintf(a.stderr, "loop: %v: this proves that it was issued, not that it counts\n", err)
				err = nil
			}
			if err != nil {
				return err
			}
			if asJSON {
				return report.WriteExactJSON(a.stdout, p)
			}
			_, err = io.WriteString(a.stdout, p.Text())
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (a *app) prove(ctx context.Context, arg string) (audit.Proof, error) {
	token, err := parseReceipt(arg)
	if err != nil {
		return audit.Proof{}, err
	}
	_, store, err := a.openStore(ctx, true)
	if err != nil {
		return audit.Proof{}, err
	}
	id, _, err := store.FindReceipt(ctx, token.String())
	if errors.Is(err, queue.ErrNotFound) {
		return audit.Proof{}, &hintedError{
			err:  fmt.Errorf("receipt %q is in no trail of this repository: nobody here issued it", token),
			hint: "`loop receipts` lists those that were issued",
		}
	}
	if err != nil {
		return audit.Proof{}, err
	}
	s, err := store.Session(ctx, id)
	if err != nil {
		return audit.Proof{}, err
	}
	t, err := trailOf(ctx, store, s)
	if err != nil {
		return audit.Proof{}, err
	}
	return audit.ProveReceipt(t, token)
}

func newAuditExport(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "export [SESSION]", Short: "Print an audit trail as JSON lines",
		Long: "Print the audit trail of a session as JSON lines: the records byte for byte, the public key, the\n" +
			"signed states. `loop audit verify FILE` checks it anywhere. The last session by default. A trail that\n" +
			"is not as it was written is printed as it is, and the exit code is 1.\n\n" + exitHelp,
		Args: args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, refs []string) error {
			store, s, err := a.openSession(cmd.Context(), refs)
			if err != nil {
				return err
			}
			known, err := knownOf(cmd.Context(), store, s)
			if err != nil {
				return err
			}
			t, err := trailOf(cmd.Context(), store, s)
			if err != nil {
				return err
			}
			var w io.Writer = a.stdout
			if term.IsTerminal(a.stdout) {
				w = quoted{a.stdout}
			}
			if err := t.Write(w); err != nil {
				return err
			}
			return undamaged(t, known)
		},
	}
}

// undamaged says what is wrong with a trail that was printed.
func undamaged(t audit.Trail, known *audit.Known) error {
	r := audit.Check(t, audit.Ask{Known: known})
	if r.OK() {
		return nil
	}
	return &hintedError{
		err:  fmt.Errorf("the trail is damaged, and was printed as it is: %s", term.Line(r.Problems[0].Text)),
		hint: "loop audit verify " + t.Session,
	}
}

// quoted makes visible what would act on a terminal: names of tools are
// strangers' texts. To a file the bytes go as they are.
type quoted struct{ w io.Writer }

func (q quoted) Write(p []byte) (int, error) {
	_, err := io.WriteString(q.w, term.QuoteLines(string(p)))
	return len(p), err
}
