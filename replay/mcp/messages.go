package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// maxMessage bounds one line of a server's; an answer is one.
const maxMessage = 16 << 20

var errTooLong = fmt.Errorf("the server wrote a line that is longer than %d MiB", maxMessage>>20)

// messages are the lines on a server's output that are messages. Servers print
// banners and logs there too, against the protocol, and the client reads over
// them; so does this, and keeps them with what else the server says.
type messages struct {
	in   *bufio.Reader
	from io.Closer
	said *log
	rest []byte

	mu  sync.Mutex
	err error // why there is no more
}

func newMessages(out io.ReadCloser, said *log) *messages {
	return &messages{in: bufio.NewReaderSize(out, 64<<10), from: out, said: said}
}

func (m *messages) Read(p []byte) (int, error) {
	for len(m.rest) == 0 {
		if err := m.why(); err != nil {
			return 0, err
		}
		line, err := m.line()
		m.mu.Lock()
		m.err = err
		m.mu.Unlock()
		if text := bytes.TrimSpace(line); isMessage(text) {
			m.rest = append(text, '\n')
		} else if len(text) > 0 {
			m.said.line(line)
		}
	}
	n := copy(p, m.rest)
	m.rest = m.rest[n:]
	return n, nil
}

// why is the reason for which there is no more to read; nil while there may be.
func (m *messages) why() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.err
}

func (m *messages) Close() error { return m.from.Close() }

// line reads to the end of a line, or of everything.
func (m *messages) line() ([]byte, error) {
	var line []byte
	for {
		piece, err := m.in.ReadSlice('\n')
		if line = append(line, piece...); len(line) > maxMessage {
			return nil, errTooLong
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// isMessage: a request, a notification or an answer of JSON-RPC, or several.
func isMessage(line []byte) bool {
	if len(line) > 0 && line[0] == '[' {
		var several []json.RawMessage
		if json.Unmarshal(line, &several) != nil || len(several) == 0 {
			return false
		}
		for _, one := range several {
			if !isMessage(bytes.TrimSpace(one)) {
				return false
			}
		}
		return true
	}
	var m struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Method  string          `json:"method"`
		Result  json.RawMessage `json:"result"`
		Error   json.RawMessage `json:"error"`
	}
	if len(line) == 0 || line[0] != '{' || json.Unmarshal(line, &m) != nil || m.Version != "2.0" {
		return false
	}
	return m.Method != "" || m.ID != nil && (m.Result != nil || m.Error != nil)
}
