package replay

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"symchef/internal/testcase"
)

// A sandbox is the place where a program runs confined. The steps of a replay
// in it, all of them taken by the confine child:
//
//	newSandbox ──► give ──► start ──► supervise ──► outcome
//	mounts         inputs   process   waits, kills  what the guest library wrote
type sandbox struct {
	// sp is what the program is started with: the environment and the working
	// directory may have changed on the way in.
	sp spec
	// told is what the sandbox was asked for.
	told spec
	// known are the traces of its making, see look.
	known map[string][]trace
	// exchange is the directory, as the program sees it, of the files exchanged
	// with the guest library.
	exchange string
	// layers are the overlays, those below others later.
	layers []layer
	// kernel is the memory that the kernel of the host had at kernelAt, when no program ran here, in bytes.
	kernel   uint64
	kernelAt time.Time
	// queues is the folder of message queues, of a sandbox that serves (openQueues).
	queues *os.File
}

// A layer is an overlay that takes what the program writes.
type layer struct {
	At string // in the sandbox
	// Upper is the directory, for the confine child to read, of what has
	// changed below At (overlayfs: a device 0/0 for what has been removed, the
	// attribute user.overlay.opaque for a directory made anew).
	Upper string
}

// Names in sandbox.exchange.
const (
	inputsName  = "inputs.json"
	outcomeName = "outcome.json"
	nativeName  = "native"
)

// newSandbox makes the file system the program is to see.
func newSandbox(sp spec) (*sandbox, error) {
	b := &sandbox{sp: sp, told: sp}
	b.told.Env = slices.Clone(sp.Env)
	var err error
	if b.exchange, err = b.setup(); err == nil {
		b.known = b.look(nil).known()
	}
	return b, err
}

// unreachable keeps signals of the program from this process. In namespaces it is the first process, to which the kernel passes from inside
// only signals that it has handlers for, and Go's runtime has one for each. It needs none from here on.
func (b *sandbox) unreachable() error {
	if b.sp.Mode != Namespaces {
		return nil // Landlock's scope, or the filter, keeps them back
	}
	return defaultSignals()
}

// give makes the files the program reads its inputs from: inputs for the guest
// library, nil for programs, and files in the working directory.
func (b *sandbox) give(inputs []byte, files map[string][]byte) error {
	if inputs != nil {
		in := filepath.Join(b.exchange, inputsName)
		if err := os.WriteFile(in, inputs, 0o600); err != nil {
			return err
		}
		if b.sp.Mode == Namespaces { // the library finds them at their place, and the test sees the environment of the machine
			return errors.Join(os.WriteFile(filepath.Join(b.exchange, nativeName), nil, 0o600), b.sp.makeFiles(files))
		}
		b.sp.Env = testcase.SetEnv(b.sp.Env, "SYMCHEF_REPLAY", in)
		b.sp.Env = testcase.SetEnv(b.sp.Env, "SYMCHEF_OUTCOME", b.outcomeFile())
	}
	return b.sp.makeFiles(files)
}

func (b *sandbox) outcomeFile() string { return filepath.Join(b.exchange, outcomeName) }

// outcome is what the guest library wrote at the end; nil if nothing.
func (b *sandbox) outcome() []byte { return readOutcome(b.outcomeFile()) }

// setup makes the file system the program is to see and returns the directory
// for the files exchanged with the guest library.
func (b *sandbox) setup() (io string, err error) {
	sp := &b.sp
	if sp.Mode == Namespaces {
		if io, err = b.setupMounts(); err != nil {
			return "", err
		}
		return io, errors.Join(startNetwork(), nameHost())
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return "", err
	}
	for _, d := range []string{"home", "tmp", "io"} {
		if err := os.Mkdir(filepath.Join(sp.Scratch, d), 0o700); err != nil {
			return "", err
		}
	}
	sp.Env = testcase.SetEnv(sp.Env, "HOME", filepath.Join(sp.Scratch, "home"))
	sp.Env = testcase.SetEnv(sp.Env, "TMPDIR", filepath.Join(sp.Scratch, "tmp"))
	sp.useGuestLib()
	return filepath.Join(sp.Scratch, "io"), nil
}

// makeFiles makes the input files in the working directory. Where that is the host's own it is replaced by one
// of links to what is in it.
func (sp *spec) makeFiles(files map[string][]byte) error {
	if len(files) == 0 {
		return nil
	}
	if sp.Mode != Namespaces {
		own := filepath.Join(sp.Scratch, "cwd")
		list, err := os.ReadDir(sp.Cwd)
		if err == nil {
			err = os.Mkdir(own, 0o700)
		}
		for _, e := range list {
			if err == nil && files[e.Name()] == nil {
				err = os.Symlink(filepath.Join(sp.Cwd, e.Name()), filepath.Join(own, e.Name()))
			}
		}
		if err != nil {
			return err
		}
		sp.Cwd = own
	}
	for name, b := range files {
		at := filepath.Join(sp.Cwd, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(at, b, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// useGuestLib makes the program look for the guest library at its place on
// the host, where it cannot be shown at the machine's place.
func (sp *spec) useGuestLib() {
	if sp.GuestLib == "" {
		return
	}
	for i, e := range sp.Env {
		sp.Env[i] = underGuest(e, sp.GuestLib)
	}
	for i, a := range sp.Argv {
		sp.Argv[i] = underGuest(a, sp.GuestLib)
	}
}

func getEnv(env []string, name, otherwise string) string {
	for _, e := range env {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			return v
		}
	}
	return otherwise
}

// readOutcome reads the outcome file; nil if there is none. The program may
// have made anything of it: only a regular file of decent size counts.
func readOutcome(name string) []byte {
	fd, err := unix.Open(name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	return readRegular(os.NewFile(uintptr(fd), name))
}

// readRegular reads f, if it is a regular file of at most maxOutcome bytes, and closes it.
func readRegular(f *os.File) []byte {
	defer f.Close()
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() || st.Size() > maxOutcome {
		return nil
	}
	b, err := io.ReadAll(io.LimitReader(f, maxOutcome))
	if err != nil {
		return nil
	}
	return b
}
