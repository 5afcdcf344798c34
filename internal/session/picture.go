package session

import (
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"symchef/internal/interp"
	"symchef/internal/kernel"
	"symchef/internal/rundir"
	"symchef/internal/testcase"
	"symchef/languages"
)

// A run that goes on, and a path that is executed again, must meet what it met before, or the result is a mixture. So a run directory keeps
// what the run was told of the host: every file that was looked at, with the digest of its content. If one of these has
// changed or gone, or symchef has, or something is new that the test has looked for, --resume and rerun refuse (kernel/changed.go). What else is new is
// not shown to the guest, which gets the answers of then.

// pictureVersion changes whenever the content of a picture does.
const pictureVersion = 3

// picture is what a run depends on beside what its summary says.
type picture struct {
	Version    int
	Engine     string // see engineBuild
	Language   string // see languages.Digest
	Processor  string
	UID, GID   int
	PathMemory uint64 // bytes that one path may take
	Answers    []kernel.Answer
}

// engineBuild names this build of symchef by its content.
var engineBuild = sync.OnceValue(func() string {
	const self = "/proc/self/exe"
	if f, err := elf.Open(self); err == nil {
		defer f.Close()
		if s := f.Section(".note.go.buildid"); s != nil {
			if b, err := s.Data(); err == nil && len(b) > 32 {
				sum := sha256.Sum256(b)
				return hex.EncodeToString(sum[:])
			}
		}
	}
	f, err := os.Open(self)
	if err != nil {
		return ""
	}
	defer f.Close()
	sum := sha256.New()
	io.Copy(sum, f)
	return hex.EncodeToString(sum.Sum(nil))
})

// keepPicture keeps what the run has been told of the host, if that has become more.
func (r *run) keepPicture() error {
	r.pictured.Lock()
	defer r.pictured.Unlock()
	n := r.host.Told()
	if r.w == nil || n == r.told {
		return nil
	}
	b, err := seal(picture{pictureVersion, engineBuild(), languages.Digest(string(r.t.tc.Kind)), hostCPU(), os.Getuid(), os.Getgid(), r.pathMemory(), r.host.Record()})
	if err == nil {
		err = r.w.WriteHost(b)
	}
	if err == nil {
		r.told = n
	}
	return err
}

var errNoPicture = errors.New("it is not known what the run depends on: it was killed when the test began")

// pictureOf reads the picture of a run directory, and says what is not any more as it was then.
func pictureOf(d *rundir.Reader) (*picture, error) {
	data, err := d.Host()
	if err != nil {
		return nil, err
	}
	if data == nil {
		return nil, errNoPicture
	}
	var p picture
	if _, ok := unseal(data, &p); !ok || p.Version != pictureVersion {
		return nil, errors.New("host.bin is damaged, or not of this version of symchef")
	}
	switch {
	case p.Engine != engineBuild():
		return nil, errors.New("symchef has changed since the run")
	case p.Language != languages.Digest(string(d.Summary.Target.Kind)):
		return nil, fmt.Errorf("the folder of the language %s is not given by --language, or has changed since the run", d.Summary.Target.Kind)
	case p.Processor != hostCPU():
		return nil, fmt.Errorf("the run was made on another processor (%s)", p.Processor)
	case p.UID != os.Getuid() || p.GID != os.Getgid():
		return nil, fmt.Errorf("the run was made by another user (%d, group %d)", p.UID, p.GID)
	}
	if err := kernel.Check(p.Answers, naming(d.Summary.Target)); err != nil {
		return nil, fmt.Errorf("%w since the run", err)
	}
	return &p, nil
}

// Unchanged says what is not any more as it was for a run: then a comparison with the real program says nothing of what the run has found. A run that was
// killed before it was known what it depends on has proved nothing that could have become false.
func Unchanged(d *rundir.Reader) error {
	_, err := pictureOf(d)
	if errors.Is(err, errNoPicture) {
		return nil
	}
	return err
}

// HostChanged is Unchanged for the program and its files alone: test cases are of what these were.
func HostChanged(d *rundir.Reader) error {
	var host kernel.Changes
	if err := Unchanged(d); errors.As(err, &host) {
		return err
	}
	return nil
}

// naming is that of the interpreter of g.
func naming(g testcase.Target) kernel.Naming {
	d, ok := interp.ByName(string(g.Kind))
	if !ok {
		return kernel.Naming{}
	}
	return kernel.Naming{Modules: d.Modules, Compiled: d.Compiled}
}

// see lets r go on with the picture of a run.
func (r *run) see(p *picture) {
	r.record, r.host, r.memory = p.Answers, kernel.HostOf(p.Answers), p.PathMemory
}

// pathMemory is what one path may take, in bytes; 0: no bound.
func (r *run) pathMemory() uint64 {
	switch {
	case r.memory > 0:
		return r.memory
	case r.o.MaxMemory == 0:
		return 0
	}
	return max(r.o.MaxMemory/4, leastMemory) // the others and the engine need theirs
}
