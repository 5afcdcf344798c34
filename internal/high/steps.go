package high

import "slices"

// Steps is a sequence of steps by their numbers in Tree.Table. Paths of many millions of steps grow without being copied.
type Steps struct {
	// Chunks hold chunkLen numbers each, but for the last, which is not empty.
	Chunks [][]uint32
}

const chunkLen = 1 << 13

// Len is the number of steps.
func (s *Steps) Len() int {
	n := len(s.Chunks)
	if n == 0 {
		return 0
	}
	return (n-1)*chunkLen + len(s.Chunks[n-1])
}

func (s *Steps) at(i int) uint32 { return s.Chunks[i/chunkLen][i%chunkLen] }

// append adds list at the end.
func (s *Steps) append(list []uint32) {
	for len(list) > 0 {
		n := len(s.Chunks)
		switch {
		case n == 0:
			s.Chunks = append(s.Chunks, nil)
			n++
		case len(s.Chunks[n-1]) == chunkLen:
			s.Chunks = append(s.Chunks, make([]uint32, 0, chunkLen))
			n++
		}
		last := &s.Chunks[n-1]
		room := min(chunkLen-len(*last), len(list))
		*last, list = append(*last, list[:room]...), list[room:]
	}
}

// match is how many steps of list stand from i on.
func (s *Steps) match(i int, list []uint32) (n int) {
	for n < len(list) && i+n < s.Len() {
		chunk := s.Chunks[(i+n)/chunkLen][(i+n)%chunkLen:]
		for k, x := range chunk[:min(len(chunk), len(list)-n)] {
			if list[n+k] != x {
				return n + k
			}
		}
		n += min(len(chunk), len(list)-n)
	}
	return n
}

// cut keeps the first n steps and returns the others.
func (s *Steps) cut(n int) (rest Steps) {
	for i := n; i < s.Len(); {
		chunk := s.Chunks[i/chunkLen][i%chunkLen:]
		rest.append(chunk)
		i += len(chunk)
	}
	whole := n / chunkLen
	if n %= chunkLen; n > 0 {
		s.Chunks[whole] = slices.Clone(s.Chunks[whole][:n]) // what is cut off is not kept
		whole++
	}
	clear(s.Chunks[whole:])
	s.Chunks = s.Chunks[:whole:whole]
	return rest
}
