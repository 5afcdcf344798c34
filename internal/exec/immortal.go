package exec

import (
	"cmp"
	"slices"
)

// span is [lo, hi).
type span struct{ lo, hi uint64 }

// least is less than the size of any object: what is closer together is adjacent, with padding between.
const least = 16

// Immortal says that at addr there is an object of n bytes that is never freed: a store through a symbolic address that can only fall into such
// objects is to a count of references, and is dropped.
func (m *Machine) Immortal(addr, n uint64) {
	i, _ := slices.BinarySearchFunc(m.immortal, addr, func(s span, at uint64) int { return cmp.Compare(s.hi+least, at) })
	k, add := i, span{addr, addr + n}
	for ; k < len(m.immortal) && m.immortal[k].lo < add.hi+least; k++ {
		add = span{min(add.lo, m.immortal[k].lo), max(add.hi, m.immortal[k].hi)}
	}
	m.immortal = slices.Replace(m.immortal, i, k, add)
}

// isImmortal says whether n bytes at addr are of such objects alone.
func (m *Machine) isImmortal(addr, n uint64) bool {
	i, _ := slices.BinarySearchFunc(m.immortal, addr, func(s span, at uint64) int { return cmp.Compare(s.hi, at+1) })
	return i < len(m.immortal) && addr >= m.immortal[i].lo && n <= m.immortal[i].hi-addr
}

// immortals says whether n bytes at each of the addresses are of such objects alone.
func (m *Machine) immortals(all []uint64, n uint64) bool {
	for _, at := range all {
		if !m.isImmortal(at, n) {
			return false
		}
	}
	return true
}
