package audit

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/receipt"
)

// now is when everything in these tests happens.
var now = time.Unix(1774608600, 0).UTC()

// night is a session whose trail a test writes as a run does.
type night struct {
	t        *testing.T
	store    *queue.Store
	dir      string
	session  queue.Session
	signer   *receipt.Signer
	book     *receipt.Book
	attempts []queue.Attempt
}

func newNight(t *testing.T) *night {
	t.Helper()
	dir := t.TempDir()
	store, err := queue.Open(dir, queue.Options{
		Now: func() time.Time { return now },
		Audit: &queue.Recorder{
			Record: func(x queue.Action, scope string, n uint64, last []byte) ([]byte, error) {
				return Decision(x, scope, now).Next(n, last)
			},
			Failed: func(x queue.Action, err error) { t.Errorf("#%d: %v", x.Number, err) },
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return nightIn(t, store, dir)
}

// nightIn is another session of the same queue.
func nightIn(t *testing.T, store *queue.Store, dir string) *night {
	t.Helper()
	id := uuid.Must(uuid.NewV7()).String()
	signer, err := receipt.NewSigner(receipt.Origin(id), nil)
	if err != nil {
		t.Fatal(err)
	}
	key, err := receipt.NewKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(key.Close)
	n := &night{t: t, store: store, dir: dir, signer: signer, book: receipt.NewBook(key, receipt.V2)}
	n.session = queue.Session{ID: id, Started: now, Ended: now.Add(time.Hour), AuditKey: signer.PublicKey()}
	if err := store.PutSession(t.Context(), n.session); err != nil {
		t.Fatal(err)
	}
	return n
}

func (n *night) add(r receipt.Record) {
	n.t.Helper()
	r.TS = now.Unix()
	if err := n.store.AppendAudit(n.t.Context(), n.session.ID, r.Receipt.String(), r.Next); err != nil {
		n.t.Fatal(err)
	}
}

// open begins an attempt at a story.
func (n *night) open(story string) *queue.Attempt {
	a := queue.Attempt{ID: uuid.Must(uuid.NewV7()).String(), Session: n.session.ID, Story: story, Number: 1, Started: now}
	n.add(receipt.Record{Event: receipt.StoryOpen, Scope: a.Scope()})
	n.attempts = append(n.attempts, a)
	return &n.attempts[len(n.attempts)-1]
}

// call adds a call that came back well, and gives its receipt.
func (n *night) call(a *queue.Attempt, id, tool string) receipt.Token {
	n.t.Helper()
	e, err := n.book.Issue(receipt.Call{
		Scope: a.Scope(), ToolUseID: id, Tool: tool, Args: []byte(`{"command":"make"}`), Result: []byte(id), Unix: now.Unix(),
	})
	if err != nil {
		n.t.Fatal(err)
	}
	n.add(receipt.Record{Event: receipt.CallOK, Scope: a.Scope(), Tool: tool, ToolUseID: id, Receipt: e.Token})
	return e.Token
}

// close ends the attempt and signs.
func (n *night) close(a *queue.Attempt) {
	n.t.Helper()
	n.add(receipt.Record{Event: receipt.StoryClose, Scope: a.Scope()})
	err := n.store.AddCheckpoint(n.t.Context(), n.session.ID, func(records [][]byte) ([]byte, error) {
		log, err := receipt.Resume(records)
		if err != nil {
			return nil, err
		}
		tree, err := log.Tree()
		a.AuditRoot = tree.Root.String()
		if err != nil {
			return nil, err
		}
		return n.signer.Sign(tree)
	})
	if err != nil {
		n.t.Fatal(err)
	}
	a.Ended = now
	if err := n.store.PutAttempt(n.t.Context(), *a); err != nil {
		n.t.Fatal(err)
	}
}

// story is a whole attempt with two calls: four records and a signed state.
func (n *night) story(id string) (tokens []receipt.Token) {
	a := n.open(id)
	for i := range 2 {
		tokens = append(tokens, n.call(a, fmt.Sprintf("toolu_%s_%d", id, i), "Bash"))
	}
	n.close(a)
	return tokens
}

func (n *night) trail() Trail {
	n.t.Helper()
	t, err := Load(n.t.Context(), n.store, n.session)
	if err != nil {
		n.t.Fatal(err)
	}
	return t
}

func (n *night) known() *Known { return &Known{Ended: true, Attempts: n.attempts} }
