package runner

import (
	"os"
	"strconv"

	"github.com/seed-b23e517c/loop/internal/proc"
)

// Host is what a run asks of the machine.
type Host struct {
	Inhibit bool                             // keep it from going to sleep
	Space   uint64                           // bytes that must be free before a story begins; 0 = not looked at
	Memory  uint64                           // most bytes that an attempt's processes may have together; 0 = no limit
	Free    func(dir string) (uint64, error) // nil = FreeSpace
}

// inhibitors keep a machine awake as long as they run. Each ends by itself when
// the process that it is given dies, however that dies.
func inhibitors(pid string) [][]string {
	return [][]string{
		{"systemd-inhibit", "--what=idle:sleep", "--who=loop", "--why=a coding agent works through stories", "--mode=block", "tail", "--pid=" + pid, "-f", "/dev/null"},
		{"caffeinate", "-i", "-s", "-w", pid},
	}
}

// Inhibitor is the program that keeps this machine awake, "" when there is none.
func Inhibitor(env []string) string {
	for _, argv := range inhibitors("") {
		if _, err := proc.LookPath(argv[0], env); err == nil {
			return argv[0]
		}
	}
	return ""
}

// stayAwake keeps the machine from going to sleep until the function that it
// returns is called. A machine on which that cannot be had sleeps as before.
func stayAwake(o *Options) (release func()) {
	none := func() {}
	if !o.Host.Inhibit {
		return none
	}
	sink, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return none
	}
	defer sink.Close()
	for _, argv := range inhibitors(strconv.Itoa(os.Getpid())) {
		if _, err := proc.LookPath(argv[0], o.Env); err != nil {
			continue
		}
		c, err := proc.Start(proc.Options{Argv: argv, Env: o.Env, Dir: o.State, Stdout: sink, Bound: true})
		if err != nil {
			o.Log.Debug("the machine is not kept awake", "program", argv[0], "error", err)
			continue
		}
		o.Log.Debug("the machine is kept awake", "program", argv[0], "pid", c.Pid())
		return func() { _, _ = c.Terminate() }
	}
	o.Log.Debug("the machine is not kept awake: there is no program for it")
	return none
}
