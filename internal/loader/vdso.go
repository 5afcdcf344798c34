package loader

import (
	"encoding/binary"

	"symchef/internal/guest"
	"symchef/internal/mem"
)

// vdso is an image of the kernel's own shared object, vdso(7), without functions: whoever looks for one makes the system call. It changes what the
// dynamic linker has in its list and, with that, where it puts what it makes next.
func vdso() *mem.Backing {
	const dynamic, hash, symbols, names, name, end = 0x100, 0x200, 0x240, 0x280, "\x00linux-vdso.so.1\x00", guest.PageSize
	b := make([]byte, end)
	copy(b, "\x7fELF\x02\x01\x01")
	le := binary.LittleEndian
	half := func(at int, v ...uint16) {
		for i, n := range v {
			le.PutUint16(b[at+2*i:], n)
		}
	}
	words := func(at int, v ...uint64) {
		for i, n := range v {
			le.PutUint64(b[at+8*i:], n)
		}
	}
	half(16, 3, 62, 1)     // ET_DYN for x86-64
	words(32, 64)          // program headers
	half(52, 64, 56, 2, 0) // their sizes
	entries := []uint64{14, 1, 4, hash, 5, names, 6, symbols, 10, uint64(len(name)), 11, 24, 0, 0}
	words(64, 1|5<<32, 0, 0, 0, end, end, end) // PT_LOAD, to be read and executed
	words(64+56, 2|4<<32, dynamic, dynamic, dynamic, uint64(8*len(entries)), uint64(8*len(entries)), 8)
	words(dynamic, entries...) // DT_SONAME, DT_HASH, DT_STRTAB, DT_SYMTAB, DT_STRSZ, DT_SYMENT
	words(hash, 1|1<<32, 0)    // a bucket, and a chain that is empty
	copy(b[names:], name)
	return &mem.Backing{Data: b}
}

// mapVDSO maps it below top and returns where.
func mapVDSO(s *mem.Space, top uint64) (uint64, error) {
	at := s.FindGap(guest.PageSize, top)
	return at, s.Map(at, guest.PageSize, guest.ProtRead|guest.ProtExec, vdso(), 0, "[vdso]")
}
