package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/seed-b23e517c/loop/internal/proc"
	"github.com/seed-b23e517c/loop/internal/term"
)

// ways are the ways that are set up.
func (o Options) ways() (out []way) {
	if o.Command != "" {
		out = append(out, way{"command", o.command})
	}
	if o.Webhook != "" {
		out = append(out, way{"webhook", o.webhook})
	}
	if o.Ntfy != "" {
		out = append(out, way{"ntfy", o.ntfy})
	}
	return out
}

func (o Options) command(ctx context.Context, m Message) error {
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	out := proc.Run(ctx, proc.RunOptions{
		Argv: []string{"sh", "-c", o.Command}, Dir: o.Dir, Stdin: append(data, '\n'), Timeout: o.Timeout,
		Env: append(append([]string{}, o.Env...), "LOOP_MESSAGE="+m.Line(), "LOOP_EVENT="+m.Event),
	})
	switch {
	case out.TimedOut:
		return fmt.Errorf("not finished after %v", o.Timeout)
	case out.Err != nil:
		return out.Err
	case out.ExitCode != 0:
		last := strings.TrimSpace(string(out.Tail))
		return fmt.Errorf("exit code %d: %s", out.ExitCode, clip(term.Line(last[strings.LastIndexByte(last, '\n')+1:])))
	}
	return nil
}

func (o Options) webhook(ctx context.Context, m Message) error {
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return o.post(ctx, o.Webhook, data, map[string]string{"Content-Type": "application/json"})
}

// priority of the events in ntfy: what got out wakes a person.
var priority = map[string]string{"executed": "5", "question": "4", "limit": "4", "block": "3", "end": "3"}

func (o Options) ntfy(ctx context.Context, m Message) error {
	return o.post(ctx, o.Ntfy, []byte(m.Repository+": "+m.Text), map[string]string{
		"Content-Type": "text/plain; charset=utf-8", "Title": "loop: " + m.Event, "Priority": priority[m.Event],
	})
}

func (o Options) post(ctx context.Context, address string, body []byte, headers map[string]string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return errors.New("the address is none")
	}
	for k, v := range headers {
		if v != "" {
			req.Header.Set(k, v)
		}
	}
	return o.do(req)
}

// do sends a request. The address may hold a secret, so no error repeats it.
func (o Options) do(req *http.Request) error {
	client := *o.client()
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	req.Header.Set("User-Agent", "loop")
	resp, err := client.Do(req)
	if err != nil {
		var ue *url.Error
		if errors.As(err, &ue) {
			err = ue.Err
		}
		return fmt.Errorf("%s: %w", req.URL.Hostname(), err)
	}
	defer resp.Body.Close()
	_, _ = io.CopyN(io.Discard, resp.Body, 64<<10) // so that the connection can be used again
	if resp.StatusCode >= 300 {
		return fmt.Errorf("%s answered %d", req.URL.Hostname(), resp.StatusCode)
	}
	return nil
}

func (o Options) client() *http.Client {
	if o.Client == nil {
		return &http.Client{Transport: &http.Transport{}}
	}
	return o.Client
}
