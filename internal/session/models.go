package session

import (
	"debug/elf"
	"maps"
	"path/filepath"
	"slices"

	"symchef/internal/cpu"
	"symchef/internal/exec"
	"symchef/internal/interp"
	"symchef/internal/ir"
	"symchef/internal/loader"
	"symchef/internal/mem"
)

// modelBase is where function models live: addresses below the lowest that
// Linux maps by default (vm.mmap_min_addr), one per model.
const modelBase = uint64(0x1000)

// modelAt is the address of model i.
func modelAt(i int) uint64 { return modelBase + uint64(i)*16 }

// families says what each model is for (CHEF, section 4.2): "hash", hash functions that do not depend on
// symbolic bytes; "pointers", objects whose address does not; "fastpath", functions without an early exit at a symbolic byte.
var families = func() map[string]string {
	out := map[string]string{}
	for _, k := range interp.ModelKinds {
		out[k.Name] = k.Family
	}
	return out
}()

// ModelFamilies lists the families of models.
func ModelFamilies() []string {
	return slices.Compact(slices.Sorted(maps.Values(families)))
}

// use leaves the models of the target's families in its image.
func (t *target) use() {
	t.found.Image.Models = slices.DeleteFunc(slices.Clone(t.found.Image.Models), func(m interp.Model) bool {
		return !slices.Contains(t.tc.Models, families[m.Name])
	})
}

// models are the engine functions that descriptions may name, made for one place.
var models = map[string]func(interp.Model) exec.Hook{
	"hash-length":      func(interp.Model) exec.Hook { return hashLength },
	"decline-symbolic": declineSymbolic,
}

// groups are models of a function at the location, or of several that work together: hooks by address. The second argument is an
// address of their own, where nothing is mapped.
var groups = map[string]func(interp.Model, uint64) map[uint64]exec.Hook{
	"deferred-identity": newDeferred,
	"unshared":          newUnshared,
	"decimal-width": func(md interp.Model, _ uint64) map[uint64]exec.Hook {
		return map[uint64]exec.Hook{md.Slot: decimalWidth}
	},
}

// ret makes the present function return v.
func ret(c *cpu.CPU, s *mem.Space, v uint64) bool {
	pc, err := s.ReadU(c.R[ir.RSP], 8)
	if err != nil {
		return false
	}
	c.Set(ir.RAX, v)
	c.Set(ir.RSP, c.R[ir.RSP]+8)
	c.PC = pc
	return true
}

// declineSymbolic models a function f(rdi, rsi) that may fail for lack of
// memory: it returns NULL if rdi is the object in the variable at md.Slot and the
// object rsi (its length and payload at the offsets of these names) has symbolic bytes.
func declineSymbolic(md interp.Model) exec.Hook {
	return func(_ *exec.Machine, c *cpu.CPU, s *mem.Space) (bool, *exec.Stop) {
		obj, err := s.ReadU(md.Slot, 8)
		if err != nil || c.Sym.Has(ir.RDI) || c.Sym.Has(ir.RSI) || c.R[ir.RDI] != obj {
			return false, nil
		}
		key := c.R[ir.RSI]
		n, err := s.ReadU(key+md.Numbers["length"], 8)
		if err != nil || n > 1<<20 || !s.HasSym(key+md.Numbers["payload"], n) {
			return false, nil
		}
		return ret(c, s, 0), nil
	}
}

// hashLength models hash(src=rdi, len=rsi) = f(len), f injective and never -1.
// Equal objects have equal lengths, so CPython's invariants hold; no symbolic byte reaches a hash.
func hashLength(m *exec.Machine, c *cpu.CPU, s *mem.Space) (bool, *exec.Stop) {
	if stop := m.Fix(c, ir.RSI); stop != nil {
		return false, stop
	}
	return ret(c, s, c.R[ir.RSI]*hashFactor&^1), nil
}

// hashFactor spreads lengths over hashes.
const hashFactor = 0x9e3779b97f4a7c15

// code is what models do as machine code, for a native boot. Models that it lacks are called there as they are in the machine, at
// the price of two switches of processes.
var code = map[string][]byte{
	"hash-length": slices.Concat(
		[]byte{0x48, 0xb8}, le64(hashFactor), // mov rax, hashFactor
		[]byte{0x48, 0x0f, 0xaf, 0xc6}, // imul rax, rsi
		[]byte{0x48, 0x83, 0xe0, 0xfe}, // and rax, -2
		[]byte{0xc3},                   // ret
	),
}

// installModels makes m run the models of img. Function pointers are replaced
// when entry, the interpreter's entry point, is reached: relocated, and before main.
func installModels(m *exec.Machine, img *interp.Image, entry uint64) error {
	for i, md := range img.Models {
		mk, ok := models[md.Name]
		if !ok && groups[md.Name] == nil && md.Imports == nil {
			return &usageError{"the description names an unknown model " + md.Name}
		}
		if ok && md.Entry == 0 {
			m.Hooks[modelAt(i)] = mk(md)
		}
	}
	m.Hooks[entry] = func(m *exec.Machine, _ *cpu.CPU, s *mem.Space) (bool, *exec.Stop) {
		enter(m, img, s, func(at uint64) uint64 { return at })
		return false, nil
	}
	return nil
}

// enter does what is due at the program's entry point. pointer gives a model's address as the guest has it.
func enter(m *exec.Machine, img *interp.Image, s *mem.Space, pointer func(uint64) uint64) {
	for i, md := range rebased(img, s).Models {
		if md.Entry == 0 && models[md.Name] != nil {
			// Not mapped: another program runs (a child after execve); the model does not apply to it.
			_ = s.Poke(md.Slot, le64(pointer(modelAt(i))))
		}
	}
	hookEntries(m, img, s)
}

// hookEntries installs the models that replace functions. The interpreter is
// mapped in s and none of these functions has run in m.
func hookEntries(m *exec.Machine, img *interp.Image, s *mem.Space) {
	for i, md := range rebased(img, s).Models {
		if group := groups[md.Name]; group != nil {
			maps.Copy(m.Hooks, group(md, modelAt(i)))
		} else if md.Entry != 0 {
			m.Hooks[md.Entry] = models[md.Name](md)
		}
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
			f := early[name]
			if f == nil {
				without = append(without, interp.Missing{Name: "import " + name, Why: "no such model"})
				continue
			}
			if err := why[name]; err != nil {
				without = append(without, interp.Missing{Name: "import " + name, Why: err.Error()})
				continue
			}
			if a := s.Find(at[name]); a != nil {
				m.Hooks[at[name]] = earlyExit(f, *a)
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

// immortal tells m which objects are never freed. s is a space in which the interpreter is loaded.
func immortal(m *exec.Machine, img *interp.Image, s *mem.Space) {
	for _, r := range rebased(img, s).Immortal {
		m.DropLo, m.DropHi = r.Lo, r.Hi
	}
}

func le64(v uint64) []byte {
	b := make([]byte, 8)
	for i := range b {
		b[i] = byte(v >> (8 * i))
	}
	return b
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
		return loader.PIEBase + r.world.Lower + f.Entry, nil
	}
	return f.Entry, nil
}
