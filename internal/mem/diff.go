package mem

import (
	"bytes"
	"slices"
)

// WordSize is the unit in which Diff compares, in bytes.
const WordSize = 8

// Diff returns the addresses of the aligned words of s and t that differ in a value or an expression, in ascending order, or false
// where they are more than most. What is shared costs nothing. Require: s and t have the same areas; objects are left out.
func (s *Space) Diff(t *Space, most int) (words []uint64, ok bool) {
	var granules []uint64
	diffNodes(s.root, t.root, 0, 0, func(addr uint64) { granules = append(granules, addr) })
	for _, at := range granules {
		a, b := s.readable(at, 0), t.readable(at, 0)
		if a == nil || b == nil {
			return nil, false // not mapped in one of them
		}
		if a.sym == nil && b.sym == nil && (a.data == b.data || *a.data == *b.data) {
			continue
		}
		for i := 0; i < GranuleSize; i += WordSize {
			if bytes.Equal(a.data[i:i+WordSize], b.data[i:i+WordSize]) && a.word(i) == b.word(i) {
				continue
			}
			if len(words) == most {
				return nil, false
			}
			words = append(words, at+uint64(i))
		}
	}
	return words, true
}

// word is the expressions of the word at offset i.
func (g *granule) word(i int) (refs [WordSize]uint32) {
	if g.sym != nil {
		for k := range refs {
			refs[k] = uint32(g.sym.refs[i+k])
		}
	}
	return refs
}

var noNode node

// leaf is granule i of a node of the last level.
func (n *node) leaf(i uint64) *granule {
	if n.leafs == nil {
		return nil
	}
	return n.leafs[i]
}

// diffNodes calls f with the address of each granule that is not the same one in both trees.
func diffNodes(a, b *node, depth int, base uint64, f func(addr uint64)) {
	if a == b {
		return
	}
	if a == nil {
		a = &noNode
	}
	if b == nil {
		b = &noNode
	}
	step := uint64(1) << (fanBits * (levels - depth - 1))
	for i := uint64(0); i < fan; i++ {
		at := base + i*step
		if depth < levels-1 {
			diffNodes(a.kids[i], b.kids[i], depth+1, at, f)
		} else if a.leaf(i) != b.leaf(i) {
			f(at << GranuleBits)
		}
	}
}

// Same reports whether s and t have the same areas and the same content in them, expressions included; objects are left out. What is shared costs nothing.
func (s *Space) Same(t *Space) bool {
	_, differs := s.Differs(t)
	return !differs && slices.EqualFunc(s.areas, t.areas, func(a, b *Area) bool { return *a == *b })
}

// Differs returns the first address at which a word of s and t differs in a value or an expression, if there is one; areas are not compared.
func (s *Space) Differs(t *Space) (addr uint64, differs bool) {
	diffNodes(s.root, t.root, 0, 0, func(at uint64) {
		if !differs {
			addr, differs = s.granuleDiffers(t, at)
		}
	})
	return addr, differs
}

// granuleDiffers is Differs in the granule at address at.
func (s *Space) granuleDiffers(t *Space, at uint64) (addr uint64, differs bool) {
	a, b := s.readable(at, 0), t.readable(at, 0)
	if a == nil || b == nil {
		return at, a != b
	}
	if a.sym == nil && b.sym == nil && (a.data == b.data || *a.data == *b.data) {
		return 0, false
	}
	for i := 0; i < GranuleSize; i += WordSize {
		if !bytes.Equal(a.data[i:i+WordSize], b.data[i:i+WordSize]) || a.word(i) != b.word(i) {
			return at + uint64(i), true
		}
	}
	return 0, false
}

// DiffersAt is Differs in the granule of addr alone.
func (s *Space) DiffersAt(t *Space, addr uint64) bool {
	_, differs := s.granuleDiffers(t, granuleOf(addr))
	return differs
}
