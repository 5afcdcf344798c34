package high

import (
	"encoding/binary"
	"slices"

	"symchef/internal/hlpc"
)

// Step is one high-level instruction: a code object by its number in Tree.Codes, from 1 on, and the offset in it.
type Step struct {
	Code   uint32
	Offset uint32
}

// Tree is the high-level symbolic execution tree, folded where it does not branch.
type Tree struct {
	Root  Node
	Codes []hlpc.Digest
	Table []Step // each step once
	// Labels name code objects for people.
	Labels map[hlpc.Digest]hlpc.Label

	index   map[hlpc.Digest]uint32
	numbers map[Step]uint32 // in Table
	steps   int
}

// Node is a sequence of steps that all paths through it share.
type Node struct {
	Steps Steps
	Kids  []*Node // in order of discovery; their first steps differ
	Ends  []End
	// Lost are positions, in steps of the node, where low-level paths were given up; open those where some wait. The
	// path conditions of high-level paths that pass there are not complete (Bucur's thesis, section 4.4).
	Lost  []int
	open  []int
	waits []wait

	up  *Node
	own *Node // the kid that took the end of Steps when the node was last cut
}

// End is a low-level path that ended after Pos steps of its node.
type End struct {
	Pos     int
	Outcome string
	Test    string // name of its test case; empty: another case stands for it
}

// wait is something that waits after pos steps of its node.
type wait struct {
	pos int
	id  uint64
}

// Place is a position in the tree: after Pos steps of a node. The zero Place is the beginning.
type Place struct {
	node *Node
	pos  int
}

// Size returns how many steps the tree holds.
func (t *Tree) Size() int { return t.steps }

func (t *Tree) code(d hlpc.Digest) uint32 {
	i, known := t.index[d]
	if !known {
		if t.index == nil {
			t.index = map[hlpc.Digest]uint32{}
		}
		t.Codes = append(t.Codes, d)
		i = uint32(len(t.Codes))
		t.index[d] = i
	}
	return i
}

// number is where s stands in the Table.
func (t *Tree) number(s Step) uint32 {
	i, known := t.numbers[s]
	if !known {
		if t.numbers == nil {
			t.numbers = map[Step]uint32{}
		}
		i = uint32(len(t.Table))
		t.Table = append(t.Table, s)
		t.numbers[s] = i
	}
	return i
}

func (t *Tree) label(d hlpc.Digest, l hlpc.Label) {
	if t.Labels == nil {
		t.Labels = map[hlpc.Digest]hlpc.Label{}
	}
	t.Labels[d] = l
}

// now is p in the tree as it is: nodes may have been cut since p was made.
func (t *Tree) now(p Place) Place {
	if p.node == nil {
		p.node = &t.Root
	}
	for p.pos > p.node.Steps.Len() {
		p.pos -= p.node.Steps.Len()
		p.node = p.node.own
	}
	return p
}

// Step returns the last step before p; false at the beginning.
func (t *Tree) Step(p Place) (Step, bool) {
	p = t.now(p)
	for p.pos == 0 && p.node.up != nil {
		p = Place{p.node.up, p.node.up.Steps.Len()}
	}
	if p.pos == 0 {
		return Step{}, false
	}
	return t.Table[p.node.Steps.at(p.pos-1)], true
}

// Advance returns the place after the steps with these numbers at p, which is made if need be.
func (t *Tree) Advance(p Place, list []uint32) Place {
	p = t.now(p)
	for {
		n := p.node
		k := n.Steps.match(p.pos, list)
		p.pos, list = p.pos+k, list[k:]
		if len(list) == 0 {
			return p
		}
		if p.pos < n.Steps.Len() {
			n.cut(p.pos)
		} else if len(n.Kids) == 0 {
			n.Steps.append(list)
			t.steps += len(list)
			return Place{n, p.pos + len(list)}
		}
		i := slices.IndexFunc(n.Kids, func(k *Node) bool { return k.Steps.at(0) == list[0] })
		if i < 0 {
			i = len(n.Kids)
			n.Kids = append(n.Kids, &Node{up: n})
		}
		p = Place{n.Kids[i], 0}
	}
}

// cut keeps the first pos steps of n and moves the rest to a new kid.
func (n *Node) cut(pos int) {
	rest := &Node{Steps: n.Steps.cut(pos), Kids: n.Kids, up: n, own: n.own}
	for _, k := range rest.Kids {
		k.up = rest
	}
	for _, e := range n.Ends {
		if e.Pos > pos {
			e.Pos -= pos
			rest.Ends = append(rest.Ends, e)
		}
	}
	n.Ends = slices.DeleteFunc(n.Ends, func(e End) bool { return e.Pos > pos })
	n.Lost, rest.Lost = split(n.Lost, pos)
	n.open, rest.open = split(n.open, pos)
	for _, w := range n.waits {
		if w.pos > pos {
			rest.waits = append(rest.waits, wait{w.pos - pos, w.id})
		}
	}
	n.waits = slices.DeleteFunc(n.waits, func(w wait) bool { return w.pos > pos })
	n.Kids, n.own = []*Node{rest}, rest
}

// split divides positions into those up to pos and those beyond, counted from there.
func split(l []int, pos int) (kept, moved []int) {
	for _, p := range l {
		if p > pos {
			moved = append(moved, p-pos)
		} else {
			kept = append(kept, p)
		}
	}
	return kept, moved
}

// Lose notes that a low-level path was given up at p.
func (t *Tree) Lose(p Place) {
	p = t.now(p)
	p.node.Lost = append(p.node.Lost, p.pos)
}

// Open notes that a low-level path waits at p. It is not part of a checkpoint.
func (t *Tree) Open(p Place) {
	p = t.now(p)
	p.node.open = append(p.node.open, p.pos)
}

// OpenAt is Open by the first numbers of IDs: at the beginning for those that no place has.
func (t *Tree) OpenAt(dynamic []uint64) {
	left := map[uint64]bool{}
	for _, d := range dynamic {
		left[d] = true
	}
	if len(left) > 0 {
		t.openAt(&t.Root, ID{}, left)
	}
	if len(left) > 0 {
		t.Open(Place{})
	}
}

func (t *Tree) openAt(n *Node, id ID, left map[uint64]bool) {
	for i := range n.Steps.Len() {
		s := t.Table[n.Steps.at(i)]
		id = id.after(mix(binary.LittleEndian.Uint64(t.Codes[s.Code-1][:]), uint64(s.Offset)))
		if left[id[0]] {
			n.open = append(n.open, i+1)
			delete(left, id[0])
		}
	}
	for _, k := range n.Kids {
		t.openAt(k, id, left)
	}
}

// End notes that a low-level path has ended at p.
func (t *Tree) End(p Place, outcome, test string) {
	p = t.now(p)
	p.node.Ends = append(p.node.Ends, End{p.pos, outcome, test})
}

// Wait notes that id waits at p, until Leave.
func (t *Tree) Wait(p Place, id uint64) {
	p = t.now(p)
	p.node.waits = append(p.node.waits, wait{p.pos, id})
}

// Leave takes back a Wait.
func (t *Tree) Leave(p Place, id uint64) {
	p = t.now(p)
	p.node.waits = slices.DeleteFunc(p.node.waits, func(w wait) bool { return w.id == id })
}

// Least is what waits least advanced on the path to p; false if nothing waits there.
func (t *Tree) Least(p Place) (id uint64, ok bool) {
	p = t.now(p)
	for n, end := p.node, p.pos; n != nil; n = n.up {
		pos := end + 1
		for _, w := range n.waits {
			if w.pos < pos {
				pos, id, ok = w.pos, w.id, true
			}
		}
		if n.up != nil {
			end = n.up.Steps.Len()
		}
	}
	return id, ok
}
