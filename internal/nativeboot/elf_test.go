package nativeboot

import (
	"debug/elf"
	"testing"

	"symchef/internal/kernel"
	"symchef/internal/loader"
)

// program opens the ELF file that sys runs; it is position-independent.
func program(t *testing.T, sys *kernel.System) *elf.File {
	t.Helper()
	f, err := elf.Open(sys.CurrentProcess().Exe)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func entryOf(t *testing.T, sys *kernel.System) uint64 { return program(t, sys).Entry + loader.PIEBase }

// symbols are the addresses of the program's symbols.
func symbols(t *testing.T, sys *kernel.System) map[string]uint64 {
	t.Helper()
	list, err := program(t, sys).Symbols()
	if err != nil {
		t.Fatal(err)
	}
	m := map[string]uint64{}
	for _, s := range list {
		m[s.Name] = s.Value + loader.PIEBase
	}
	return m
}
