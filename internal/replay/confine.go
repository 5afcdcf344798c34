package replay

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Mode is a kind of confinement.
type Mode string

// The modes, best first.
const (
	// Namespaces: own user, mount, process, network and IPC namespaces. The
	// whole host is readable under an overlay, so that writes succeed as they
	// do in the machine and vanish with the run; /run is empty, /dev and
	// /proc are its own. The program sees the recorded paths and environment.
	Namespaces Mode = "namespaces"
	// Landlock: writes are possible only in a throw-away directory, to which
	// HOME and TMPDIR point; no sockets, no signals to other processes, no
	// changes of file attributes. Stricter than the machine: a test that
	// writes to its working directory diverges.
	Landlock Mode = "landlock"
	// Unconfined: limits only.
	Unconfined Mode = "unconfined"
)

// ErrNoConfinement says that the kernel offers neither user namespaces nor
// Landlock, and Options.Unconfined was not given.
var ErrNoConfinement = errors.New("replay refused: this kernel offers neither user namespaces nor Landlock to confine it")

// errSetup marks a failure to confine, as opposed to one of the program.
var errSetup = errors.New("cannot confine")

const (
	confineArg = "symchef-confine"
	execArg    = "symchef-confine-exec"
	// maxOutcome bounds the outcome file, in bytes.
	maxOutcome = 1 << 20
	// The descriptors of the confine child.
	specFD, endFD = 3, 4
)

// spec is what the confine child is told, as JSON on descriptor 3.
type spec struct {
	Mode     Mode
	Probe    bool   // set up, run nothing
	Path     string // the ELF file
	Argv     []string
	Env      []string
	Cwd      string
	Files    map[string][]byte // to be made in Cwd first
	Inputs   []byte            // contents of the SYMCHEF_REPLAY file; nil for programs
	GuestLib string            // host directory; empty for programs
	Scratch  string            // an empty host directory, removed by the parent
	Limits   Limits
	// Randomize leaves address space layout randomization on.
	Randomize bool
}

// ending is what the confine child reports, as JSON on descriptor 4.
type ending struct {
	SetupError string // confinement failed; nothing ran
	StartError string // the program could not be executed
	TimedOut   bool
	Status     int    // exit status if Signal is 0
	Signal     int    // deadly signal
	Outcome    []byte // contents of the SYMCHEF_OUTCOME file, at most maxOutcome
}

// choose finds the mode of confinement, by trying.
func choose(ctx context.Context, opt Options) (Mode, error) {
	candidates := []Mode{Namespaces, Landlock}
	if opt.Mode != "" {
		candidates = []Mode{opt.Mode}
	}
	var reasons []string
	for _, m := range candidates {
		err := Probe(ctx, m)
		if err == nil {
			return m, nil
		}
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		reasons = append(reasons, fmt.Sprintf("%s: %v", m, err))
	}
	if opt.Unconfined {
		return Unconfined, nil
	}
	return "", fmt.Errorf("%w (%s); --replay-unconfined replays nevertheless", ErrNoConfinement, strings.Join(reasons, "; "))
}

// Probe reports whether mode m works here: nil if so.
func Probe(ctx context.Context, m Mode) error {
	switch m {
	case Namespaces, Landlock, Unconfined:
	default:
		return fmt.Errorf("no such mode")
	}
	sp := spec{Mode: m, Probe: true, Cwd: "/", Limits: Limits{}.withDefaults()}
	_, err := launch(ctx, sp, nil, nil, nil)
	return err
}

// sysProcAttr starts the confine child in its namespaces, with the rights it
// needs there.
func sysProcAttr(m Mode) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	if m != Namespaces {
		return a
	}
	a.Cloneflags = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC
	// The program keeps its user: what getuid(2) says is the host's truth.
	a.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}}
	a.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}}
	// Overlayfs works with the rights of who mounted it; its work directory
	// has mode 0.
	a.AmbientCaps = []uintptr{
		unix.CAP_SYS_ADMIN, unix.CAP_SETPCAP, unix.CAP_DAC_OVERRIDE, unix.CAP_FOWNER, unix.CAP_FSETID, unix.CAP_CHOWN,
	}
	return a
}
