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
	"slices"
	"strings"

	"golang.org/x/arch/x86/x86asm"

	"symchef/internal/ehframe"
	"symchef/internal/model"
	"symchef/languages"
)

// Image is what Locate found: addresses in the one ELF object that holds the
// interpreter. Rebase turns them into addresses of a process.
type Image struct {
	Path    string // of the object: the program itself or its shared library
	BuildID string // lower-case hex; empty when the object has none
	// Relative: addresses count from the object's load base (position-independent);
	// otherwise they are absolute.
	Relative  bool
	Locations map[string]uint64  // by name of the description's location clause
	Layouts   map[string]*Layout // of the description; nil for one that is not known of this interpreter
	// References is the offset of the count of references in objects, 8 bytes; negative: it is not known.
	References int64
	Models     []model.Binding
	Without    []Missing // what the description marks as optional and the image does not have, in the description's order
	Unexported []string  // functions that models replace where they are exported, and that are not
}

// Missing is a name of a description that is nothing in an interpreter.
type Missing struct {
	Name string // "location intern", "model deferred-identity", "import memrchr"
	Why  string
}

func (m Missing) String() string { return m.Name + ": " + m.Why }

// Rebase returns a copy with base added to every address, if they are relative.
func (img *Image) Rebase(base uint64) *Image {
	if !img.Relative {
		return img
	}
	out := &Image{Path: img.Path, BuildID: img.BuildID, Locations: map[string]uint64{}, Layouts: img.Layouts, References: img.References, Without: img.Without, Unexported: img.Unexported}
	for k, v := range img.Locations {
		out.Locations[k] = v + base
	}
	for _, m := range img.Models {
		out.Models = append(out.Models, m.Rebase(base))
	}
	return out
}

// Locate finds the description's places in an interpreter of a version, from exported dynamic
// symbols and code, and from what the interpreter tells of itself where the description has a probe. It needs no debug symbols, and
// no code under test runs. What it tells is kept in the folder cache, if that is not empty.
func (d *Desc) Locate(elfPath, version, cache string) (*Image, error) {
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
	if err := d.texts(o); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	facts := d.facts(elfPath, o, cache)
	if err := d.words(facts); err != nil {
		return nil, fmt.Errorf("%s/%s:%w", d.Folder.Name, languages.Description, err)
	}
	for _, p := range []*imageRows{&d.imageRows, d.variants[d.version(version)]} {
		if p == nil {
			continue
		}
		if err := img.add(o, p, d.version(version), facts); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	img.learn(d, facts)
	return img, nil
}

// texts looks for the names of variables and options that d gives the interpreter: it would ignore what it does not know.
func (d *Desc) texts(o *object) error {
	var names []string
	for _, r := range d.env {
		names = append(names, r.name)
	}
	for _, a := range d.argv {
		if strings.HasPrefix(a, "--") {
			name, _, _ := strings.Cut(a, "=")
			names = append(names, name)
		}
	}
	for _, name := range names {
		if !o.hasText(name) {
			return fmt.Errorf("the %s interpreter nowhere has the text %q, which its description gives it as a variable or an option", d.Language, name)
		}
	}
	return nil
}

// hasText looks for a text that ends with NUL; before it there is no letter and no digit (texts may end alike).
func (o *object) hasText(text string) bool {
	want := append([]byte(text), 0)
	for _, data := range o.constants() {
		for at := 0; ; at++ {
			k := bytes.Index(data[at:], want)
			if k < 0 {
				break
			}
			if at += k; at == 0 || !alphanumeric(data[at-1]) {
				return true
			}
		}
	}
	return false
}

// constants are the segments that cannot be written.
func (o *object) constants() [][]byte {
	if o.constant == nil {
		o.constant = [][]byte{}
		for _, p := range o.file.Progs {
			if p.Type != elf.PT_LOAD || p.Flags&elf.PF_W != 0 {
				continue
			}
			data := make([]byte, p.Filesz)
			if _, err := p.ReadAt(data, 0); err == nil {
				o.constant = append(o.constant, data)
			}
		}
	}
	return o.constant
}

func alphanumeric(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// add looks for p in o, which is of a version of the description.
func (img *Image) add(o *object, p *imageRows, version string, f *Facts) error {
	none := map[string]bool{} // locations that the interpreter does without
	without := func(optional bool, name string, err error) error {
		if !optional {
			return fmt.Errorf("%s: %w", name, err)
		}
		img.Without = append(img.Without, Missing{name, err.Error()})
		return nil
	}
	for i := range p.locations {
		l := &p.locations[i]
		if l.how == "probed" && f.None[l.words[0]] {
			none[l.name] = true
			continue
		}
		addr, err := img.locate(o, l, f)
		if err != nil {
			if err := without(l.optional, "location "+l.name, err); err != nil {
				return err
			}
			continue
		}
		img.Locations[l.name] = addr
	}
	for _, m := range p.models {
		md, err := img.model(o, m, version, f, none)
		if err != nil {
			if err := without(m.optional, "model "+m.name, err); err != nil {
				return err
			}
			continue
		}
		img.Models = append(img.Models, *md)
	}
	return nil
}

// model is a model with all that it needs.
func (img *Image) model(o *object, m modelRow, version string, f *Facts, none map[string]bool) (*model.Binding, error) {
	md := &model.Binding{Name: m.name, Numbers: map[string]uint64{}, Places: map[string][]uint64{}, Functions: map[string]string{}, Program: m.program, Imports: slices.Clone(m.imports)}
	for _, name := range slices.Sorted(maps.Keys(m.numbers)) {
		n, ok := m.numbers[name].value(f)
		if !ok {
			return nil, fmt.Errorf("without the number %s", m.numbers[name].told)
		}
		md.Numbers[name] = uint64(n)
	}
	if m.location != "" {
		at, ok := img.Locations[m.location]
		if !ok {
			return nil, fmt.Errorf("without the location %s", m.location)
		}
		md.Slot = at
	}
	if m.entry != "" {
		at, ok := o.symbols[m.entry]
		if !ok {
			return nil, fmt.Errorf("%s is not exported", m.entry)
		}
		md.Entry = at
	}
	if m.also != "" && o.symbols[m.also] == 0 {
		img.Unexported = append(img.Unexported, m.also)
	} else if m.also != "" {
		at, err := o.beneath(o.symbols[m.also])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.also, err)
		}
		md.Places["also"] = []uint64{at}
	}
	for _, name := range m.places {
		if none[name] {
			continue
		}
		at, ok := img.Locations[name]
		if !ok {
			return nil, fmt.Errorf("without the location %s", name)
		}
		md.Places[name] = []uint64{at}
	}
	for _, what := range slices.Sorted(maps.Keys(m.functions)) {
		name := m.functions[what].of(version)
		if o.symbols[name] == 0 {
			return nil, fmt.Errorf("%s is not exported", name)
		}
		md.Functions[what] = name
	}
	for _, name := range m.imports {
		if !o.imports[name] {
			return nil, fmt.Errorf("it does not import %s", name)
		}
	}
	for _, name := range m.mayImport {
		switch {
		case o.imports[name] || o.static() && o.symbols[name] != 0:
			md.Imports = append(md.Imports, name)
		case o.static(): // with libraries, what is not imported is not called
			img.Without = append(img.Without, Missing{"import " + name, "it is linked statically, and has no symbol of this name"})
		}
	}
	return md, nil
}

// object returns the path of the ELF object that exports the first location: the
// program or one of the libraries it needs directly. Where the first location is no
// export, or there is none, it is the program.
func (d *Desc) object(elfPath string) (string, error) {
	if len(d.locations) == 0 || d.locations[0].how != "export" {
		return elfPath, nil
	}
	want := d.locations[0].words[0]
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
	path     string
	file     *elf.File
	symbols  map[string]uint64
	imports  map[string]bool // what it gets from others
	text     []listedCode    // see listing
	constant [][]byte        // see constants
}

// openObject opens an x86-64 ELF file; the error says in one line what else it is.
func openObject(path string) (*object, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	if !IsELF(path) {
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
	o := &object{path: path, file: f, symbols: map[string]uint64{}, imports: map[string]bool{}}
	syms, err := f.DynamicSymbols()
	if err != nil && err != elf.ErrNoSymbols {
		f.Close()
		return nil, fmt.Errorf("%s: %v", path, err)
	}
	for _, s := range syms {
		if s.Section != elf.SHN_UNDEF {
			o.symbols[s.Name] = s.Value
		} else {
			o.imports[s.Name] = true
		}
	}
	if o.static() { // then all that there is to know stands in its table of symbols, if it has one
		o.symbols = symbolsOf(f)
	}
	return o, nil
}

// static is whether an object is a program that has its libraries in itself.
func (o *object) static() bool { return len(o.imports) == 0 }

// symbolsOf are the global symbols of a program, without those that are chosen when it starts (STT_GNU_IFUNC).
func symbolsOf(f *elf.File) map[string]uint64 {
	out := map[string]uint64{}
	syms, _ := f.Symbols() // there may be none
	for _, s := range syms {
		if s.Section != elf.SHN_UNDEF && s.Value != 0 && elf.ST_BIND(s.Info) != elf.STB_LOCAL && elf.ST_TYPE(s.Info) != elf.STT_GNU_IFUNC {
			out[s.Name] = s.Value
		}
	}
	return out
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

// locate is the address of l, which no other location of the image has.
func (img *Image) locate(o *object, l *location, f *Facts) (uint64, error) {
	addr, err := uint64(0), error(nil)
	if l.how == "probed" {
		addr, err = f.place(o, img.Relative, l.words[0])
	} else {
		addr, err = o.locate(l)
	}
	if err != nil {
		return 0, err
	}
	for _, name := range slices.Sorted(maps.Keys(img.Locations)) {
		if img.Locations[name] == addr {
			return 0, fmt.Errorf("it would be where %s is", name)
		}
	}
	if l.stringWant != "" {
		p, err := o.pointer(addr + l.stringOff)
		if err != nil {
			return 0, err
		}
		if got, ok := o.stringAt(p); !ok || !matchText(l.stringWant, got) {
			return 0, fmt.Errorf("the pointer at %#x is not to %q", addr+l.stringOff, l.stringWant)
		}
	}
	if to := img.Locations[l.calls]; l.calls != "" && (to == 0 || !o.leadsTo(addr, to)) {
		return 0, fmt.Errorf("the function at %#x does not call %s", addr, l.calls)
	}
	if len(l.has) > 0 {
		fns, err := o.listing()
		if err != nil {
			return 0, err
		}
		if i := slices.IndexFunc(fns, func(fn listedCode) bool { return fn.at == addr }); i < 0 || !fns[i].has(l.has) {
			return 0, fmt.Errorf("the function at %#x does not have its instructions", addr)
		}
	}
	return addr, nil
}

// stringAt is the short string at an address.
func (o *object) stringAt(addr uint64) (string, bool) {
	var out []byte
	for len(out) < 64 {
		b, err := o.read(addr+uint64(len(out)), 1)
		if err != nil {
			return "", false
		}
		if b[0] == 0 {
			return string(out), true
		}
		out = append(out, b[0])
	}
	return "", false
}

func (o *object) locate(l *location) (uint64, error) {
	if l.how == "shape" {
		return o.shaped(l.words)
	}
	addr, ok := o.symbols[l.words[0]]
	if !ok {
		return 0, fmt.Errorf("%s is not exported", l.words[0])
	}
	var err error
	switch l.how {
	case "returned-by":
		addr, err = o.returned(addr)
	case "beneath":
		addr, err = o.beneath(addr)
	}
	if err != nil {
		return 0, fmt.Errorf("%s: %w", l.words[0], err)
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

// beneath is fn, or the function that it jumps to where nothing stands before that jump but moves and calls.
func (o *object) beneath(fn uint64) (uint64, error) {
	code, err := o.read(fn, 128)
	if err != nil {
		return 0, err
	}
	for pc := fn; len(code) > 0; {
		if bytes.HasPrefix(code, endbr64) {
			code, pc = code[4:], pc+4
		}
		inst, err := x86asm.Decode(code, 64)
		if err != nil {
			return 0, err
		}
		code, pc = code[inst.Len:], pc+uint64(inst.Len)
		rel, ok := inst.Args[0].(x86asm.Rel)
		switch {
		case !ok && inst.Op != x86asm.RET, inst.Op == x86asm.CALL:
			continue
		case inst.Op != x86asm.JMP:
			return fn, nil
		}
		to := pc + uint64(int64(rel))
		if name := o.stubFor(to); name != "" {
			to, ok = o.symbols[name]
		}
		if !ok || to >= fn && to < pc {
			return fn, nil
		}
		return to, nil
	}
	return fn, nil
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

// leadsTo says whether the function at an address calls, or jumps to, that at another one.
func (o *object) leadsTo(at, to uint64) bool {
	all, err := o.targets(at)
	return err == nil && slices.Contains(all, to)
}

// targets are what the function at an address calls, or jumps out to, in the order of its code: functions of the object.
func (o *object) targets(at uint64) (out []uint64, err error) {
	fns, err := ehframe.Functions(o.file)
	if err != nil {
		return nil, err
	}
	fn := ehframe.Enclosing(fns, at)
	code, err := o.read(fn.Lo, int(fn.Hi-fn.Lo))
	if err != nil {
		return nil, err
	}
	for pc := fn.Lo; len(code) > 0; {
		inst, err := x86asm.Decode(code, 64)
		if err != nil {
			return nil, err
		}
		code, pc = code[inst.Len:], pc+uint64(inst.Len)
		if rel, ok := inst.Args[0].(x86asm.Rel); ok && (inst.Op == x86asm.CALL || inst.Op == x86asm.JMP) {
			if to := pc + uint64(int64(rel)); (to < fn.Lo || to >= fn.Hi) && o.stubFor(to) == "" {
				out = append(out, to)
			}
		}
	}
	return out, nil
}

// shaped is the one function whose instructions match the patterns in turn, others between
// them allowed. A pattern is an instruction in Intel syntax where * stands for any text.
func (o *object) shaped(patterns []string) (uint64, error) {
	fns, err := o.listing()
	if err != nil {
		return 0, err
	}
	var found []uint64
	for _, fn := range fns {
		if fn.has(patterns) {
			found = append(found, fn.at)
		}
	}
	if len(found) != 1 {
		return 0, fmt.Errorf("%d functions have its shape", len(found))
	}
	return found[0], nil
}

// listedCode is a function's code as text, as far as it can be decoded.
type listedCode struct {
	at   uint64
	code []string
}

// has says whether instructions match the patterns in turn.
func (l listedCode) has(patterns []string) bool {
	for _, text := range l.code {
		if len(patterns) > 0 && matchText(patterns[0], text) {
			patterns = patterns[1:]
		}
	}
	return len(patterns) == 0
}

// listing is the code of all functions, made once.
func (o *object) listing() ([]listedCode, error) {
	if o.text != nil {
		return o.text, nil
	}
	fns, err := ehframe.Functions(o.file)
	if err != nil {
		return nil, err
	}
	for _, fn := range fns {
		l := listedCode{at: fn.Lo}
		code, err := o.read(fn.Lo, int(fn.Hi-fn.Lo))
		for pc := fn.Lo; err == nil && len(code) > 0; {
			inst, bad := x86asm.Decode(code, 64)
			if bad != nil {
				break
			}
			l.code = append(l.code, x86asm.IntelSyntax(inst, pc, nil))
			code, pc = code[inst.Len:], pc+uint64(inst.Len)
		}
		o.text = append(o.text, l)
	}
	return o.text, nil
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
