package session

import (
	"debug/elf"
	"encoding/binary"
	"maps"
	"path/filepath"
	"slices"

	"symchef/internal/cpu"
	"symchef/internal/exec"
	"symchef/internal/guest"
	"symchef/internal/interp"
	"symchef/internal/loader"
	"symchef/internal/mem"
	"symchef/internal/model"
)

// use leaves the models of the target's families in its image.
func (t *target) use() {
	t.found.Image.Models = slices.DeleteFunc(slices.Clone(t.found.Image.Models), func(b model.Binding) bool {
		return !slices.Contains(t.tc.Models, b.Kind().Family)
	})
}

// installModels makes m run the models of img from entry on, the interpreter's entry point: it is relocated there, and before main.
func installModels(m *exec.Machine, img *interp.Image, entry uint64) {
	m.Hooks[entry] = func(m *exec.Machine, _ *cpu.CPU, s *mem.Space) (bool, *exec.Stop) {
		enter(m, img, s, func(at uint64) uint64 { return at })
		return false, nil
	}
}

// enter does what is due at the program's entry point. pointer gives a model's address as the guest has it.
func enter(m *exec.Machine, img *interp.Image, s *mem.Space, pointer func(uint64) uint64) {
	for i, b := range rebased(img, s).Models {
		if b.Kind().Pointer {
			// Not mapped: another program runs (a child after execve); the model does not apply to it.
			_ = s.Poke(b.Slot, binary.LittleEndian.AppendUint64(nil, pointer(model.Address(i))))
		}
	}
	hookEntries(m, img, s)
}

// hookEntries installs the models at the interpreter's own functions. It is mapped in s, and none of these functions has run in m.
func hookEntries(m *exec.Machine, img *interp.Image, s *mem.Space) {
	for i, b := range rebased(img, s).Models {
		maps.Copy(m.Hooks, b.Hooks(model.Address(i)))
	}
}

// hookImports installs the models of functions that the interpreter imports, where s has them; without says which are not
// found. No code that runs from now on is translated.
func hookImports(m *exec.Machine, img *interp.Image, s *mem.Space) (without []interp.Missing) {
	var objects []interp.Loaded
	for _, a := range s.Areas() {
		if a.Off == 0 && a.Back != nil {
			objects = append(objects, interp.Loaded{Path: a.Name, Base: a.Start})
		}
	}
	read := func(addr uint64) (uint64, error) { return s.ReadU(addr, 8) }
	for _, md := range img.Models {
		at, why := img.Bound(md.Imports, objects, read)
		for _, name := range md.Imports {
			if err := why[name]; err != nil {
				without = append(without, interp.Missing{Name: "import " + name, Why: err.Error()})
				continue
			}
			if a := s.Find(at[name]); a != nil {
				m.Hooks[at[name]] = model.EarlyExit(name, *a)
			}
		}
	}
	return without
}

// rebased gives img the addresses it has in s.
func rebased(img *interp.Image, s *mem.Space) *interp.Image {
	if !img.Relative {
		return img
	}
	for _, a := range s.Areas() {
		if a.Off == 0 && a.Back != nil && sameFile(a.Name, img.Path) {
			return img.Rebase(a.Start)
		}
	}
	return img
}

func sameFile(a, b string) bool {
	ra, err1 := filepath.EvalSymlinks(a)
	rb, err2 := filepath.EvalSymlinks(b)
	return err1 == nil && err2 == nil && ra == rb
}

// entryPoint is the address at which the interpreter starts in the machine, after its loader.
func (r *run) entryPoint() (uint64, error) {
	path := r.t.tc.Interpreter
	f, err := elf.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	if f.Type == elf.ET_DYN {
		return loader.PIEBase + guest.PageDown(r.world.Lower) + f.Entry, nil
	}
	return f.Entry, nil
}
