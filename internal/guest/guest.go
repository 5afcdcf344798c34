// Package guest holds the vocabulary of the guest: sizes, protections and ranges
// of its address space; and names of signals. It imports nothing of the module and everything may import it.
package guest

// PageSize is the unit, in bytes, of mapping and protection (x86-64 base page,
// Intel SDM vol. 3, 4.5).
const PageSize = 4096

// AddrLimit is the first address past the user half of the address space
// (47-bit canonical, Linux Documentation/x86/x86_64/mm).
const AddrLimit = uint64(1) << 47

// Prot is a page protection, the bits of Linux PROT_READ, PROT_WRITE, PROT_EXEC.
type Prot uint8

// The protections of mprotect(2).
const (
	ProtRead Prot = 1 << iota
	ProtWrite
	ProtExec
)

// PageDown rounds addr down to a page boundary.
func PageDown(addr uint64) uint64 { return addr &^ (PageSize - 1) }

// PageUp rounds addr up to a page boundary.
func PageUp(addr uint64) uint64 { return (addr + PageSize - 1) &^ (PageSize - 1) }
