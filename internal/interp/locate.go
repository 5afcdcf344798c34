package interp

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/arch/x86/x86asm"

	"symchef/internal/ehframe"
)

// Image is what Locate found: addresses in the one ELF object that holds the
// interpreter. Rebase turns them into addresses of a process.
type Image struct {
	Path    string // of the object: the program itself or its shared library
	BuildID string // lower-case hex; empty when the object has none
	// Relative: addresses count from the object's load base (position-independent);
	// otherwise they are absolute.
	Relative  bool
	Locations map[string]uint64 // by name of the description's location clause
	Tables    []Table           // in the description's order
	Immortal  []Region
	Models    []Model
	// Without says, in one line, which models the version has that could not be had here; empty: none.
	Without string
}

// Table is an affine table of singletons: the object of value v is at
// Base + Stride*(v-First), First <= v < First+Count.
type Table struct {
	Name         string
	Base, Stride uint64 // address of the first object; bytes
	First, Count int64
}

// Addr is the address of value v, if the table has it.
func (t Table) Addr(v int64) (uint64, bool) {
	if v < t.First || v >= t.First+t.Count {
		return 0, false
	}
	return t.Base + t.Stride*uint64(v-t.First), true
}

// Region is [Lo, Hi).
type Region struct{ Lo, Hi uint64 }

// Model names an engine function and the data slot through which the interpreter
// calls it: the engine stores its own entry point there before main.
//
// With an Entry the model runs instead of the function there, and Slot is the address of a
// variable that it looks at.
type Model struct {
	Name   string
	Slot   uint64   // address of 8 bytes
	Entry  uint64   // address of a function; 0: none
	Params []uint64 // the description's numbers for it
	// Places are addresses, and Numbers the description's numbers, that the model knows by name.
	Places, Numbers map[string]uint64
	Imports         []string // functions of other objects that the model replaces: see Bound
}

// Rebase returns a copy with base added to every address, if they are relative.
func (img *Image) Rebase(base uint64) *Image {
	if !img.Relative {
		return img
	}
	out := &Image{Path: img.Path, BuildID: img.BuildID, Locations: map[string]uint64{}, Without: img.Without}
	for k, v := range img.Locations {
		out.Locations[k] = v + base
	}
	for _, t := range img.Tables {
		t.Base += base
		out.Tables = append(out.Tables, t)
	}
	for _, r := range img.Immortal {
		out.Immortal = append(out.Immortal, Region{r.Lo + base, r.Hi + base})
	}
	for _, m := range img.Models {
		m.Slot += base
		if m.Entry != 0 {
			m.Entry += base
		}
		places := map[string]uint64{}
		for k, v := range m.Places {
			places[k] = v + base
		}
		m.Places = places
		out.Models = append(out.Models, m)
	}
	return out
}

// Locate finds the description's places in an interpreter of a version, from exported dynamic
// symbols and code alone: it runs nothing and needs no debug symbols.
func (d *Desc) Locate(elfPath, version string) (*Image, error) {
	path, err := d.object(elfPath)
	if err != nil {
		return nil, err
	}
	o, err := openObject(path)
	if err != nil {
		return nil, err
	}
	defer o.file.Close()
	img := &Image{Path: path, BuildID: o.buildID(), Relative: o.file.Type == elf.ET_DYN, Locations: map[string]uint64{}}
	if err := img.add(o, &d.imageRows); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if v := d.variants[d.version(version)]; v != nil {
		more := *img
		more.Locations = maps.Clone(img.Locations)
		if err := more.add(o, v); err != nil {
			img.Without = fmt.Sprintf("%s is explored without the models for %s %s: %v", path, d.Language, d.version(version), err)
			return img, nil
		}
		img = &more
	}
	return img, nil
}

// add looks for p in o.
func (img *Image) add(o *object, p *imageRows) error {
	for _, l := range p.locations {
		addr, err := o.locate(l)
		if err != nil {
			return fmt.Errorf("%s: %w", l.name, err)
		}
		img.Locations[l.name] = addr
	}
	for _, t := range p.tables {
		img.Tables = append(img.Tables, Table{t.name, img.Locations[t.location] + t.off, t.stride, t.first, t.count})
	}
	for _, r := range p.immortal {
		at := img.Locations[r.location]
		img.Immortal = append(img.Immortal, Region{at + r.lo, at + r.hi})
	}
	for _, m := range p.models {
		md := Model{Name: m.name, Slot: img.Locations[m.location], Params: m.params, Numbers: m.numbers, Places: map[string]uint64{}, Imports: m.imports}
		if m.entry != "" {
			at, ok := o.symbols[m.entry]
			if !ok {
				return fmt.Errorf("model %s: %s is not exported", m.name, m.entry)
			}
			md.Entry = at
		}
		for _, name := range m.places {
			md.Places[name] = img.Locations[name]
		}
		img.Models = append(img.Models, md)
	}
	return nil
}

// object returns the path of the ELF object that exports the first location: the
// program or one of the libraries it needs directly.
func (d *Desc) object(elfPath string) (string, error) {
	want := d.locations[0].export
	o, err := openObject(elfPath)
	if err != nil {
		return "", err
	}
	defer o.file.Close()
	if _, ok := o.symbols[want]; ok {
		return elfPath, nil
	}
	needed, _ := o.file.DynString(elf.DT_NEEDED)
	var dirs []string
	for _, tag := range []elf.DynTag{elf.DT_RPATH, elf.DT_RUNPATH} {
		paths, _ := o.file.DynString(tag)
		for _, p := range paths {
			for _, dir := range strings.Split(p, ":") {
				dirs = append(dirs, strings.ReplaceAll(dir, "$ORIGIN", filepath.Dir(elfPath)))
			}
		}
	}
	dirs = append(dirs, "/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib", "/usr/local/lib")
	for _, lib := range needed {
		for _, dir := range dirs {
			path := filepath.Join(dir, lib)
			if _, err := os.Stat(path); err != nil {
				continue
			}
			lo, err := openObject(path)
			if err != nil {
				continue
			}
			_, ok := lo.symbols[want]
			lo.file.Close()
			if ok {
				return filepath.EvalSymlinks(path)
			}
			break
		}
	}
	return "", fmt.Errorf("%s: neither it nor a library it needs exports %s: not a supported %s interpreter", elfPath, want, d)
}

// object is an open ELF file with its exported symbols.
type object struct {
	file    *elf.File
	symbols map[string]uint64
}

// openObject opens an x86-64 ELF file; the error says in one line what else it is.
func openObject(path string) (*object, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	if !isELF(path) {
		return nil, fmt.Errorf("%s: not an ELF file", path)
	}
	f, err := elf.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if f.Machine != elf.EM_X86_64 || f.Class != elf.ELFCLASS64 || f.Type != elf.ET_EXEC && f.Type != elf.ET_DYN {
		f.Close()
		return nil, fmt.Errorf("%s: not an x86-64 ELF program or library (%s, %s, %s)", path, f.Class, f.Machine, f.Type)
	}
	o := &object{file: f, symbols: map[string]uint64{}}
	syms, err := f.DynamicSymbols()
	if err != nil && err != elf.ErrNoSymbols {
		f.Close()
		return nil, fmt.Errorf("%s: %v", path, err)
	}
	for _, s := range syms {
		if s.Section != elf.SHN_UNDEF {
			o.symbols[s.Name] = s.Value
		}
	}
	return o, nil
}

// read returns n bytes of the image at an address; bytes past the file part of a
// segment are zero.
func (o *object) read(addr uint64, n int) ([]byte, error) {
	for _, p := range o.file.Progs {
		if p.Type != elf.PT_LOAD || addr < p.Vaddr || addr-p.Vaddr > p.Memsz || uint64(n) > p.Memsz-(addr-p.Vaddr) {
			continue
		}
		b := make([]byte, n)
		if off := addr - p.Vaddr; off < p.Filesz {
			k := min(uint64(n), p.Filesz-off)
			if _, err := p.ReadAt(b[:k], int64(off)); err != nil {
				return nil, err
			}
		}
		return b, nil
	}
	return nil, fmt.Errorf("no segment holds %#x", addr)
}

// pointer reads a pointer as it is after relative relocation.
func (o *object) pointer(addr uint64) (uint64, error) {
	b, err := o.read(addr, 8)
	if err != nil {
		return 0, err
	}
	if s := o.file.Section(".rela.dyn"); s != nil && o.file.Type == elf.ET_DYN {
		data, err := s.Data()
		if err != nil {
			return 0, err
		}
		for ; len(data) >= 24; data = data[24:] {
			if binary.LittleEndian.Uint64(data) == addr && elf.R_X86_64(binary.LittleEndian.Uint32(data[8:])) == elf.R_X86_64_RELATIVE {
				return binary.LittleEndian.Uint64(data[16:]), nil
			}
		}
	}
	return binary.LittleEndian.Uint64(b), nil
}

func (o *object) buildID() string {
	s := o.file.Section(".note.gnu.build-id")
	if s == nil {
		return ""
	}
	data, err := s.Data()
	if err != nil || len(data) < 16 {
		return ""
	}
	name, desc := binary.LittleEndian.Uint32(data), binary.LittleEndian.Uint32(data[4:])
	if name != 4 || uint64(len(data)) < 16+uint64(desc) {
		return ""
	}
	return hex.EncodeToString(data[16 : 16+desc])
}

func (o *object) locate(l location) (uint64, error) {
	if l.caller != "" {
		return o.firstArgument(l.caller, l.callee)
	}
	if l.lastCall != "" {
		return o.callee(l.lastCall)
	}
	if l.shape != nil {
		return o.shaped(l.shape)
	}
	name := l.export
	if name == "" {
		name = l.returnedBy
	}
	addr, ok := o.symbols[name]
	if !ok {
		return 0, fmt.Errorf("%s is not exported", name)
	}
	if l.returnedBy != "" {
		var err error
		if addr, err = o.returned(addr); err != nil {
			return 0, fmt.Errorf("%s: %w", name, err)
		}
	}
	if l.stringWant == "" {
		return addr, nil
	}
	p, err := o.pointer(addr + l.stringOff)
	if err != nil {
		return 0, err
	}
	want := append([]byte(l.stringWant), 0)
	got, err := o.read(p, len(want))
	if err != nil || !bytes.Equal(got, want) {
		return 0, fmt.Errorf("the pointer at %#x is not to %q", addr+l.stringOff, l.stringWant)
	}
	return addr, nil
}

// endbr64 marks a function's entry under control-flow enforcement (SDM vol. 2, ENDBR64).
var endbr64 = []byte{0xf3, 0x0f, 0x1e, 0xfa}

// returned is the constant address that a function returns whose whole body is
// `mov $imm32,%eax; ret` or `lea disp(%rip),%rax; ret`.
func (o *object) returned(fn uint64) (uint64, error) {
	code, err := o.read(fn, 32)
	if err != nil {
		return 0, err
	}
	pc := fn
	if bytes.HasPrefix(code, endbr64) {
		code, pc = code[4:], pc+4
	}
	inst, err := x86asm.Decode(code, 64)
	if err != nil {
		return 0, err
	}
	next, err := x86asm.Decode(code[inst.Len:], 64)
	if err != nil || next.Op != x86asm.RET {
		return 0, fmt.Errorf("does more than return a constant")
	}
	pc += uint64(inst.Len)
	switch inst.Op {
	case x86asm.MOV:
		if imm, ok := inst.Args[1].(x86asm.Imm); ok && (inst.Args[0] == x86asm.EAX || inst.Args[0] == x86asm.RAX) {
			return uint64(uint32(imm)), nil
		}
	case x86asm.LEA:
		// x86asm leaves disp32 zero-extended.
		if m, ok := inst.Args[1].(x86asm.Mem); ok && m.Base == x86asm.RIP && m.Index == 0 && inst.Args[0] == x86asm.RAX {
			return pc + uint64(int64(int32(m.Disp))), nil
		}
	}
	return 0, fmt.Errorf("does not return a constant: %v", inst)
}

// firstArgument is the address of the variable that caller loads into rdi
// before its first call of callee, direct or through the linkage table.
func (o *object) firstArgument(caller, callee string) (uint64, error) {
	from, ok := o.symbols[caller]
	to, ok2 := o.symbols[callee]
	if !ok || !ok2 {
		return 0, fmt.Errorf("%s or %s is not exported", caller, callee)
	}
	code, err := o.read(from, 1024)
	if err != nil {
		return 0, err
	}
	var loaded uint64
	for pc := from; len(code) > 0; {
		inst, err := x86asm.Decode(code, 64)
		if err != nil {
			break
		}
		code, pc = code[inst.Len:], pc+uint64(inst.Len)
		switch inst.Op {
		case x86asm.MOV:
			if m, ok := inst.Args[1].(x86asm.Mem); ok && inst.Args[0] == x86asm.RDI && m.Index == 0 && m.Segment == 0 {
				switch m.Base {
				case x86asm.RIP:
					loaded = pc + uint64(int64(int32(m.Disp)))
				case 0:
					loaded = uint64(uint32(m.Disp))
				}
			}
		case x86asm.CALL:
			rel, ok := inst.Args[0].(x86asm.Rel)
			if dst := pc + uint64(int64(rel)); ok && loaded != 0 && (dst == to || o.stubFor(dst) == callee) {
				return loaded, nil
			}
		}
	}
	return 0, fmt.Errorf("%s does not pass a variable to %s", caller, callee)
}

// stubFor is the name of the function that the stub at addr in the procedure linkage
// table jumps to; empty if there is no such stub.
func (o *object) stubFor(addr uint64) string {
	code, err := o.read(addr, 16)
	if err != nil {
		return ""
	}
	if bytes.HasPrefix(code, endbr64) {
		code, addr = code[4:], addr+4
	}
	inst, err := x86asm.Decode(code, 64)
	if err != nil || inst.Op != x86asm.JMP {
		return ""
	}
	m, ok := inst.Args[0].(x86asm.Mem)
	if !ok || m.Base != x86asm.RIP || m.Index != 0 {
		return ""
	}
	return o.bound(addr + uint64(inst.Len) + uint64(int64(int32(m.Disp))))
}

// bound is the name of the symbol whose address the dynamic linker stores at slot.
func (o *object) bound(slot uint64) string {
	syms, err := o.file.DynamicSymbols()
	if err != nil {
		return ""
	}
	for _, name := range []string{".rela.plt", ".rela.dyn"} {
		sec := o.file.Section(name)
		if sec == nil {
			continue
		}
		data, err := sec.Data()
		if err != nil {
			continue
		}
		for ; len(data) >= 24; data = data[24:] {
			// DynamicSymbols leaves out the null symbol 0.
			if i := binary.LittleEndian.Uint32(data[12:]); binary.LittleEndian.Uint64(data) == slot && i > 0 && int(i) <= len(syms) {
				return syms[i-1].Name
			}
		}
	}
	return ""
}

// callee is the target of the last direct call, or jump out, in the code of an exported function.
func (o *object) callee(name string) (uint64, error) {
	at, ok := o.symbols[name]
	if !ok {
		return 0, fmt.Errorf("%s is not exported", name)
	}
	fns, err := ehframe.Functions(o.file)
	if err != nil {
		return 0, err
	}
	fn := ehframe.Enclosing(fns, at)
	code, err := o.read(fn.Lo, int(fn.Hi-fn.Lo))
	if err != nil {
		return 0, err
	}
	last := uint64(0)
	for pc := fn.Lo; len(code) > 0; {
		inst, err := x86asm.Decode(code, 64)
		if err != nil {
			return 0, err
		}
		code, pc = code[inst.Len:], pc+uint64(inst.Len)
		if rel, ok := inst.Args[0].(x86asm.Rel); ok && (inst.Op == x86asm.CALL || inst.Op == x86asm.JMP) {
			if to := pc + uint64(int64(rel)); (to < fn.Lo || to >= fn.Hi) && o.stubFor(to) == "" {
				last = to
			}
		}
	}
	if last == 0 {
		return 0, fmt.Errorf("%s calls nothing", name)
	}
	return last, nil
}

// shaped is the one function whose instructions match the patterns in turn, others between
// them allowed. A pattern is an instruction in Intel syntax where * stands for any text.
func (o *object) shaped(patterns []string) (uint64, error) {
	fns, err := ehframe.Functions(o.file)
	if err != nil {
		return 0, err
	}
	var found []uint64
	for _, fn := range fns {
		code, err := o.read(fn.Lo, int(fn.Hi-fn.Lo))
		if err == nil && matchCode(code, fn.Lo, patterns) {
			found = append(found, fn.Lo)
		}
	}
	if len(found) != 1 {
		return 0, fmt.Errorf("%d functions have its shape", len(found))
	}
	return found[0], nil
}

func matchCode(code []byte, pc uint64, patterns []string) bool {
	for len(code) > 0 && len(patterns) > 0 {
		inst, err := x86asm.Decode(code, 64)
		if err != nil {
			return false
		}
		if matchText(patterns[0], x86asm.IntelSyntax(inst, pc, nil)) {
			patterns = patterns[1:]
		}
		code, pc = code[inst.Len:], pc+uint64(inst.Len)
	}
	return len(patterns) == 0
}

// matchText reports whether text is the pattern, * standing for any text.
func matchText(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	if !strings.HasPrefix(text, parts[0]) {
		return false
	}
	text = text[len(parts[0]):]
	for i, p := range parts[1:] {
		if i == len(parts)-2 {
			return strings.HasSuffix(text, p)
		}
		at := strings.Index(text, p)
		if at < 0 {
			return false
		}
		text = text[at+len(p):]
	}
	return text == ""
}
