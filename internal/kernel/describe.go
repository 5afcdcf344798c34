package kernel

import (
	"fmt"
	"io"
	"strings"

	"symchef/internal/guest"
)

// Describe writes processes, tasks, memory and descriptors as text, for people: the same for equal systems.
func (s *System) Describe(w io.Writer) {
	fmt.Fprintf(w, "system: %d instructions retired, %d system calls, %d processes, %d tasks\n", s.Retired, s.Calls(), len(s.procs), len(s.tasks))
	for _, p := range s.procs {
		fmt.Fprintf(w, "process %d of %d: %s, in %s\n", p.PID, p.Parent, p.Exe, p.Cwd)
		if p.Dead {
			fmt.Fprintf(w, "  ended: %+v\n", p.Status)
			continue
		}
		for _, t := range s.tasks {
			if t.proc == p {
				t.describe(w, t == s.cur)
			}
		}
		for fd, e := range p.Fds {
			if e.File < 0 {
				continue
			}
			f := s.files.get(e.File)
			kind := strings.TrimPrefix(fmt.Sprintf("%T", f.kind()), "kernel.")
			fmt.Fprintf(w, "  descriptor %d: file %d, %s, offset %d, flags %#o, %q\n", fd, e.File, kind, f.Off, f.Flags, f.Path)
		}
		if p.Mem == nil {
			continue
		}
		for _, a := range p.Mem.Areas() {
			fmt.Fprintf(w, "  memory %#x-%#x %s%s %s\n", a.Start, a.End, protText(a.Prot), map[bool]string{true: "s", false: "p"}[a.Shared], a.Name)
		}
	}
}

func (t *Task) describe(w io.Writer, runs bool) {
	state := "waits"
	if runs {
		state = "runs"
	} else if t.Wait.Kind == 0 {
		state = "ready"
	}
	fmt.Fprintf(w, "  task %d %s at %#x, blocked signals %#x, pending %#x\n", t.TID, state, t.CPU.PC, t.Mask, t.Pending)
}

func protText(p guest.Prot) string {
	b := []byte("---")
	for i, bit := range []guest.Prot{guest.ProtRead, guest.ProtWrite, guest.ProtExec} {
		if p&bit != 0 {
			b[i] = "rwx"[i]
		}
	}
	return string(b)
}
