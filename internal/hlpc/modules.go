package hlpc

import (
	"bytes"
	"debug/elf"
	"encoding/hex"
	"fmt"
	"path/filepath"

	"symchef/internal/ehframe"
	"symchef/internal/mem"
)

// Function is code of the interpreter: module and link addresses, the same in every process.
type Function struct {
	Module string `json:"module"` // path of the ELF file
	// BuildID of the module, hexadecimal; empty if it has none.
	BuildID string `json:"build_id,omitempty"`
	// Offset and End bound the code, in the module's own addresses.
	Offset uint64 `json:"offset"`
	End    uint64 `json:"end"`
	Symbol string `json:"symbol,omitempty"`
}

// String is MODULE+OFFSET (SYMBOL).
func (f *Function) String() string {
	s := fmt.Sprintf("%s+%#x", filepath.Base(f.Module), f.Offset)
	if f.Symbol != "" {
		s += " (" + f.Symbol + ")"
	}
	return s
}

// module is an ELF file mapped in a process.
type module struct {
	path, build string
	file        *elf.File
	fns         []ehframe.Extent
	names       map[uint64]string // symbols by link address
}

// modules reads the mapped ELF files as they are met.
type modules map[string]*module

func (ms modules) of(a *mem.Area) *module {
	if a == nil || a.Back == nil {
		return nil
	}
	if m, ok := ms[a.Name]; ok {
		return m
	}
	ms[a.Name] = nil
	f, err := elf.NewFile(bytes.NewReader(a.Back.Data))
	if err != nil {
		return nil
	}
	fns, err := ehframe.Functions(f)
	if err != nil {
		return nil
	}
	m := &module{path: a.Name, file: f, fns: fns, build: buildID(f), names: map[uint64]string{}}
	for _, list := range []func() ([]elf.Symbol, error){f.DynamicSymbols, f.Symbols} {
		syms, _ := list()
		for _, s := range syms {
			if elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Section != elf.SHN_UNDEF {
				m.names[s.Value] = s.Name
			}
		}
	}
	ms[a.Name] = m
	return m
}

// bias is what to add to the module's link addresses to get those of area a.
func (m *module) bias(a *mem.Area) uint64 {
	for _, p := range m.file.Progs {
		if p.Type == elf.PT_LOAD && p.Off&^0xfff <= a.Off && a.Off < p.Off+p.Filesz {
			return a.Start - (p.Vaddr + a.Off - p.Off)
		}
	}
	return a.Start
}

// function returns the function that holds pc, and where its module is loaded; nil if pc is not in one.
func (ms modules) function(s *mem.Space, pc uint64) (*Function, uint64) {
	a := s.Find(pc)
	m := ms.of(a)
	if m == nil {
		return nil, 0
	}
	bias := m.bias(a)
	e := ehframe.Enclosing(m.fns, pc-bias)
	if e.Hi == 0 {
		return nil, 0
	}
	return &Function{Module: m.path, BuildID: m.build, Offset: e.Lo, End: e.Hi, Symbol: m.names[e.Lo]}, bias
}

// BuildID is the build-id of an ELF file; empty if it has none or cannot be read.
func BuildID(path string) string {
	f, err := elf.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	return buildID(f)
}

// buildID is the GNU build-id note, elf(5).
func buildID(f *elf.File) string {
	for _, p := range f.Progs {
		if p.Type != elf.PT_NOTE {
			continue
		}
		b := make([]byte, p.Filesz)
		if _, err := p.ReadAt(b, 0); err != nil {
			continue
		}
		for len(b) >= 12 {
			name, desc, kind := f.ByteOrder.Uint32(b), f.ByteOrder.Uint32(b[4:]), f.ByteOrder.Uint32(b[8:])
			from := 12 + uint64(name+3)&^3
			end := from + uint64(desc)
			if end > uint64(len(b)) {
				break
			}
			if kind == 3 && string(b[12:12+name]) == "GNU\x00" {
				return hex.EncodeToString(b[from:end])
			}
			b = b[min(uint64(len(b)), (end+3)&^3):]
		}
	}
	return ""
}
