package interp

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"slices"
)

// Loaded is an ELF file as it is mapped in a process.
type Loaded struct {
	Path string
	Base uint64 // what is added to the file's addresses
}

// Bound are the addresses of the code that a process executes when the image calls functions by
// name: those of the first library that the image needs and that exports it, or its own where it is linked statically; without says why others have none. read reads a word of the
// process, whose objects are relocated.
//
// A library may leave the choice among several implementations to a resolver that runs in the process (STT_GNU_IFUNC, the
// gABI's GNU extension). Then the choice is read from the slot that the dynamic linker has filled with the resolver's answer.
func (img *Image) Bound(names []string, objects []Loaded, read func(addr uint64) (uint64, error)) (at map[string]uint64, without map[string]error) {
	at, without = map[string]uint64{}, map[string]error{}
	for _, name := range names {
		without[name] = fmt.Errorf("no library that %s needs exports it", img.Path)
	}
	o, err := openObject(img.Path)
	if err != nil {
		for _, name := range names {
			without[name] = err
		}
		return at, without
	}
	needed, _ := o.file.DynString(elf.DT_NEEDED)
	o.file.Close()
	if o.static() {
		base := uint64(0)
		if k := slices.IndexFunc(objects, func(l Loaded) bool { return l.Path == img.Path }); img.Relative && k >= 0 {
			base = objects[k].Base
		}
		for _, name := range names {
			if o.symbols[name] != 0 {
				at[name] = base + o.symbols[name]
			}
		}
	}
	byName := map[string][]Loaded{}
	for _, l := range objects {
		if soname := sonameOf(l.Path); soname != "" {
			byName[soname] = append(byName[soname], l)
		}
	}
	for _, lib := range needed {
		for _, l := range byName[lib] {
			l.exported(names, read, at, without)
		}
	}
	for name := range at {
		delete(without, name)
	}
	return at, without
}

// sonameOf is what an ELF file is called by those that need it; "" where it is something else.
func sonameOf(path string) string {
	f, err := elf.Open(path)
	if err != nil {
		return "" // other files are mapped, too
	}
	defer f.Close()
	called, _ := f.DynString(elf.DT_SONAME)
	if len(called) == 0 {
		return ""
	}
	return called[0]
}

// exported adds to at the addresses of those functions among names that l exports and that are not there yet, or says why not.
func (l Loaded) exported(names []string, read func(addr uint64) (uint64, error), at map[string]uint64, without map[string]error) {
	f, err := elf.Open(l.Path)
	if err != nil {
		return
	}
	defer f.Close()
	syms, err := f.DynamicSymbols()
	if err != nil {
		return
	}
	for _, s := range syms {
		if s.Section == elf.SHN_UNDEF || !slices.Contains(names, s.Name) || at[s.Name] != 0 {
			continue
		}
		addr, err := l.Base+s.Value, error(nil)
		if elf.ST_TYPE(s.Info) != elf.STT_FUNC {
			addr, err = l.chosen(f, s.Value, read)
		}
		if err == nil {
			at[s.Name] = addr
		} else {
			without[s.Name] = err
		}
	}
}

// chosen is what the resolver at an address of l's file has chosen.
func (l Loaded) chosen(f *elf.File, resolver uint64, read func(addr uint64) (uint64, error)) (uint64, error) {
	for _, name := range []string{".rela.plt", ".rela.dyn"} {
		sec := f.Section(name)
		if sec == nil {
			continue
		}
		data, err := sec.Data()
		if err != nil {
			return 0, err
		}
		for ; len(data) >= 24; data = data[24:] {
			if elf.R_X86_64(binary.LittleEndian.Uint32(data[8:])) == elf.R_X86_64_IRELATIVE && binary.LittleEndian.Uint64(data[16:]) == resolver {
				return read(l.Base + binary.LittleEndian.Uint64(data))
			}
		}
	}
	return 0, fmt.Errorf("%s: no slot holds what its resolver has chosen", l.Path)
}
