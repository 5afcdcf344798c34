package model_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"symchef/internal/expr"
	"symchef/internal/seed"
)

// calls is the C interface of an interpreter that keeps one object per content of a string: a stack, and a table on it.
type calls struct {
	*path
	state, table uint64 // the interpreter's state, and the index of the table
}

func (c calls) do(name string, args ...uint64) result {
	return c.call(c.function(name), append([]uint64{c.state}, args...)...)
}

// pop drops n values.
func (c calls) pop(n int) { c.do("lua_settop", uint64(-n-1)) }

// number is the number on the stack's top; what is none is 0.
func (c calls) number() uint64 {
	if c.names["lua_tointegerx"] != 0 {
		return c.do("lua_tointegerx", 1<<64-1, 0).v
	}
	return c.do("lua_tointeger", 1<<64-1).v
}

// text is a string of a program: bytes, of which some are symbolic. Behind them stands the same text in all, so that some are long.
type text struct {
	data  []byte
	terms []expr.Ref
	tail  int
}

func (x text) under(ctx *expr.Ctx, a expr.Assignment) []byte {
	data := slices.Clone(x.data)
	for i, r := range x.terms {
		if r != 0 {
			data[i] = byte(ctx.Eval(r, a))
		}
	}
	return append(data, strings.Repeat("-", x.tail)...)
}

// push makes the string in the interpreter.
func (c calls) push(x text, a expr.Assignment, symbolic bool) {
	data := x.under(c.ctx, a)
	var terms []expr.Ref
	if symbolic {
		terms = append(slices.Clone(x.terms), make([]expr.Ref, x.tail)...)
	}
	c.write(scratch, data, terms)
	c.do("lua_pushlstring", scratch, uint64(len(data)))
}

// Operations of a program, each on one or two strings.
const (
	opPut  = iota // table[x] = n
	opGet         // table[x]
	opDrop        // table[x] = nil
	opSame        // x == y by lua_rawequal
	opWalk        // all values of the table, in no order
	opName        // table.x, x a C string: a path of its own in the interpreter
	numOps
)

// run executes a program and returns what its operations say.
func (c calls) run(program [][3]int, texts []text, a expr.Assignment, symbolic bool) (said []result) {
	c.do("lua_createtable", 0, 0)
	c.table = c.do("lua_gettop").v
	for i, op := range program {
		x, y := texts[op[1]], texts[op[2]]
		switch op[0] {
		case opPut, opDrop:
			c.push(x, a, symbolic)
			if op[0] == opPut {
				c.do("lua_pushinteger", uint64(i+1))
			} else {
				c.do("lua_pushnil")
			}
			c.do("lua_rawset", c.table)
			continue
		case opGet:
			c.push(x, a, symbolic)
			c.do("lua_rawget", c.table)
			said = append(said, result{v: c.number()})
			c.pop(1)
		case opSame:
			c.push(x, a, symbolic)
			c.push(y, a, symbolic)
			same := c.do("lua_rawequal", 1<<64-2, 1<<64-1)
			said = append(said, same)
			c.pop(2)
		case opWalk:
			sum := uint64(0)
			c.do("lua_pushnil")
			for c.do("lua_next", c.table).v != 0 {
				sum += 1 << (4 * c.number())
				c.pop(1)
			}
			said = append(said, result{v: sum})
		case opName:
			if x.tail > 0 || slices.ContainsFunc(x.terms, func(r expr.Ref) bool { return r != 0 }) {
				continue
			}
			c.write(scratch, append(slices.Clone(x.data), 0), nil)
			c.do("lua_getfield", c.table, scratch)
			said = append(said, result{v: c.number()})
			c.pop(1)
		}
	}
	c.pop(1)
	return said
}

// Guards: identity.go, identity_make.go, identity_find.go. Random programs of calls say, with strings of which some bytes are symbolic, what the stock
// functions say for every value of these bytes: which strings are equal, what a table holds under them, what is in it.
func TestDeferredIdentity(t *testing.T) {
	for _, version := range []string{"5.4", "5.3", "5.2", "5.1"} {
		t.Run(version, func(t *testing.T) {
			p := interpreter(t, "lua", "/usr/bin/lua"+version, "lua_pushlstring", "-e", "io.open('"+opened+"') string.rep('x', 3)")
			b := p.use("deferred-identity")
			state := p.cpu.R[7] // rdi: the first argument
			r := seed.Rand(t)
			alphabet := []byte{'a', 'b'}
			compared, paths := 0, 0
			for round := range 25 {
				var texts []text
				vars := 0
				for range 4 {
					x := text{data: make([]byte, 1+r.IntN(3))}
					x.terms = make([]expr.Ref, len(x.data))
					for i := range x.data {
						x.data[i] = alphabet[r.IntN(2)]
						if vars < 4 && r.IntN(2) == 0 {
							x.terms[i] = p.ctx.Var(fmt.Sprint("t", vars), 8)
							vars++
						}
					}
					if r.IntN(6) == 0 {
						x.tail = 60
					}
					texts = append(texts, x)
				}
				var program [][3]int
				for range 8 {
					program = append(program, [3]int{r.IntN(numOps), r.IntN(len(texts)), r.IntN(len(texts))})
				}
				program = append(program, [3]int{opWalk})
				all := assignments(vars, alphabet)
				want := make([][]result, len(all))
				for k, a := range all {
					want[k] = calls{path: p.fork(p.stock, nil), state: state}.run(program, texts, a, false)
				}
				seen := map[int]bool{}
				for i, first := range all {
					if seen[i] {
						continue
					}
					paths++
					x := calls{path: p.fork(p.models, first), state: state}
					got := x.run(program, texts, first, true)
					for k, a := range all {
						if !x.takes(a) {
							continue
						}
						seen[k] = true
						compared++
						for j := range want[k] {
							if v := x.under(got[j], a); len(got) != len(want[k]) || v != want[k][j].v {
								t.Fatalf("round %d, %v of %+v, values %v: answer %d is %#x, stock %#x", round, program, texts, a, j, v, want[k][j].v)
							}
						}
					}
				}
			}
			t.Logf("%s: %d programs with values, %d paths", b.Name, compared, paths)
			if paths >= compared {
				t.Error("a path for each value: the model does nothing")
			}
		})
	}
}
