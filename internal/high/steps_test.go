package high

import (
	"slices"
	"testing"
	"unsafe"

	"symchef/internal/seed"
)

// all lists the steps of s.
func all(s *Steps) (l []uint32) {
	for i := 0; i < s.Len(); {
		part := s.from(i)
		l = append(l, part...)
		i += len(part)
	}
	return l
}

// bytes is what s takes.
func (s *Steps) bytes() (n int) {
	for _, r := range s.Runs {
		n += int(unsafe.Sizeof(r)) + 4*cap(r.Numbers)
	}
	return n
}

// Steps are as a slice would be, around the ends of chunks and of rounds of loops too.
func TestSteps(t *testing.T) {
	r := seed.Rand(t)
	for range 300 {
		var s Steps
		var want []uint32
		for range 6 {
			var list []uint32
			if r.IntN(2) == 0 { // a loop
				round := make([]uint32, 1+r.IntN(1<<r.IntN(12)))
				for i := range round {
					round[i] = r.Uint32N(3)
				}
				for n := r.IntN(chunkLen * 4); len(list) < n; {
					list = append(list, round...)
				}
			} else {
				list = make([]uint32, r.IntN(chunkLen*5/4))
				for i := range list {
					list[i] = r.Uint32N(3)
				}
			}
			want = append(want, list...)
			for part := list; len(part) > 0; {
				n := 1 + r.IntN(len(part))
				s.append(part[:n])
				part = part[n:]
			}
			clear(list) // it is not kept
		}
		check := func(what string, s Steps, want []uint32) {
			if s.Len() != len(want) || !slices.Equal(all(&s), want) {
				t.Fatalf("%s: %d steps, not %d, or others", what, s.Len(), len(want))
			}
			for range min(len(want), 100) {
				if i := r.IntN(len(want)); s.at(i) != want[i] {
					t.Fatalf("%s: step %d is %d, not %d", what, i, s.at(i), want[i])
				}
			}
			from := 0
			for i, r := range s.Runs {
				if r.From != from || r.N == 0 || len(r.Numbers) > r.N || len(r.Numbers) == 0 {
					t.Fatalf("%s: run %d from %d has %d steps, %d numbers", what, i, r.From, r.N, len(r.Numbers))
				}
				from += r.N
			}
		}
		check("appended", s, want)
		if len(want) == 0 {
			continue
		}
		i := r.IntN(len(want))
		list := append(slices.Clone(want[i:]), 1)
		if differs := r.IntN(len(list)); s.match(i, list) != len(list)-1 || s.at(i) != want[i] {
			t.Fatalf("%d of %d steps match from %d on", s.match(i, list), len(list)-1, i)
		} else if list[differs] += 3; s.match(i, list) != min(differs, len(list)-1) {
			t.Fatalf("%d steps match from %d on, not %d", s.match(i, list), i, differs)
		}
		cut := []int{0, i, len(want) / chunkLen * chunkLen, len(want)}[r.IntN(4)]
		rest := s.cut(cut)
		check("kept", s, want[:cut])
		check("cut off", rest, want[cut:])
		s.append([]uint32{7})
		check("kept and appended", s, append(slices.Clone(want[:cut]), 7))
		check("cut off, later", rest, want[cut:])
		more := want[:r.IntN(len(want))]
		rest.append(more)
		check("cut off and appended", rest, slices.Concat(want[cut:], more))
	}
}

// A loop takes no memory however long it goes on, after something else and with a loop within; nor do its rounds become less.
func TestLoopOfSteps(t *testing.T) {
	var s Steps
	var head []uint32
	for i := range uint32(20000) { // no loop
		head = append(head, i*i%9973)
	}
	s.append(head)
	var round []uint32
	for i := range uint32(50) {
		for range 100 {
			round = append(round, i, 1000)
		}
	}
	before := s.bytes()
	const rounds = 10000
	for range rounds {
		s.append(round)
	}
	if s.Len() != len(head)+rounds*len(round) {
		t.Errorf("%d steps", s.Len())
	}
	if n := s.bytes(); n > before+8*4*len(round)+4*4*chunkLen {
		t.Errorf("%d bytes, %d before the loop of %d steps a round", n, before, len(round))
	}
	for i := 0; i < len(round); i += 77 {
		if at := len(head) + (rounds-1)*len(round) + i; s.at(at) != round[i] {
			t.Fatalf("step %d is %d, not %d", at, s.at(at), round[i])
		}
	}
}
