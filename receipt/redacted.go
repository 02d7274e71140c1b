package receipt

import (
	"fmt"
	"io"
	"log/slog"
)

const redactedText = "redacted"

// redacted, embedded, keeps a secret out of every way that Go has to print a
// value: fmt's verbs, JSON, text and slog.
type redacted struct{}

func (redacted) String() string               { return redactedText }
func (redacted) GoString() string             { return redactedText }
func (redacted) Format(s fmt.State, _ rune)   { _, _ = io.WriteString(s, redactedText) }
func (redacted) MarshalJSON() ([]byte, error) { return []byte(`"` + redactedText + `"`), nil }
func (redacted) MarshalText() ([]byte, error) { return []byte(redactedText), nil }
func (redacted) LogValue() slog.Value         { return slog.StringValue(redactedText) }

// hidden keeps a secret behind a function. With a verb that does not fit, fmt
// follows the pointers of a struct that has ours in a field of its own, without
// asking for our methods; of a function it knows the address at most.
type hidden[T any] func() *T

func hide[T any](v *T) hidden[T] { return func() *T { return v } }
