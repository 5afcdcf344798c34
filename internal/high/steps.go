package high

import (
	"slices"
	"sort"
)

// Steps is a sequence of steps by their numbers in Tree.Table. A loop that goes on without a branch to elsewhere takes no memory: it is kept as its
// period and how many steps it has. What does not repeat itself grows without being copied.
type Steps struct {
	// Runs are not empty. A run without a period has chunkLen numbers at most.
	Runs []Run

	look int // with so many steps a loop is looked for at the end
}

// Run is N steps from From on, the numbers one after the other and then again from the first.
type Run struct {
	From, N int
	Numbers []uint32 // no more than N
}

const chunkLen = 1 << 13

// at is step i of the run.
func (r *Run) at(i int) uint32 {
	if i >= len(r.Numbers) {
		i %= len(r.Numbers)
	}
	return r.Numbers[i]
}

// Len is the number of steps.
func (s *Steps) Len() int {
	n := len(s.Runs)
	if n == 0 {
		return 0
	}
	return s.Runs[n-1].From + s.Runs[n-1].N
}

// run is the place in Runs of that with step i. Require: there is one.
func (s *Steps) run(i int) int {
	if last := len(s.Runs) - 1; i >= s.Runs[last].From {
		return last
	}
	return sort.Search(len(s.Runs), func(k int) bool { return s.Runs[k].From > i }) - 1
}

func (s *Steps) at(i int) uint32 {
	r := &s.Runs[s.run(i)]
	return r.at(i - r.From)
}

// from is steps that stand from i on: all of a chunk, or of a round of a loop. Require: there are some.
func (s *Steps) from(i int) []uint32 {
	r := &s.Runs[s.run(i)]
	k, left := i-r.From, r.N-(i-r.From)
	k %= len(r.Numbers)
	return r.Numbers[k:min(len(r.Numbers), k+left)]
}

// append adds list at the end.
func (s *Steps) append(list []uint32) {
	for len(list) > 0 {
		n := len(s.Runs)
		if n == 0 {
			s.Runs = append(s.Runs, Run{})
			n++
		}
		last := &s.Runs[n-1]
		if last.N > len(last.Numbers) { // a loop
			if list = list[last.goOn(list):]; len(list) > 0 {
				s.Runs, s.look = append(s.Runs, Run{From: s.Len()}), 0
			}
			continue
		}
		if last.N >= chunkLen {
			s.Runs = append(s.Runs, Run{From: s.Len(), Numbers: make([]uint32, 0, chunkLen)})
			continue
		}
		room := min(chunkLen-last.N, len(list))
		last.Numbers, list = append(last.Numbers, list[:room]...), list[room:]
		if last.N = len(last.Numbers); last.N == chunkLen && s.Len() >= s.look {
			s.fold()
		}
	}
}

// goOn makes r longer by as much of list as its loop goes on with.
func (r *Run) goOn(list []uint32) (n int) {
	for n < len(list) {
		at := r.N % len(r.Numbers)
		round := r.Numbers[at:min(len(r.Numbers), at+len(list)-n)]
		for _, x := range round {
			if x != list[n] {
				return n
			}
			n++
			r.N++
		}
	}
	return n
}

// mostPlain is how far back a loop is looked for, in steps.
const mostPlain = 1 << 21

// fold makes a loop of the full chunks at the end, if they are for the most part rounds of one. It is done again when there are twice as many.
func (s *Steps) fold() {
	first := len(s.Runs)
	for first > 0 && s.Runs[first-1].N == chunkLen && len(s.Runs[first-1].Numbers) == chunkLen && (len(s.Runs)-first)*chunkLen < mostPlain {
		first--
	}
	n := (len(s.Runs) - first) * chunkLen
	s.look = s.Len() + n
	tail := make([]uint32, 0, n)
	for _, r := range s.Runs[first:] {
		tail = append(tail, r.Numbers...)
	}
	long, period := loopAtEnd(tail)
	if long < chunkLen/2 {
		return
	}
	from := s.Runs[first].From
	clear(s.Runs[first:])
	s.Runs = s.Runs[:first]
	for head := tail[:n-long]; len(head) > 0; {
		k := min(chunkLen, len(head))
		s.Runs = append(s.Runs, Run{from, k, slices.Clone(head[:k])})
		from, head = from+k, head[k:]
	}
	s.Runs = append(s.Runs, Run{from, long, slices.Clone(tail[n-long : n-long+period])})
}

// loopAtEnd is the longest end of list that is a loop, of two rounds or more, and its period; the shortest of several. It is the prefix function
// (Knuth, Morris and Pratt) of the reversed list.
func loopAtEnd(list []uint32) (long, period int) {
	n := len(list)
	at := func(i int) uint32 { return list[n-1-i] }
	border := make([]int32, n) // of the first i+1
	for i, k := 1, int32(0); i < n; i++ {
		for k > 0 && at(i) != at(int(k)) {
			k = border[k-1]
		}
		if at(i) == at(int(k)) {
			k++
		}
		border[i] = k
		if p := i + 1 - int(k); 2*p <= i+1 {
			long, period = i+1, p
		}
	}
	return long, period
}

// match is how many steps of list stand from i on.
func (s *Steps) match(i int, list []uint32) (n int) {
	for n < len(list) && i+n < s.Len() {
		chunk := s.from(i + n)
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
	if n >= s.Len() {
		return rest
	}
	k := s.run(n)
	for i := k; i < len(s.Runs); i++ {
		r := s.Runs[i]
		if skip := n - r.From; skip > 0 {
			from := skip % len(r.Numbers)
			if round := slices.Concat(r.Numbers[from:], r.Numbers[:from]); r.N-skip < len(round) {
				r.Numbers = slices.Clone(round[:r.N-skip])
			} else {
				r.Numbers = round
			}
			r.N -= skip
		}
		r.From = max(r.From-n, 0)
		rest.Runs = append(rest.Runs, r)
	}
	if r := &s.Runs[k]; r.From < n {
		r.N = n - r.From
		if r.N < len(r.Numbers) {
			r.Numbers = slices.Clone(r.Numbers[:r.N]) // what is cut off is not kept
		}
		k++
	}
	clear(s.Runs[k:])
	s.Runs, s.look = s.Runs[:k:k], 0
	return rest
}
