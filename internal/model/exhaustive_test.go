package model_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"symchef/internal/expr"
	"symchef/internal/interp"
	"symchef/internal/kernel"
	"symchef/internal/model"
)

// Guards: libc.go, scan.go, search.go, compare.go. A model's term has, for every value of its symbolic operands over a small alphabet, the
// value that glibc's code leaves in rax, executed in the machine on these bytes: all strings of up to three characters, all limits, at a
// place where memory ends behind them, and one page before.
func TestLibcExhaustive(t *testing.T) {
	const program = "/bin/true"
	p := hold(t, program, "", kernel.Config{Path: program, Argv: []string{program}})
	space := p.sys.CurrentProcess().Mem
	var objects []interp.Loaded
	for _, a := range space.Areas() {
		if a.Off == 0 && a.Back != nil {
			objects = append(objects, interp.Loaded{Path: a.Name, Base: a.Start})
		}
	}
	names := model.Of("early-exit").Imports
	at, why := (&interp.Image{Path: program}).Bound(names, objects, func(a uint64) (uint64, error) { return space.ReadU(a, 8) })
	if len(why) != 0 {
		t.Fatal(why)
	}
	alphabet := []byte{0, 1, 'a', 0x80}
	const size = 3 // of the symbolic bytes of an operand; a NUL is behind
	var terms [2][]expr.Ref
	for k := range terms {
		for i := range size {
			terms[k] = append(terms[k], p.ctx.Var(fmt.Sprint("v", k, i), 8))
		}
	}
	key, limit := p.ctx.Var("key", 8), p.ctx.Var("limit", 8)
	strings1 := assignments(size, alphabet)
	compared, handled := 0, map[string]int{}
	stock := p.fork(p.stock, nil)
	for _, name := range names {
		p.models.Hooks[at[name]] = model.EarlyExit(name, *space.Find(at[name]))
		compares, sets := strings.Contains(name, "cmp"), strings.Contains(name, "spn") || name == "strpbrk"
		limited := slices.Contains([]string{"memcmp", "strncmp", "memchr", "memrchr", "strnlen"}, name)
		for _, end := range []uint64{scratch + scratchN, scratch + 0x1000} {
			first, other := end-size-1, end-0x800-size-1
			if end == scratch+scratchN {
				other = scratch + 0x1000 - size - 1
			}
			// An operand that is a set is concrete; a limit and a byte that is looked for may be either.
			seconds := []expr.Assignment{nil}
			if sets {
				seconds = strings1
			}
			for _, set := range seconds {
				for n := -1; n <= size+1; n++ { // -1: the limit is symbolic
					if !limited && n > 0 {
						continue
					}
					x := p.fork(p.models, make(expr.Assignment, 2*size+2))
					x.write(first, make([]byte, size+1), append(slices.Clone(terms[0]), 0))
					args := []result{{v: first}, {v: other}, {v: uint64(max(n, 0))}}
					switch {
					case sets:
						x.write(other, bytesOf(set), nil)
					case compares:
						x.write(other, make([]byte, size+1), append(slices.Clone(terms[1]), 0))
					case n == -1:
						args[1].r = p.ctx.ZExt(key, 64)
						args[1].v = 0
					default:
						args[1].v = 'a'
					}
					if n == -1 && limited {
						// A small table has a bound that a variable has not.
						sym := p.ctx.ZExt(p.ctx.And(limit, p.ctx.Const(3, 8)), 64)
						args[2] = result{0, sym}
						if name == "strnlen" {
							args[1] = result{0, sym}
						}
					} else if name == "strnlen" {
						args[1] = result{v: uint64(max(n, 0))}
					}
					got := x.callWith(at[name], args...)
					if x.s.Path != nil {
						continue // it was the code that ran
					}
					handled[name]++
					for _, a := range strings1 {
						seconds := []expr.Assignment{make(expr.Assignment, size)}
						if compares && (n == -1 || n == size) {
							seconds = strings1
						} else if compares {
							seconds = strings1[:16]
						}
						for _, b := range seconds {
							for _, k := range alphabet {
								whole := slices.Concat(a, b, expr.Assignment{uint64(k), uint64(k) & 3})
								stock.write(first, append(bytesOf(a), 0), nil)
								concrete := []uint64{args[0].v, stock.under(args[1], whole), stock.under(args[2], whole)}
								if sets {
									stock.write(other, append(bytesOf(set), 0), nil)
								} else {
									stock.write(other, append(bytesOf(b), 0), nil)
								}
								want := stock.call(at[name], concrete...)
								v := x.under(got, whole)
								same := v == want.v
								if name == "memcmp" {
									same = sign(v) == sign(want.v) && v == difference(append(bytesOf(a), 0), append(bytesOf(b), 0), concrete[2])
								}
								if !same {
									t.Fatalf("%s of %q, %q (set %q), operands %#x: the model has %#x, the code %#x", name, bytesOf(a), bytesOf(b), bytesOf(set), concrete, v, want.v)
								}
								compared++
								if n != -1 || compares && !limited || sets {
									break // nothing depends on k
								}
							}
						}
					}
				}
			}
		}
	}
	t.Logf("%d results; handled: %v", compared, handled)
	for _, name := range names {
		if handled[name] == 0 {
			t.Errorf("the model of %s was never asked", name)
		}
	}
}

// difference is what memcmp gives by the model, and by glibc's code for processors with AVX2: that of the first two bytes that differ. Its
// code for others (sysdeps/x86_64/multiarch/memcmp-sse2.S) compares up to 16 bytes as big-endian numbers; what it returns has the sign, which is all
// that C promises.
func difference(a, b []byte, n uint64) uint64 {
	for i := range n {
		if a[i] != b[i] {
			return uint64(uint32(int32(a[i]) - int32(b[i])))
		}
	}
	return 0
}

func sign(v uint64) int { return cmp.Compare(int32(v), 0) }

// bytesOf are the values of variables of a byte each.
func bytesOf(a expr.Assignment) (b []byte) {
	for _, v := range a {
		b = append(b, byte(v))
	}
	return b
}
