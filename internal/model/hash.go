package model

import (
	"encoding/binary"
	"slices"

	"symchef/internal/cpu"
	"symchef/internal/exec"
	"symchef/internal/ir"
	"symchef/internal/mem"
)

// Hashes of byte strings, by which a table finds them: a hash that depends on symbolic bytes splits the path once for each place of the table. The
// model makes it a function of the length.
//
// Exact, because an interpreter promises of a hash no more than that equal strings have equal ones (and -1 means an error): tables
// compare the strings themselves before they call them equal. What may differ is the order of a table without an order; there a native run with
// another seed differs as well.
//
// Test: TestHashLength executes the stock functions of interpreters on all short strings and random ones and holds both to that promise.

// hashFactor spreads lengths over hashes.
const hashFactor = 0x9e3779b97f4a7c15

// hashOf is even, so it is not -1.
func hashOf(n uint64) uint64 { return n * hashFactor &^ 1 }

// hashLength models hash(src=rdi, len=rsi).
func hashLength(m *exec.Machine, c *cpu.CPU, s *mem.Space) (bool, *exec.Stop) {
	if stop := fix(m, c, ir.RSI); stop != nil {
		return false, stop
	}
	return ret(c, s, hashOf(c.R[ir.RSI])), nil
}

// hashLengthCode is hashLength as machine code.
var hashLengthCode = slices.Concat(
	binary.LittleEndian.AppendUint64([]byte{0x48, 0xb8}, hashFactor), // mov rax, hashFactor
	[]byte{0x48, 0x0f, 0xaf, 0xc6},                                   // imul rax, rsi
	[]byte{0x48, 0x83, 0xe0, 0xfe},                                   // and rax, -2
	[]byte{0xc3},                                                     // ret
)
