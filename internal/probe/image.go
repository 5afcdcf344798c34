package probe

import (
	"debug/elf"
	"fmt"

	"symchef/internal/ehframe"
)

// Image is an ELF object as a process has it: its addresses are those of the process.
type Image struct {
	Base      uint64
	Functions []ehframe.Extent // sorted
	exports   map[string]uint64
}

// Open reads the object of a path that is mapped in p.
func (p *Process) Open(path string) (*Image, error) {
	f, err := elf.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	img := &Image{exports: map[string]uint64{}}
	if f.Type == elf.ET_DYN {
		if img.Base, err = p.base(path); err != nil {
			return nil, err
		}
	}
	if img.Functions, err = ehframe.Functions(f); err != nil {
		return nil, err
	}
	for i := range img.Functions {
		img.Functions[i].Lo += img.Base
		img.Functions[i].Hi += img.Base
	}
	for _, list := range []func() ([]elf.Symbol, error){f.DynamicSymbols, f.Symbols} {
		all, _ := list() // there may be none
		for _, s := range all {
			if s.Section != elf.SHN_UNDEF && s.Value != 0 && elf.ST_BIND(s.Info) != elf.STB_LOCAL {
				img.exports[s.Name] = img.Base + s.Value
			}
		}
	}
	return img, nil
}

// base is where an object is mapped.
func (p *Process) base(path string) (uint64, error) {
	for _, a := range p.Memory().Areas() {
		if a.Off == 0 && a.Back != nil && a.Name == path {
			return a.Start, nil
		}
	}
	return 0, fmt.Errorf("%s is not mapped", path)
}

// Export is the address of an exported function; 0: there is none.
func (i *Image) Export(name string) uint64 { return i.exports[name] }
