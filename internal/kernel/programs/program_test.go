package programs

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"symchef/internal/kernel"
)

// A program is tasks, the first of which runs in a process of its own; steps of one task start the others. Steps are numbered through all tasks,
// in order.
type program []task

type task []step

// A step is a system call by its name, or one of those below.
type step struct {
	name string
	args args
}

type args []any

// Steps that are no system calls: fork, thread and vfork start a task; peek and poke touch memory.
var kinds = map[string]uint64{"store": 2, "fork": 3, "thread": 4, "vfork": 5, "peek": 6, "poke": 7}

// What arguments are beside int. Memory is zero where nothing else is said, and apart from all other memory.
type (
	ref  int    // the result of a step; 4 bytes in a record
	str  string // memory: the bytes and a NUL
	buf  int    // memory of so many bytes
	rec  []any  // memory: fields, one behind the other; uint8 to uint64, ref, word, pad, text; other memory is a pointer to it
	word struct {
		step, arg, off int // the int that stands in memory of an argument of a step
	}
	at struct {
		step, arg, off int // the address of that
	}
	plus struct {
		step, off int // a result and off more
	}
	pad  int    // zero bytes in a record
	text string // bytes in a record
	sym  string // the address of a function of the executor
)

// steps counts the steps of p.
func (p program) steps() (n int) {
	for _, t := range p {
		n += len(t)
	}
	return n
}

// step returns step i.
func (p program) step(i int) step {
	for _, t := range p {
		if i < len(t) {
			return t[i]
		}
		i -= len(t)
	}
	panic("no such step")
}

// rewrite returns p with each argument, those within records too, replaced by what change makes of it.
func (p program) rewrite(change func(any) any) program {
	var of func(a any) any
	of = func(a any) any {
		if r, ok := a.(rec); ok {
			out := make(rec, len(r))
			for i := range r {
				out[i] = of(r[i])
			}
			return change(out)
		}
		return change(a)
	}
	out := make(program, len(p))
	for i, t := range p {
		out[i] = make(task, len(t))
		for j, s := range t {
			c := step{s.name, make(args, len(s.args))}
			for k, a := range s.args {
				c.args[k] = of(a)
			}
			out[i][j] = c
		}
	}
	return out
}

// renumber replaces the numbers of steps; gone says what stands for a step without one.
func (p program) renumber(to map[int]int) program {
	return p.rewrite(func(a any) any {
		switch v := a.(type) {
		case ref:
			if n, ok := to[int(v)]; ok {
				return ref(n)
			}
			return -1
		case word:
			if n, ok := to[v.step]; ok {
				return word{n, v.arg, v.off}
			}
			return -1
		case at:
			if n, ok := to[v.step]; ok {
				return at{n, v.arg, v.off}
			}
			return buf(64)
		case plus:
			if n, ok := to[v.step]; ok {
				return plus{n, v.off}
			}
			return 0
		}
		return a
	})
}

// String prints p as Go source.
func (p program) String() string {
	var b strings.Builder
	b.WriteString("program{\n")
	n := 0
	for _, t := range p {
		b.WriteString("\t{\n")
		for _, s := range t {
			fmt.Fprintf(&b, "\t\t/* %d */ {%q, args{%s}},\n", n, s.name, list(s.args))
			n++
		}
		b.WriteString("\t},\n")
	}
	b.WriteString("}")
	return b.String()
}

func list(l []any) string {
	var out []string
	for _, a := range l {
		out = append(out, show(a))
	}
	return strings.Join(out, ", ")
}

func show(a any) string {
	switch v := a.(type) {
	case int:
		if v > 4096 {
			return fmt.Sprintf("%#x", v)
		}
		return fmt.Sprint(v)
	case str, text, sym:
		return fmt.Sprintf("%T(%q)", v, v)[len("programs."):]
	case rec:
		return "rec{" + list(v) + "}"
	case word, at, plus:
		return strings.ReplaceAll(fmt.Sprintf("%T%v", v, v)[len("programs."):], " ", ", ")
	case ref, buf, pad:
		return fmt.Sprintf("%T(%d)", v, v)[len("programs."):]
	}
	return fmt.Sprintf("%T(%d)", a, a)
}

// What the executor has room for, and where; see testdata/executor.c.
const (
	maxSteps   = 128
	maxTasks   = 8
	maxSignals = 32
	arenaAt    = 0x30000000
	arenaSize  = 1 << 18
)

// piece is the memory of an argument.
type piece struct{ at, n int } // in the arena

// encoded is a program as the executor reads it.
type encoded struct {
	input  []byte
	limit  int // where its field stands in input
	at     []int
	pieces [][]piece // by step and argument; n is 0 where the argument is no memory
	arena  int       // bytes
}

var numbers = func() map[string]uint64 {
	m := map[string]uint64{}
	for nr, name := range kernel.Modelled() {
		m[name] = nr
	}
	return m
}()

type encoder struct {
	arena  []byte
	stores []store
	pieces [][]piece
	at     []int // the executor's number of each step
	funcs  map[string]uint64
}

// store is a field whose value is not known before: size bytes at addr.
type store struct {
	addr, size int
	value      any
}

// encode lays p out. funcs are the functions of the executor.
func (p program) encode(funcs map[string]uint64) encoded {
	e := &encoder{funcs: funcs, pieces: make([][]piece, p.steps())}
	n := 0
	stores := make([][]store, p.steps())
	for _, t := range p { // memory first: steps may refer to that of later ones
		for _, s := range t {
			e.stores = nil
			for _, a := range s.args {
				e.pieces[n] = append(e.pieces[n], e.memory(a))
			}
			stores[n] = e.stores
			n++
		}
	}
	at, n := 0, 0
	var start [maxTasks]uint64
	for i, t := range p {
		start[i] = uint64(at)
		for range t {
			at += len(stores[n])
			e.at = append(e.at, at)
			at, n = at+1, n+1
		}
		at++ // END
	}
	if at > maxSteps || len(p) > maxTasks || len(e.arena) > arenaSize {
		panic("the program is too large")
	}
	le := binary.LittleEndian
	out := le.AppendUint64(nil, uint64(at))
	out = le.AppendUint64(out, uint64(len(e.arena)))
	limit := len(out)
	out = le.AppendUint64(out, 0)
	for _, s := range start {
		out = le.AppendUint64(out, s)
	}
	add := func(kind, nr uint64, args ...[3]uint64) {
		out = le.AppendUint64(le.AppendUint64(out, kind), nr)
		for i := range 6 {
			var a [3]uint64
			if i < len(args) {
				a = args[i]
			}
			for _, v := range a {
				out = le.AppendUint64(out, v)
			}
		}
	}
	n = 0
	for _, t := range p {
		for _, s := range t {
			for _, x := range stores[n] {
				add(kinds["store"], uint64(x.size), [3]uint64{0, uint64(arenaAt + x.addr)}, e.value(x.value, piece{}))
			}
			var a [][3]uint64
			for i, v := range s.args {
				a = append(a, e.value(v, e.pieces[n][i]))
			}
			kind, nr := kinds[s.name], uint64(0)
			if kind == 0 {
				var ok bool
				if kind, nr = 1, numbers[s.name]; !ok && nr == 0 && s.name != "read" {
					panic("no call " + s.name)
				}
			}
			add(kind, nr, a...)
			n++
		}
		add(0, 0)
	}
	return encoded{append(out, e.arena...), limit, e.at, e.pieces, len(e.arena)}
}

// value is an argument as the executor reads it.
func (e *encoder) value(a any, m piece) [3]uint64 {
	switch v := a.(type) {
	case int:
		return [3]uint64{0, uint64(v)}
	case ref:
		return [3]uint64{1, uint64(e.at[v])}
	case plus:
		return [3]uint64{1, uint64(e.at[v.step]), uint64(v.off)}
	case word:
		return [3]uint64{2, uint64(arenaAt + e.piece(v.step, v.arg).at + v.off)}
	case at:
		return [3]uint64{0, uint64(arenaAt + e.piece(v.step, v.arg).at + v.off)}
	case sym:
		return [3]uint64{0, e.funcs[string(v)]}
	}
	return [3]uint64{0, uint64(arenaAt + m.at)}
}

// piece is the memory of an argument; of one that has none, some place.
func (e *encoder) piece(step, arg int) piece {
	if l := e.pieces[step]; arg < len(l) {
		return l[arg]
	}
	return piece{}
}

// memory gives an argument its place in the arena.
func (e *encoder) memory(a any) piece {
	var b []byte
	var stores []store
	le := binary.LittleEndian
	switch v := a.(type) {
	case str:
		b = append([]byte(v), 0)
	case buf:
		b = make([]byte, max(int(v), 1))
	case rec:
		for _, f := range v {
			switch f := f.(type) {
			case uint8:
				b = append(b, f)
			case uint16:
				b = le.AppendUint16(b, f)
			case uint32:
				b = le.AppendUint32(b, f)
			case uint64:
				b = le.AppendUint64(b, f)
			case int:
				b = le.AppendUint32(b, uint32(f))
			case pad:
				b = append(b, make([]byte, f)...)
			case text:
				b = append(b, f...)
			case ref, word:
				stores = append(stores, store{len(b), 4, f})
				b = append(b, 0, 0, 0, 0)
			case plus, at:
				stores = append(stores, store{len(b), 8, f})
				b = append(b, make([]byte, 8)...)
			case sym:
				b = le.AppendUint64(b, e.funcs[string(f)])
			default:
				b = le.AppendUint64(b, uint64(arenaAt+e.memory(f).at))
			}
		}
	default:
		return piece{}
	}
	m := piece{len(e.arena), len(b)}
	for _, s := range stores {
		e.stores = append(e.stores, store{m.at + s.addr, s.size, s.value})
	}
	e.arena = append(e.arena, b...)
	e.arena = append(e.arena, make([]byte, (16-len(e.arena)%16)%16)...)
	return m
}

// without returns p without the steps that drop says, and without tasks that nothing starts.
func (p program) without(drop func(i int) bool) program {
	to, n, m := map[int]int{}, 0, 0
	out := make(program, len(p))
	for i, t := range p {
		for _, s := range t {
			if !drop(n) {
				out[i] = append(out[i], s)
				to[n] = m
				m++
			}
			n++
		}
	}
	return out.renumber(to)
}

// started returns p without the tasks at its end that no step starts.
func (p program) started() program {
	for len(p) > 1 {
		last, n := len(p)-1, p.steps()
		if slices.ContainsFunc(p, func(t task) bool {
			return slices.ContainsFunc(t, func(s step) bool { return s.starts() == last })
		}) {
			break
		}
		p = p.without(func(i int) bool { return i >= n-len(p[last]) })[:last]
	}
	return p
}

// spawns reports whether s starts a task.
func (s step) spawns() bool { return s.name == "fork" || s.name == "thread" || s.name == "vfork" }

// starts is the task that s starts; 0: none.
func (s step) starts() int {
	if s.spawns() {
		return s.args[0].(int)
	}
	return 0
}
