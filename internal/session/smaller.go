package session

import (
	"bytes"
	"math"
	"slices"

	"symchef/internal/state"
	"symchef/internal/testcase"
)

// rank orders inputs by how easy they are to read: lower ones, compared from the front, are easier. It begins with how many bytes there are, and how odd
// those are all in all.
func (p plain) rank(inputs []testcase.Input) []uint64 {
	out := make([]uint64, 2, 16)
	for _, in := range testcase.Flat(inputs) {
		d := p[in.Name]
		switch in.Type {
		case testcase.TypeInt:
			v, _ := in.Int()
			out = append(out, min(distance(v, d.number), distance(v, 0)), distance(v, d.number))
		case testcase.TypeFloat:
			v, _ := in.Float()
			if v == d.real {
				out = append(out, 0)
			} else {
				out = append(out, 1+math.Float64bits(math.Abs(v)))
			}
		case testcase.TypeBool:
			v, _ := in.Bool()
			if v != (d.number != 0) {
				out = append(out, 1)
			} else {
				out = append(out, 0)
			}
		case testcase.TypeChoice:
			v, _ := in.Choice()
			out = append(out, distance(int64(v), d.number))
		default:
			b, _ := in.Bytes()
			b = visible(in.Type, b)
			out[0] += uint64(len(b))
			for i, c := range b {
				if i < len(d.bytes) && d.bytes[i] == c && looks(c) <= 5 {
					out = append(out, 0)
					continue
				}
				out[1] += 1 + uint64(looks(c))
				out = append(out, 1+uint64(looks(c))<<8|uint64(c))
			}
		}
	}
	return out
}

// visible is b as the program gets it: NUL ends arguments and values of the environment.
func visible(t testcase.InputType, b []byte) []byte {
	if t == testcase.TypeArgv || t == testcase.TypeEnv {
		b, _, _ = bytes.Cut(b, []byte{0})
	}
	return b
}

func distance(a, b int64) uint64 {
	if a < b {
		a, b = b, a
	}
	return uint64(a) - uint64(b)
}

// smaller compares test cases by how easy their inputs are to read: negative if a's are easier.
func (r *run) smaller(a, b testcase.Test) int {
	return slices.Compare(r.plain.rank(a.Inputs), r.plain.rank(b.Inputs))
}

// best is the test case that stands for the low-level paths of one high-level path and class.
type best struct {
	id   string
	rank []uint64
}

// tried says which low-level paths of one high-level path and fine class (testcase.Class.Fine) were minimised.
type tried struct {
	length uint64 // of the shortest, as rank has it
	tries  int    // how many were not shorter than those before
}

// maxTries is how many paths that cannot be told from the best one by their length are minimised to see whether they are better.
const maxTries = 64

// pair is what the low-level paths have in common for which one test case stands.
func pair(t testcase.Test) [2]string { return [2]string{t.Group, classKey(t)} }

// learn notes the defaults of inputs.
func (r *run) learn(inputs []*state.Input) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.plain.learn(inputs)
}

// stands notes that t stands for its pair.
func (r *run) stands(t testcase.Test) {
	if b := r.best[pair(t)]; b != nil {
		b.id, b.rank = t.ID, r.plain.rank(t.Inputs)
		return
	}
	r.best[pair(t)] = &best{id: t.ID, rank: r.plain.rank(t.Inputs)}
}

// mayCount reports whether a path like t, which is of the class fine, takes edges and whose inputs may still get better, can become a test case.
func (r *run) mayCount(t testcase.Test, fine string, edges []uint64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	key, length := [2]string{t.Group, fine}, r.plain.rank(t.Inputs)[0]
	b := r.tried[key]
	if b == nil {
		b = &tried{length: length + 1}
		r.tried[key] = b
	}
	shorter := length < b.length
	same := length == b.length
	b.length = min(b.length, length)
	switch {
	case r.o.AllPaths || r.newEdges(edges) || !r.classes[classKey(t)] || t.Group != "" && !r.groups[t.Group]:
		return true
	case r.best[pair(t)] == nil:
		return false
	case shorter:
		return true
	}
	mayShrink := same || slices.ContainsFunc(t.Inputs, func(in testcase.Input) bool {
		return in.Type == testcase.TypeArgv || in.Type == testcase.TypeEnv
	})
	if mayShrink {
		b.tries++
	}
	return mayShrink && b.tries <= maxTries
}

// better returns the test case that t is to replace, if there is one and what it covers does not count; r.mu is held.
func (r *run) better(t testcase.Test) string {
	if b := r.best[pair(t)]; b != nil && !r.o.AllPaths && !r.o.Coverage && slices.Compare(r.plain.rank(t.Inputs), b.rank) < 0 {
		return b.id
	}
	return ""
}
