package programs

import (
	"encoding/binary"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"symchef/internal/kernel"
	"symchef/internal/mem"
)

// outcome is what came of a program.
type outcome struct {
	status  uint32 // of the first process, as wait4(2) has it
	stuck   bool   // it had not ended after the limit
	ran     []int  // by step: 0, 1 (begun) or 2 (ended); more if several tasks made it
	result  []uint64
	arena   []byte
	signals []signal
	files   map[string]string
}

// signal is what a handler was told.
type signal struct{ sig, code, pid, value uint64 }

const outcomeSize = 8 * (3 + 2*maxSteps + 4*maxSignals)

func (e encoded) decode(b []byte) (outcome, error) {
	if len(b) != outcomeSize+e.arena {
		return outcome{}, fmt.Errorf("the executor wrote %d bytes, not %d", len(b), outcomeSize+e.arena)
	}
	word := func(i int) uint64 { return binary.LittleEndian.Uint64(b[8*i:]) }
	o := outcome{status: uint32(word(0)), stuck: word(1) != 0, arena: b[outcomeSize:], files: map[string]string{}}
	for _, at := range e.at {
		o.ran = append(o.ran, int(word(3+at)))
		o.result = append(o.result, word(3+maxSteps+at))
	}
	for i := range min(int(word(2)), maxSignals) {
		k := 3 + 2*maxSteps + 4*i
		o.signals = append(o.signals, signal{word(k), word(k + 1), word(k + 2), word(k + 3)})
	}
	return o, nil
}

// memory returns what stands in the memory of an argument.
func (o outcome) memory(m piece) []byte { return o.arena[m.at : m.at+m.n] }

func errno(v uint64) unix.Errno {
	if int64(v) < 0 && int64(v) > -4096 {
		return unix.Errno(-int64(v))
	}
	return 0
}

// tree lists the files below a directory of the host.
func tree(dir string) (map[string]string, error) {
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || p == dir {
			return err
		}
		var st unix.Stat_t
		if err := unix.Lstat(p, &st); err != nil {
			return err
		}
		f := kernel.File{Mode: st.Mode}
		switch st.Mode & unix.S_IFMT {
		case unix.S_IFREG:
			b, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			f.Content = kernel.ContentOf(mem.Concrete(b))
		case unix.S_IFLNK:
			if f.Target, err = os.Readlink(p); err != nil {
				return err
			}
		}
		out[strings.TrimPrefix(p, dir+"/")] = describe(f)
		return nil
	})
	return out, err
}

func describe(f kernel.File) string {
	switch f.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		b := f.Content.All().Data
		if len(b) > 200 {
			return fmt.Sprintf("%o %d bytes %x", f.Mode, len(b), hash(b))
		}
		return fmt.Sprintf("%o %q", f.Mode, b)
	case unix.S_IFLNK:
		return fmt.Sprintf("%o -> %q", f.Mode, f.Target)
	}
	return fmt.Sprintf("%o", f.Mode)
}
