//go:build linux && (amd64 || arm64)

// Package trap decides, for tests, each system call with which a program and all
// that it starts write to files: it lets it through, or makes it fail. It uses the
// kernel's seccomp notifications (seccomp_unotify(2)) and needs no rights.
package trap

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// trapSocket is the file descriptor over which the parent gets the questions.
const trapSocket = 3

// Become makes this process ask its parent before each system call with which it,
// and whatever it starts, writes to files; then it becomes the program that args
// names: its path, and its arguments from argument 0 on. It returns only an error.
func Become(args []string) error {
	runtime.LockOSThread() // what is set here is the thread's, and goes on with exec
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return os.NewSyscallError("prctl", err)
	}
	filter := trapFilter()
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	fd, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER,
		unix.SECCOMP_FILTER_FLAG_NEW_LISTENER|unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, uintptr(unsafe.Pointer(&prog)))
	runtime.KeepAlive(filter)
	if errno != 0 {
		return os.NewSyscallError("seccomp", errno)
	}
	if err := unix.Sendmsg(trapSocket, []byte{0}, unix.UnixRights(int(fd)), nil, 0); err != nil {
		return os.NewSyscallError("sendmsg", err)
	}
	unix.CloseOnExec(trapSocket)
	return syscall.Exec(args[0], args[1:], os.Environ())
}

// trapFilter is a program for the kernel: calls that write ask, openat only when
// it makes or empties a file, and all others go through.
func trapFilter() []unix.SockFilter {
	const nr, arch, args = 0, 4, 16 // offsets in struct seccomp_data
	load := func(at uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
	}
	jump := func(how uint16, k uint32, yes, no uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_K | how, K: k, Jt: yes, Jf: no}
	}
	ret := func(k uint32) unix.SockFilter { return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: k} }
	always := []int32{
		unix.SYS_WRITE, unix.SYS_WRITEV, unix.SYS_PWRITE64, unix.SYS_FTRUNCATE, unix.SYS_TRUNCATE, unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2,
		unix.SYS_LINKAT, unix.SYS_UNLINKAT, unix.SYS_MKDIRAT, unix.SYS_SYMLINKAT,
	}
	opens := map[int32]uint32{unix.SYS_OPENAT: args + 2*8}
	for nr, name := range olderCalls() {
		if name == "open" {
			opens[nr] = args + 8
		} else {
			always = append(always, nr)
		}
	}
	f := []unix.SockFilter{load(arch), jump(unix.BPF_JEQ, machine, 1, 0), ret(unix.SECCOMP_RET_ALLOW), load(nr)}
	for _, call := range always {
		f = append(f, jump(unix.BPF_JEQ, uint32(call), 0, 1), ret(unix.SECCOMP_RET_USER_NOTIF))
	}
	for call, flags := range opens {
		f = append(f, jump(unix.BPF_JEQ, uint32(call), 0, 4), load(flags),
			jump(unix.BPF_JSET, unix.O_CREAT|unix.O_TRUNC, 0, 1), ret(unix.SECCOMP_RET_USER_NOTIF), ret(unix.SECCOMP_RET_ALLOW))
	}
	return append(f, ret(unix.SECCOMP_RET_ALLOW))
}

// Call is the kernel's struct seccomp_notif: a system call that waits for an answer.
type Call struct {
	id    uint64
	TID   uint32 // the thread that calls
	flags uint32
	nr    int32
	arch  uint32
	ip    uint64
	args  [6]uint64
}

// Start starts a program of which answer decides each call that writes: what it
// returns is the call's error, nil lets it through. answer is called by one
// goroutine, until everything that the program started is gone. self is a program
// that calls Become when its argument 0 is Command.
func Start(cmd *exec.Cmd, self string, answer func(*Call) error) (over <-chan struct{}, err error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socketpair", err)
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "ours"), os.NewFile(uintptr(pair[1]), "theirs")
	defer ours.Close()
	cmd.Args = slices.Concat([]string{Command, cmd.Path}, cmd.Args)
	cmd.Path, cmd.Err, cmd.ExtraFiles = self, nil, []*os.File{theirs}
	err = cmd.Start()
	err = errors.Join(err, theirs.Close())
	if err != nil {
		return nil, err
	}
	control := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := unix.Recvmsg(pair[0], make([]byte, 1), control, 0)
	if err != nil || n == 0 {
		return nil, errors.Join(fmt.Errorf("system calls cannot be watched here: %w", os.NewSyscallError("recvmsg", err)), cmd.Wait())
	}
	messages, err := unix.ParseSocketControlMessage(control[:n])
	if err != nil {
		return nil, err
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil {
		return nil, err
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer unix.Close(fds[0])
		answerCalls(fds[0], answer)
	}()
	return ended, nil
}

// answerCalls answers until nobody is left to ask.
func answerCalls(fd int, answer func(*Call) error) {
	for {
		poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		if _, err := unix.Poll(poll, -1); err != nil && !errors.Is(err, unix.EINTR) {
			return
		}
		if poll[0].Revents&unix.POLLIN == 0 {
			if poll[0].Revents != 0 {
				return
			}
			continue
		}
		var a Call
		if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SECCOMP_IOCTL_NOTIF_RECV, uintptr(unsafe.Pointer(&a))); errno != 0 {
			continue // it died before it was heard
		}
		reply := struct {
			id    uint64
			val   int64
			error int32
			flags uint32
		}{id: a.id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
		var errno unix.Errno
		if errors.As(answer(&a), &errno) {
			reply.flags, reply.error = 0, -int32(errno)
		}
		_, _, _ = unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SECCOMP_IOCTL_NOTIF_SEND, uintptr(unsafe.Pointer(&reply)))
	}
}
