package programs

import (
	"math/rand/v2"
	"slices"
)

// gen makes a random program. While it does, a step is known by when it was made; number turns that into its place.
type gen struct {
	r     *rand.Rand
	tasks [][]made
	cur   int // the task that gets the next step
	next  int // the step that is made next
	fds   []opened
	pids  []any
	maps  int  // mappings made
	mem   []at // memory that calls have filled or read, of no row with a mask
}

// made is a step with its name in gen.
type made struct {
	id int
	step
}

// opened is a descriptor that a step gives.
type opened struct {
	fd   any
	kind kind
}

// kind is what stands behind a descriptor.
type kind uint

const (
	aFile kind = 1 << iota
	aDir
	aPipe
	aSocket
	aStream // a socket, too
	anEpoll
	anEvent
	aPID
	aMapped // a file of which pages can be mapped
	anyKind = 0
)

// row describes a call: how often it is made, among those of its themes, and with what arguments.
type row struct {
	name   string
	themes theme
	weight int
	args   func(g *gen) args
	gives  func(g *gen, id int) // what the step adds to what later ones refer to
}

// theme is what a program is about, so that its steps meet.
type theme uint

const (
	files theme = 1 << iota
	names
	pipes
	sockets
	polls
	signals
	tasks
	memory
	times
	numThemes = iota
)

func (g *gen) n(n int) int      { return g.r.IntN(n) }
func (g *gen) one(l ...int) int { return l[g.n(len(l))] }
func (g *gen) rarely() bool     { return g.n(16) == 0 }
func (g *gen) flags(l ...int) (f int) { // a few of l
	for _, x := range l {
		if g.n(3) == 0 {
			f |= x
		}
	}
	return f
}

// generate makes program number i of a seed.
func generate(seed, i uint64) program {
	g := &gen{r: rand.New(rand.NewPCG(seed, i)), tasks: make([][]made, 1)}
	about := theme(1) << g.n(numThemes)
	about |= theme(1) << g.n(numThemes)
	var rows []*row
	total := 0
	for i := range table {
		if r := &table[i]; r.themes&about != 0 {
			rows = append(rows, r)
			total += r.weight
		}
	}
	for n := 2 + g.n(4) + g.n(12); n > 0; n-- {
		if g.cur > 0 && g.n(4) == 0 || len(g.tasks[g.cur]) > 12 {
			g.cur = 0 // the rest is the first task's
		}
		k := g.n(total)
		for _, r := range rows {
			if k -= r.weight; k < 0 {
				g.add(r)
				break
			}
		}
	}
	return g.number()
}

func (g *gen) add(r *row) {
	if (step{name: r.name}).spawns() && len(g.tasks) == maxTasks {
		return
	}
	id := g.next
	g.next++
	in := g.cur
	a := r.args(g)
	g.tasks[in] = append(g.tasks[in], made{id, step{r.name, a}})
	if r.gives != nil {
		r.gives(g, id)
	}
}

// number gives the steps their numbers.
func (g *gen) number() program {
	to, p := map[int]int{}, program{}
	for _, t := range g.tasks {
		l := task{}
		for _, s := range t {
			to[s.id] = len(to)
			l = append(l, s.step)
		}
		p = append(p, l)
	}
	return p.renumber(to)
}

// fd is a descriptor, mostly one of the kinds. That of a process comes only where it is asked for: what it is differs between versions of Linux.
func (g *gen) fd(k kind) any {
	fit := slices.DeleteFunc(slices.Clone(g.fds), func(o opened) bool { return k != anyKind && o.kind&k == 0 || o.kind == aPID && k&aPID == 0 })
	switch {
	case g.rarely():
		return g.one(-1, 0, 1, 2, 3, 5, 99)
	case len(fit) > 0 && g.n(8) > 0:
		return fit[g.n(len(fit))].fd
	case len(g.fds) > 0:
		if o := g.fds[g.n(len(g.fds))]; o.kind != aPID {
			return o.fd
		}
	}
	return g.one(-1, 0, 1, 2)
}

func (g *gen) dirfd() any {
	if g.n(2) == 0 {
		return g.fd(aDir)
	}
	return atCwd
}

const atCwd = -100

var names1 = []string{"a", "b", "c", "d", "e"}

func (g *gen) path() any {
	name := func() string { return names1[g.n(len(names1))] }
	switch g.n(24) {
	case 0:
		return str("")
	case 1:
		return str(".")
	case 2:
		return str(name() + "/")
	case 3:
		return str(name() + "/.")
	case 4:
		return str(name() + "/..")
	case 5:
		return str("./" + name())
	case 6, 7, 8, 9, 10:
		return str(name() + "/" + name())
	case 11:
		return str(name() + "/../" + name())
	case 12:
		if g.n(8) == 0 {
			return 0 // a bad address
		}
	}
	return str(name())
}

func (g *gen) mode() int { return g.one(0o644, 0o755, 0o600, 0o777, 0, 0o4755, 0o1777, 0o2755) }

const (
	oWronly, oRdwr, oCreat, oExcl, oNoctty, oTrunc, oAppend, oNonblock = 1, 2, 0x40, 0x80, 0x100, 0x200, 0x400, 0x800
	oDirect, oDirectory, oNofollow, oCloexec, oPath                    = 0x4000, 0x10000, 0x20000, 0x80000, 0x200000
)

func (g *gen) openFlags() int {
	fl := g.one(0, oWronly, oRdwr, oRdwr, oRdwr|oCreat, oRdwr|oCreat, oWronly|oCreat) | g.flags(oAppend, oNonblock)
	if g.n(4) == 0 {
		fl |= g.one(oTrunc, oExcl|oCreat, oCloexec, oNofollow, oDirectory&^oCreat)
	}
	if g.n(24) == 0 {
		fl |= oPath
	}
	if fl&oCreat != 0 {
		fl &^= oDirectory // undefined, and different between kernels
	}
	return fl
}

// out is memory that a call fills.
func (g *gen) out(n int) any {
	switch {
	case g.n(40) == 0:
		return 0
	case g.n(60) == 0:
		return 4096
	}
	return buf(n)
}

// in is memory with bytes for a call.
func (g *gen) in() any {
	if len(g.mem) > 0 && g.n(5) == 0 {
		return g.mem[g.n(len(g.mem))]
	}
	if g.n(50) == 0 {
		return 8
	}
	b := make([]byte, g.one(1, 4, 8, 16, 40))
	for i := range b {
		b[i] = byte('a' + g.n(26))
	}
	return str(b)
}

func (g *gen) size() int { return g.one(0, 1, 3, 4, 8, 10, 16, 40) }

func (g *gen) vec(in bool) (any, int) {
	var v rec
	n := g.one(0, 1, 1, 2, 2, 3)
	for range n {
		if in {
			v = append(v, g.inBytes(), uint64(g.size()))
		} else {
			v = append(v, buf(40), uint64(g.size()))
		}
	}
	if n == 0 {
		v = rec{uint64(0)}
	}
	return v, n
}

func (g *gen) inBytes() any {
	b := make([]byte, 40)
	for i := range b {
		b[i] = byte('A' + g.n(26))
	}
	return str(b)
}

func (g *gen) offset() int { return g.one(-1, 0, 0, 1, 5, 10, 100, 4095, 5000) }

func (g *gen) pid() any {
	if len(g.pids) > 0 && g.n(4) > 0 {
		return g.pids[g.n(len(g.pids))]
	}
	return g.one(0, 2, 2, 2, 77, -1)
}

func (g *gen) signal() int {
	if g.n(20) == 0 {
		return g.one(-1, 0, 9, 19, 64, 65, 1000, 15, 18, 11)
	}
	return g.one(10, 10, 12, 12, 14, 17, 18, 28, 34, 35, 13)
}

func (g *gen) sigset() any {
	if g.rarely() {
		return 0
	}
	set := uint64(0)
	for range 1 + g.n(4) {
		if s := g.signal(); s > 0 && s <= 64 && s != 9 && s != 19 {
			set |= 1 << (s - 1)
		}
	}
	return rec{set}
}

func (g *gen) timespec(l ...int) any {
	if g.rarely() {
		return rec{uint64(g.one(0, -1)), uint64(g.one(-1, 1e9, 0))}
	}
	return rec{uint64(0), uint64(g.one(l...))}
}

// givesFd returns what adds the result as a descriptor.
func givesFd(k kind) func(g *gen, id int) {
	return func(g *gen, id int) { g.fds = append(g.fds, opened{ref(id), k}) }
}

// givesPair adds the two descriptors in the memory of argument arg.
func givesPair(k kind, arg int) func(g *gen, id int) {
	return func(g *gen, id int) {
		g.fds = append(g.fds, opened{word{id, arg, 0}, k}, opened{word{id, arg, 4}, k})
	}
}

// givesMemory lets later calls use the memory of argument arg.
func givesMemory(arg int) func(g *gen, id int) {
	return func(g *gen, id int) {
		for _, t := range g.tasks {
			for _, s := range t {
				if s.id == id {
					if _, ok := s.args[arg].(buf); ok {
						g.mem = append(g.mem, at{id, arg, 0})
					}
				}
			}
		}
	}
}

// task begins a task: what is made next is its own.
func (g *gen) task() int {
	g.tasks = append(g.tasks, nil)
	return len(g.tasks) - 1
}
