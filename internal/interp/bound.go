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

// Bound is the address of the code that a process executes when the image calls a function by
// name: that of the first library that the image needs and that exports it. read reads a word of the
// process, whose objects are relocated.
//
// A library may leave the choice among several implementations to a resolver that runs in the process (STT_GNU_IFUNC, the
// gABI's GNU extension). Then the choice is read from the slot that the dynamic linker has filled with the resolver's answer.
func (img *Image) Bound(name string, objects []Loaded, read func(addr uint64) (uint64, error)) (uint64, error) {
	o, err := openObject(img.Path)
	if err != nil {
		return 0, err
	}
	needed, _ := o.file.DynString(elf.DT_NEEDED)
	o.file.Close()
	for _, lib := range needed {
		for _, l := range objects {
			if at, err := exported(lib, name, l, read); at != 0 || err != nil {
				return at, err
			}
		}
	}
	return 0, fmt.Errorf("no library that %s needs exports it", img.Path)
}

// exported is the address of the code of a function that l, called lib, exports; 0: it exports none or is called otherwise.
func exported(lib, name string, l Loaded, read func(addr uint64) (uint64, error)) (uint64, error) {
	o, err := openObject(l.Path)
	if err != nil {
		return 0, nil // other files are mapped, too
	}
	defer o.file.Close()
	if called, _ := o.file.DynString(elf.DT_SONAME); !slices.Contains(called, lib) {
		return 0, nil
	}
	syms, err := o.file.DynamicSymbols()
	if err != nil {
		return 0, err
	}
	i := slices.IndexFunc(syms, func(s elf.Symbol) bool { return s.Name == name && s.Section != elf.SHN_UNDEF })
	if i < 0 {
		return 0, nil
	}
	value := syms[i].Value
	if elf.ST_TYPE(syms[i].Info) == elf.STT_FUNC {
		return l.Base + value, nil
	}
	for _, name := range []string{".rela.plt", ".rela.dyn"} {
		sec := o.file.Section(name)
		if sec == nil {
			continue
		}
		data, err := sec.Data()
		if err != nil {
			return 0, err
		}
		for ; len(data) >= 24; data = data[24:] {
			if elf.R_X86_64(binary.LittleEndian.Uint32(data[8:])) == elf.R_X86_64_IRELATIVE && binary.LittleEndian.Uint64(data[16:]) == value {
				return read(l.Base + binary.LittleEndian.Uint64(data))
			}
		}
	}
	return 0, fmt.Errorf("%s: no slot holds what its resolver has chosen", l.Path)
}
