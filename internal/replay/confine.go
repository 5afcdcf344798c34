package replay

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// Mode is a kind of confinement.
type Mode string

// The modes, best first.
const (
	// Namespaces: own user, mount, process, network, IPC, UTS and cgroup
	// namespaces. The whole host is readable under an overlay, so that writes
	// succeed as they do in the machine and vanish with the run; /run is empty,
	// /dev and /proc are its own, the loopback is up. The program sees the
	// recorded paths and environment. The superuser's is nobody on the host
	// (see identity). System calls are those of the table in calls.go.
	Namespaces Mode = "namespaces"
	// Landlock: writes are possible only in a throw-away directory, to which
	// HOME and TMPDIR point; no sockets but pairs of streams, no signals to the
	// host's processes, no changes of file attributes, locks without effect.
	// ptrace(2) holds all processes (see leash). Stricter than the machine: a
	// test that writes to its working directory diverges.
	Landlock Mode = "landlock"
	// Unconfined: limits only.
	Unconfined Mode = "unconfined"
)

// ErrNoConfinement says that the kernel does not offer what would confine a replay, and Options.Unconfined is false.
var ErrNoConfinement = errors.New("replay refused: this kernel offers neither user namespaces nor Landlock to confine it")

// errSetup marks a failure to confine, as opposed to one of the program.
var errSetup = errors.New("cannot confine")

const (
	confineArg = "symchef-confine"
	execArg    = "symchef-confine-exec"
	idleArg    = "symchef-confine-idle"
	// maxOutcome bounds the outcome file, in bytes.
	maxOutcome = 1 << 20
	// The descriptors of the confine child; those of the trees follow.
	specFD, endFD, treeFD = 3, 4, 5
)

// spec is what the confine child is told, as JSON on descriptor 3.
type spec struct {
	Mode     Mode
	Identity identity // in namespaces
	Groups   []int    // supplementary groups, inside
	Trees    []tree   // of identity shifted, by descriptor
	Probe    bool     // set up, run nothing
	Serve    bool     // start up to where the inputs are read, then go on from there once per case
	Writes   []string // directories the program is known to write in
	Moves    []string // directories that it may rename, see move.go
	Path     string   // the ELF file
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
	Busy       bool   // likewise, by Limits.Busy
	Exceeded   string // what all of it together had too much of
	Reached    string // the limit at which it was refused more, perhaps
	Status     int    // exit status if Signal is 0
	Signal     int    // deadly signal
	Traces     traces // in its files
	Outcome    []byte // contents of the SYMCHEF_OUTCOME file, at most maxOutcome
}

// exceed notes what a watch says.
func (e *ending) exceed(what string) {
	if what == tooBusy {
		e.TimedOut, e.Busy = true, true
	} else {
		e.Exceeded = what
	}
}

// choose finds the mode of confinement, by trying.
func choose(ctx context.Context, opt Options) (Mode, error) {
	candidates := []Mode{Namespaces, Landlock}
	if opt.Mode != "" {
		candidates = []Mode{opt.Mode}
	}
	var reasons []string
	for _, m := range candidates {
		err := opt.reachable(m)
		if _, known := works.Load(m); err == nil && !known {
			err = Probe(ctx, m)
		}
		if err == nil {
			works.Store(m, true)
			return m, nil
		}
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		reasons = append(reasons, fmt.Sprintf("%s: %v", m, err))
	}
	if opt.Unconfined && opt.reachable(Unconfined) == nil {
		return Unconfined, nil
	}
	if opt.Mode != "" {
		return "", &refusal{opt.Mode, strings.Join(reasons, "; ")}
	}
	return "", fmt.Errorf("%w (%s); --replay unconfined replays nevertheless", ErrNoConfinement, strings.Join(reasons, "; "))
}

// works has the modes that have worked in this process.
var works sync.Map

// reachable fails where the program would look for the guest library in another folder than it is in: a variable names it in a list of folders.
func (o *Options) reachable(m Mode) error {
	if m != Namespaces && strings.ContainsAny(o.GuestLib, ":;?") {
		return fmt.Errorf("the guest library is in %q, and no list of folders can name one with ':', ';' or '?': set TMPDIR", o.GuestLib)
	}
	return nil
}

// Nameable fails where no mode that opt allows can show the program its guest library, because of the folder that it is in.
func Nameable(ctx context.Context, opt Options) error {
	if opt.reachable(Landlock) == nil {
		return nil
	}
	_, err := choose(ctx, opt)
	return err
}

// A refusal is an ErrNoConfinement for one mode that was asked for.
type refusal struct {
	mode Mode
	why  string
}

func (r *refusal) Error() string {
	return fmt.Sprintf("replay refused: it cannot be confined as --replay %s asks for (%s)", r.mode, r.why)
}
func (r *refusal) Unwrap() error { return ErrNoConfinement }

// Probe reports whether mode m works here: nil if so.
func Probe(ctx context.Context, m Mode) error {
	switch m {
	case Namespaces, Landlock, Unconfined:
	default:
		return fmt.Errorf("no such mode")
	}
	sp := spec{Mode: m, Probe: true, Cwd: "/", Limits: Limits{}.withDefaults()}
	if m == Namespaces {
		sp.Identity = who()
	}
	_, err := launch(ctx, sp, nil, nil, nil)
	return err
}

// sysProcAttr starts the confine child in its namespaces, with the rights it
// needs there.
func sysProcAttr(m Mode, id identity) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	if m != Namespaces {
		return a
	}
	a.Cloneflags = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC |
		unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP
	// The program keeps its user: what getuid(2) says is the host's truth.
	a.UidMappings, a.GidMappings = id.maps()
	a.GidMappingsEnableSetgroups = id != same
	a.AmbientCaps = []uintptr{
		unix.CAP_SYS_ADMIN, unix.CAP_SETPCAP,
		// Overlayfs works with the rights of who mounted it; its work directory
		// has mode 0.
		unix.CAP_DAC_OVERRIDE, unix.CAP_FOWNER, unix.CAP_FSETID, unix.CAP_CHOWN,
		unix.CAP_SETUID, unix.CAP_SETGID, // identity.assume
		unix.CAP_NET_ADMIN,                 // the loopback
		unix.CAP_SYS_PTRACE, unix.CAP_KILL, // to watch and to end what runs
	}
	return a
}
