package replay

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// MaybeConfineChild does not return if this process is a helper that Run
// started. A program that calls Run calls it first thing in main, a test
// first thing in TestMain.
func MaybeConfineChild() {
	if len(os.Args) != 1 {
		return
	}
	switch os.Args[0] {
	case confineArg:
		runtime.LockOSThread() // personality and parent-death signal are per thread
		e := confineChild()
		if b, err := json.Marshal(e); err == nil {
			os.NewFile(endFD, "end").Write(b) // all of it: a signal may interrupt a plain call
		}
		syscall.Exit(0) // os.Exit of a race-enabled binary sleeps for a second
	case idleArg:
		idle()
		syscall.Exit(0)
	case execArg:
		runtime.LockOSThread() // Landlock and capabilities are per thread
		err := execChild()
		fmt.Fprintln(os.NewFile(endFD, "end"), err)
		os.Exit(1)
	}
}

// The last stage must be the first thread when it is traced: execve(2) gives the others' places up.
func init() {
	if len(os.Args) == 1 && os.Args[0] == execArg {
		runtime.LockOSThread()
	}
}

// readSpec reads the spec of this process. For a server, requests follow.
func readSpec() (sp spec, requests *json.Decoder, err error) {
	requests = json.NewDecoder(os.NewFile(specFD, "spec"))
	err = requests.Decode(&sp)
	return sp, requests, err
}

// keepDescriptors keeps all descriptors but the streams from what is executed
// next: its own as well as those that the caller of symchef left open.
func keepDescriptors() {
	const first = specFD
	if unix.CloseRange(first, ^uint(0), unix.CLOSE_RANGE_CLOEXEC) == nil {
		return
	}
	fds, _ := os.ReadDir("/proc/self/fd") // Linux before 5.11
	for _, e := range fds {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd >= first {
			unix.CloseOnExec(fd)
		}
	}
}

// confineChild builds the sandbox, runs the program in it, kills what it
// leaves behind and tells how it ended.
func confineChild() ending {
	unix.Umask(0o022) // the machine's: it shows in the modes of files
	keepDescriptors()
	sp, requests, err := readSpec()
	if err != nil {
		return ending{SetupError: err.Error()}
	}
	b, err := newSandbox(sp)
	if err != nil {
		return ending{SetupError: err.Error()}
	}
	if err := b.unreachable(); err != nil {
		return ending{SetupError: err.Error()}
	}
	if sp.Serve {
		b.serve(requests, json.NewEncoder(os.NewFile(endFD, "end")))
		syscall.Exit(0)
	}
	if err := b.give(sp.Inputs, sp.Files); err != nil {
		return ending{SetupError: err.Error()}
	}
	if sp.Probe && sp.Mode != Landlock {
		return ending{}
	}
	p, err := b.prepare(false)
	if err != nil {
		return ending{SetupError: err.Error()}
	}
	// The descriptors of this process must not keep the streams open.
	for fd := range 3 {
		unix.Close(fd)
	}
	e := b.supervise(p)
	e.Outcome, e.Traces = b.outcome(), b.look(b.known)
	return e
}
