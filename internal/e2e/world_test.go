//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed-b23e517c/loop/internal/fakeapi"
)

// patience bounds every wait; a test that meets it has failed.
const patience = 2 * time.Minute

// world is one machine in small.
type world struct {
	t      *testing.T
	root   string // everything below is inside
	home   string
	repo   string // work tree, branch main, one commit, pushed
	remote string // bare
	state  string // LOOP_HOME
	api    *fakeapi.Server
	env    []string
	user   *syscall.Credential // whom programs run as; nil = us

	patience time.Duration // after which a program is ended
	begin    func(*exec.Cmd) error
}

// setenv gives a variable a value; "" takes it away.
func (w *world) setenv(name, value string) {
	w.env = slices.DeleteFunc(w.env, func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
	if value != "" {
		w.env = append(w.env, name+"="+value)
	}
}

// newWorld makes a world whose model says script.
func newWorld(t *testing.T, script fakeapi.Script) *world {
	t.Helper()
	// Not t.TempDir: its paths are too long for a Unix socket. The blank and
	// the umlaut are what paths of people have.
	root, err := os.MkdirTemp("", "löop e2e ")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { removeAll(t, root) })
	if root, err = filepath.EvalSymlinks(root); err != nil {
		t.Fatal(err)
	}
	w := &world{
		t: t, root: root, home: filepath.Join(root, "home"), repo: filepath.Join(root, "repo"),
		remote: filepath.Join(root, "remote.git"), state: filepath.Join(root, "state"),
		api: fakeapi.New(script), patience: patience, begin: (*exec.Cmd).Start,
	}
	if err := w.api.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.api.Close() })
	w.write("bin/.keep", "")
	if err := os.Symlink(os.Getenv(envClient), filepath.Join(root, "bin", "claude")); err != nil {
		t.Fatal(err)
	}
	w.env = []string{
		"PATH=" + filepath.Join(root, "bin") + ":" + os.Getenv("PATH"),
		"HOME=" + w.home, "LANG=C.UTF-8", "LOOP_HOME=" + w.state, "TMPDIR=" + filepath.Join(root, "tmp"),
		"ANTHROPIC_BASE_URL=" + w.api.URL, "ANTHROPIC_API_KEY=dummy",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "CLAUDE_CODE_MAX_RETRIES=1",
		"DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1", "DISABLE_ERROR_REPORTING=1",
	}
	w.write("tmp/.keep", "")
	// The self-test is the subject of its own tests only.
	w.write("home/.config/loop/config.toml", "[firewall]\nself_test = false\n")
	w.write("home/.gitconfig", "[user]\n\tname = Dev\n\temail = dev@example.com\n[init]\n\tdefaultBranch = main\n[commit]\n\tgpgsign = false\n")
	w.git(root, "init", "-q", "--bare", w.remote)
	w.git(root, "init", "-q", w.repo)
	w.write("repo/README", "hello\n")
	w.git(w.repo, "add", "-A")
	w.git(w.repo, "commit", "-q", "-m", "start")
	w.git(w.repo, "remote", "add", "origin", w.remote)
	w.git(w.repo, "push", "-q", "origin", "main")
	return w
}

// whereThePersonIs makes runs work there, and leave git alone.
func (w *world) whereThePersonIs() {
	w.write("home/.config/loop/config.toml", "[firewall]\nself_test = false\n[git]\nbranch = \"none\"\n")
}

// removeAll is patient with a child that is just dying in the folder.
func removeAll(t *testing.T, dir string) {
	var err error
	if !within(time.Second, func() bool { err = os.RemoveAll(dir); return err == nil }) {
		t.Errorf("clean up: %v", err)
	}
}

// write makes a file below root.
func (w *world) write(name, text string) {
	w.t.Helper()
	path := filepath.Join(w.root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// read gives a file below root, "" when there is none.
func (w *world) read(name string) string {
	w.t.Helper()
	b, err := os.ReadFile(filepath.Join(w.root, name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		w.t.Fatal(err)
	}
	return string(b)
}

func (w *world) git(dir string, args ...string) string {
	w.t.Helper()
	r := w.start(dir, nil, "git", args...).wait()
	if r.exit != 0 {
		w.t.Fatalf("git %s: exit %d\n%s%s", strings.Join(args, " "), r.exit, r.stdout, r.stderr)
	}
	return strings.TrimSpace(r.stdout)
}

// commitAll commits what lies in the work tree, so that a run starts clean.
func (w *world) commitAll() {
	w.t.Helper()
	w.git(w.repo, "add", "-A")
	w.git(w.repo, "commit", "-q", "-m", "prepare")
}

// remoteHead is the commit of a branch of the remote, "" when it has none.
func (w *world) remoteHead(branch string) string {
	w.t.Helper()
	out := w.git(w.repo, "ls-remote", w.remote, "refs/heads/"+branch)
	head, _, _ := strings.Cut(out, "\t")
	return head
}

// result is how a program ended.
type result struct {
	stdout, stderr string
	exit           int // -1 = by a signal
}

// process is a program that runs.
type process struct {
	t        *testing.T
	name     string
	cmd      *exec.Cmd
	out, err bytes.Buffer
	done     chan struct{}
}

// start runs a program in the world's environment, stdin empty when nil.
func (w *world) start(dir string, stdin []byte, name string, args ...string) *process {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), w.patience)
	p := &process{t: w.t, name: name + " " + strings.Join(args, " "), done: make(chan struct{})}
	p.cmd = exec.CommandContext(ctx, name, args...)
	p.cmd.Dir, p.cmd.Env = dir, w.env
	if w.user != nil {
		p.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: w.user}
	}
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = bytes.NewReader(stdin), &p.out, &p.err
	p.cmd.WaitDelay = 10 * time.Second // a left-over child that holds the pipe is a finding, not a hang
	if err := w.begin(p.cmd); err != nil {
		cancel()
		w.t.Fatalf("start %s: %v", p.name, err)
	}
	go func() {
		defer cancel()
		_ = p.cmd.Wait()
		close(p.done)
	}()
	w.t.Cleanup(func() {
		cancel()
		<-p.done
	})
	return p
}

func (p *process) wait() result {
	<-p.done
	return result{p.out.String(), p.err.String(), p.cmd.ProcessState.ExitCode()}
}

func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

func (p *process) signal(s syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatalf("signal %v to %s: %v", s, p.name, err)
	}
}

// program is the loop under test.
func program() string { return os.Getenv(envLoop) }

// startLoop runs the built program in the repository.
func (w *world) startLoop(args ...string) *process {
	w.t.Helper()
	return w.start(w.repo, nil, program(), args...)
}

func (w *world) loop(args ...string) result {
	w.t.Helper()
	return w.startLoop(args...).wait()
}

// eventually waits for something that another process is about to do.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	if !within(patience, ok) {
		t.Fatalf("waited %v for: %s", patience, what)
	}
}

// within asks again and again until it is ok or d has passed.
func within(d time.Duration, ok func() bool) bool {
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for end := time.After(d); !ok(); {
		select {
		case <-again.C:
		case <-end:
			return false
		}
	}
	return true
}
