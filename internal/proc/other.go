//go:build !linux && !darwin

package proc

import (
	"errors"
	"io"
	"os"
	"runtime"
)

var errUnsupported = errors.New("running a child is not supported on " + runtime.GOOS)

// Child is never made here.
type Child struct{}

// Start fails: process groups as this package needs them are not there.
func Start(Options) (*Child, error) { return nil, errUnsupported }

// LookPath fails as Start does.
func LookPath(string, []string) (string, error) { return "", errUnsupported }

// Pid is never called.
func (*Child) Pid() int { return 0 }

// StartTime is never called.
func (*Child) StartTime() string { return "" }

// Mark is never called.
func (*Child) Mark() string { return "" }

// Stdout is never called.
func (*Child) Stdout() io.ReadCloser { return nil }

// Done is never called.
func (*Child) Done() <-chan struct{} { return nil }

// Wait is never called.
func (*Child) Wait() State { return State{} }

// Terminate is never called.
func (*Child) Terminate() (State, error) { return State{}, errUnsupported }

// Kill is never called.
func (*Child) Kill() (State, error) { return State{}, errUnsupported }

// Subreaper does nothing.
func Subreaper() error { return nil }

// Sweep finds nothing: no child was started.
func Sweep() []Leftover { return nil }

// BootID is unknown.
func BootID() string { return "" }

// Alive is never known.
func Alive(int, string) bool { return false }

// Self is this process, without a start time.
func Self() Process { return Process{Pid: os.Getpid()} }

// Ancestors is unknown.
func Ancestors(int) []Process { return nil }

// EndStale does nothing.
func EndStale(int, string) ([]Leftover, error) { return nil, nil }

// EndMarked does nothing.
func EndMarked(string) ([]Leftover, error) { return nil, nil }

// stream reads a file.
type stream struct{ f *os.File }

func (s *stream) Read(p []byte) (int, error) { return s.f.Read(p) }
func (s *stream) Close() error               { return s.f.Close() }
func (s *stream) over()                      { _ = s.f.Close() }

// Find finds nothing.
func Find(int) (Process, bool) { return Process{}, false }

// Memory is never called.
func (*Child) Memory() uint64 { return 0 }
