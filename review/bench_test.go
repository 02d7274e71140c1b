package review

import (
	"context"
	"fmt"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
)

// tenThousand is a queue in a file with as many actions.
func tenThousand(b *testing.B) *queue.Store {
	b.Helper()
	s, err := queue.Open(b.TempDir(), queue.Options{Now: func() time.Time { return testTime }, Alive: func(queue.Owner) bool { return true }})
	if err != nil {
		b.Fatal(err)
	}
	commands := []string{"git push origin feature/%d", "curl -X POST https://api.example.com/v1/orders/%d -d '{\"a\":1}'", "npm publish --tag night-%d"}
	var list []queue.Action
	for i := range 10_000 {
		a := call(0, fmt.Sprint("US-", i), fmt.Sprintf(commands[i%3], i), policy.Blocked)
		a.ID, a.Number, a.Session, a.ToolUseID = "", 0, fmt.Sprint("s", i), fmt.Sprint("t", i)
		list = append(list, a)
	}
	if _, err := s.AddAll(b.Context(), list); err != nil {
		b.Fatal(err)
	}
	return s
}

// storeDesk reads from a file, and looks nothing up.
type storeDesk struct {
	fakeDesk
	s *queue.Store
}

func (d *storeDesk) Head(ctx context.Context, n int) ([]queue.Action, bool, error) {
	return d.s.First(ctx, n)
}

func (d *storeDesk) Actions(ctx context.Context) ([]queue.Action, error) {
	return d.s.Actions(ctx, queue.Filter{})
}

// BenchmarkFirstScreen is all from the opening to the first screen, without the
// start of the process.
func BenchmarkFirstScreen(b *testing.B) {
	d := &storeDesk{s: tenThousand(b)}
	for b.Loop() {
		m := newModel(b.Context(), d, Options{Color: true})
		m.Update(tea.WindowSizeMsg{Width: 120, Height: 40})
		m.Update(m.Init()())
		if m.View().Content == "" || len(m.shown) == 0 {
			b.Fatal("an empty screen")
		}
	}
}

// BenchmarkAll is the reading of the rest, which is not waited for.
func BenchmarkAll(b *testing.B) {
	d := &storeDesk{s: tenThousand(b)}
	m := newModel(b.Context(), d, Options{Color: true})
	for b.Loop() {
		m.Update(m.read()())
	}
	if len(m.shown) != 10_000 {
		b.Fatal(len(m.shown))
	}
}

// BenchmarkKey is one key and the screen after it.
func BenchmarkKey(b *testing.B) {
	d := &storeDesk{s: tenThousand(b)}
	m := newModel(b.Context(), d, Options{Color: true})
	m.Update(tea.WindowSizeMsg{Width: 120, Height: 40})
	m.Update(m.read()())
	for name, keys := range map[string]string{"move": "jk", "search": "/9"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				for _, r := range keys {
					m.Update(tea.KeyPressMsg{Code: r, Text: string(r)})
				}
				m.View()
				m.Update(tea.KeyPressMsg{Code: tea.KeyEscape})
			}
		})
	}
}
