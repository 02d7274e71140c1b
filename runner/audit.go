package runner

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/seed-b23e517c/loop/firewall/seal"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/receipt"
)

// Receipts says whether tool results get receipts, and how.
type Receipts struct {
	Enabled bool
	Format  receipt.Format // "" = receipt.V2
}

// sealWait is how long a reported result waits for the stream to show its
// call. Only an invented one has to wait at all.
const sealWait = 5 * time.Second

// ledger is the audit trail of one session: it adds records, and signs a state
// of them at the end of each story with a key that nobody has after the
// session. It signs nothing that it has not written, but for decisions, which
// other processes add.
type ledger struct {
	store   *queue.Store
	session string
	signer  *receipt.Signer
	now     func() time.Time

	mu  sync.Mutex
	own map[receipt.Hash]bool // hashes of the records that it wrote; true once they were kept for sure
}

func newLedger(o *Options, session string) (*ledger, error) {
	signer, err := receipt.NewSigner(receipt.Origin(session), nil)
	if err != nil {
		return nil, err
	}
	return &ledger{store: o.Store, session: session, signer: signer, now: o.Now, own: map[receipt.Hash]bool{}}, nil
}

// add appends one record.
func (l *ledger) add(ctx context.Context, r receipt.Record) error {
	var sum receipt.Hash
	err := l.store.AppendAudit(ctx, l.session, r.Receipt.String(), func(n uint64, last []byte) ([]byte, error) {
		record, err := r.Next(n, last)
		if err == nil {
			sum = sha256.Sum256(record)
			l.note(sum, false) // it may be kept although this fails
		}
		return record, err
	})
	if err == nil {
		l.note(sum, true)
	}
	return err
}

func (l *ledger) note(sum receipt.Hash, kept bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.own[sum] = kept
}

// alteredError says that somebody else wrote to the trail.
type alteredError struct{ what string }

func (e *alteredError) Error() string { return e.what }

// altered finds what was added to the trail or taken out of it by somebody else,
// however well it is chained.
func (l *ledger) altered(records [][]byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	there := map[receipt.Hash]bool{}
	for i, record := range records {
		sum := receipt.Hash(sha256.Sum256(record))
		if there[sum] = true; isIn(l.own, sum) {
			continue
		}
		if r, err := receipt.ParseRecord(record); err != nil || !r.Event.Decision() {
			return &alteredError{fmt.Sprintf("record %d of the audit trail was not written by loop", i)}
		}
	}
	for sum, kept := range l.own {
		if kept && !there[sum] {
			return &alteredError{"records that loop wrote are not in the audit trail any more, or were changed"}
		}
	}
	return nil
}

func isIn(set map[receipt.Hash]bool, sum receipt.Hash) bool { _, ok := set[sum]; return ok }

// sign keeps a signed state of the trail and returns its root.
func (l *ledger) sign(ctx context.Context) (root string, err error) {
	err = l.store.AddCheckpoint(ctx, l.session, func(records [][]byte) ([]byte, error) {
		if err := l.altered(records); err != nil {
			return nil, err
		}
		log, err := receipt.Resume(records)
		if err != nil {
			return nil, &alteredError{err.Error()}
		}
		tree, err := log.Tree()
		if err != nil {
			return nil, err
		}
		root = tree.Root.String()
		return l.signer.Sign(tree)
	})
	return root, err
}

// scope names an attempt in receipts and records.
func scope(a *queue.Attempt) string { return a.Scope() }

// seal begins the receipts of an attempt; release ends them: the key is gone
// then.
func (r *run) seal(ctx context.Context, a *queue.Attempt) (s *seal.Seal, release func(), err error) {
	if r.ledger == nil {
		return nil, func() {}, nil
	}
	key, err := receipt.NewKey(nil)
	if err != nil {
		return nil, nil, err
	}
	format := r.o.Receipts.Format
	if format == "" {
		format = receipt.V2
	}
	r.book = receipt.NewBook(key, format)
	if err := r.ledger.add(ctx, receipt.Record{Event: receipt.StoryOpen, Scope: scope(a), TS: r.o.Now().Unix()}); err != nil {
		return nil, nil, err
	}
	return &seal.Seal{
		Book: r.book, Scope: scope(a), Client: a.ID, Keep: r.ledger.add, Now: r.o.Now, Wait: sealWait,
		Minted: func(tool, id, token string) {
			r.o.Log.Debug("tool receipt generated", "tool", tool, "call", id, "receipt", token)
		},
	}, key.Close, nil
}

// account writes what the seal knows into the attempt, and its faults as
// findings.
func (r *run) account(ctx context.Context, s *seal.Seal, a *queue.Attempt) error {
	if s == nil {
		return nil
	}
	account := s.Account()
	a.Receipts = &queue.Receipts{Results: account.Results, Receipted: account.Receipted, Missing: account.Missing}
	for _, rec := range account.Untold {
		if err := r.ledger.add(ctx, rec); err != nil {
			return err
		}
	}
	for id, why := range account.Revoked {
		err := r.ledger.add(ctx, receipt.Record{
			Event: receipt.CallRevoked, Scope: scope(a), ToolUseID: id, TS: r.o.Now().Unix(), ResultSHA256: receipt.SumHex([]byte(why)),
		})
		if err != nil {
			return err
		}
	}
	for _, text := range account.Faults {
		if err := addFinding(ctx, r.o, a, "receipt", text); err != nil {
			return err
		}
	}
	return nil
}

// closeStory ends an attempt in the trail: what the agent said last, what was
// found, the end, and a signed state of it all.
func (r *run) closeStory(ctx context.Context, a *queue.Attempt) error {
	if r.ledger == nil {
		return nil
	}
	findings, err := r.o.Store.Findings(ctx, a.Session)
	if err != nil {
		return err
	}
	now := r.o.Now().Unix()
	records := []receipt.Record{{Event: receipt.FinalText, Scope: scope(a), TS: now, ResultSHA256: receipt.SumHex([]byte(a.FinalText))}}
	for _, f := range findings {
		if f.Attempt == a.ID {
			records = append(records, receipt.Record{Event: receipt.Finding, Scope: scope(a), TS: now, ResultSHA256: receipt.SumHex([]byte(f.Text))})
		}
	}
	records = append(records, receipt.Record{Event: receipt.StoryClose, Scope: scope(a), TS: now})
	for _, rec := range records {
		if err := r.ledger.add(ctx, rec); err != nil {
			return err
		}
	}
	a.AuditRoot, err = r.ledger.sign(ctx)
	if altered := (*alteredError)(nil); errors.As(err, &altered) {
		a.AuditRoot = ""
		return addFinding(ctx, r.o, a, "tampered", altered.what+": it was not signed, and `loop audit verify` tells what is wrong with it")
	}
	return err
}
