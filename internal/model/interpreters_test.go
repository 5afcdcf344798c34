package model_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"symchef/internal/exec"
	"symchef/internal/expr"
	"symchef/internal/guest"
	"symchef/internal/model"
	"symchef/internal/seed"
)

// Interpreters with a script that opens the file of process_test.go and then comes to a function.

func python(t *testing.T) *process {
	return pythonAt(t, "/usr/bin/python3.11", "PyUnicode_InternInPlace")
}

// pythonAt holds a CPython where it is about to make a string.
func pythonAt(t *testing.T, path, until string) *process {
	return interpreter(t, "python", path, until, "-S", "-c", "import sys\ntry: open('"+opened+"')\nexcept OSError: pass\nsys.intern('a' * 5)")
}

func gnuR(t *testing.T) *process {
	return interpreter(t, "r", "/usr/bin/R", "Rf_mkCharLenCE", "--no-echo", "--no-restore", "--vanilla", "-e", "invisible(file.exists('"+opened+"')); paste('a', 'b')")
}

// Guards: decimal.go. The stock function and the model give the same for all small numbers, at every power of ten and beside it,
// and for random numbers of every size below the bound.
func TestDecimalWidth(t *testing.T) {
	p := gnuR(t)
	width := p.use("decimal-width").Places["width"][0]
	const most = 100_000_000_000_000
	numbers := []uint64{most - 1}
	for n := range uint64(3000) {
		numbers = append(numbers, n)
	}
	r := seed.Rand(t)
	for power := uint64(10); power < most; power *= 10 {
		numbers = append(numbers, power-1, power, power+1)
		for range 40 {
			numbers = append(numbers, power+r.Uint64N(9*power))
		}
	}
	n := p.ctx.Var("n", 64)
	x := p.fork(p.models, expr.Assignment{5})
	got := x.callWith(width, result{5, n})
	if got.r == 0 {
		t.Fatal("the result does not depend on the number")
	}
	stock := p.fork(p.stock, nil)
	for _, v := range numbers {
		a := expr.Assignment{v}
		if !x.takes(a) {
			t.Fatalf("%d takes another path", v)
		}
		if want, v2 := uint32(stock.call(width, v).v), uint32(x.under(got, a)); v2 != want {
			t.Fatalf("%d has %d digits by the model, %d by the code", v, v2, want)
		}
	}
	// Beyond the bound it is the code that runs.
	if x := p.fork(p.models, expr.Assignment{most}); x.takes(expr.Assignment{5}) {
		x.callWith(width, result{most, n})
		if x.takes(expr.Assignment{5}) {
			t.Errorf("a path for %d is that for 5", uint64(most))
		}
	}
}

// Guards: unshared.go. Of symbolic bytes, in every encoding, the model makes the object that the stock function makes of each of
// their values, but for the mark of the table of strings; the interpreter says of it that it is equal to the stock object of the same content, and to no
// other; and where the stock function raises an error it is the stock function that runs.
func TestUnshared(t *testing.T) {
	p := gnuR(t)
	b := p.use("unshared")
	match := p.function("Rf_NonNullStringMatch")
	const from = scratch + 0x100
	n := b.Numbers
	compared := 0
	for _, tail := range []string{"", "x", "\xc3\xa9"} {
		for _, encoding := range []uint64{0, 1, 2, 3} {
			for size := 1; size <= 2; size++ {
				var terms []expr.Ref
				for i := range size {
					terms = append(terms, p.ctx.Var(fmt.Sprint("u", i), 8))
				}
				length := size + len(tail)
				content := func(a expr.Assignment) []byte { return append(bytesOf(a), tail...) }
				all := assignments(size, []byte{'a', 'b', 0x7f, 0x80, 0xe9})
				seen := map[int]bool{}
				for i, first := range all {
					if seen[i] {
						continue
					}
					x := p.fork(p.models, first)
					x.write(from, content(first), append(slices.Clone(terms), make([]expr.Ref, len(tail))...))
					made := x.call(b.Slot, from, uint64(length), encoding).v
					object, err := x.mem().ReadSym(made+n["payload"], length+1)
					if err != nil {
						t.Fatal(err)
					}
					others := map[int]result{} // what the interpreter says of the stock object of another content
					for k, a := range all {
						// In this path, so that one interpreter has both.
						x.write(from, content(a), nil)
						other := x.call(b.Slot, from, uint64(length), encoding).v
						others[k] = x.call(match, made, other)
					}
					for k, a := range all {
						if !x.takes(a) {
							continue
						}
						seen[k] = true
						compared++
						stock := p.fork(p.stock, nil)
						stock.write(from, content(a), nil)
						want := stock.call(b.Slot, from, uint64(length), encoding).v
						for i := range length + 1 {
							v := uint64(object.Data[i])
							if object.Sym != nil && object.Sym[i] != 0 {
								v = p.ctx.Eval(object.Sym[i], a)
							}
							if v != stock.word(want+n["payload"]+uint64(i), 1) {
								t.Fatalf("%q: byte %d is %#x", content(a), i, v)
							}
						}
						// Flags and length. The mark is bit 5 (Defn.h, CACHED_MASK); bit 0 says that a symbol has kept its name's hash there.
						const mark, hashed = 1 << 5, 1
						if got, want := x.word(made+n["flags"], 2), stock.word(want+n["flags"], 2); got|mark != want&^hashed || got&(mark|hashed) != 0 {
							t.Fatalf("%q, encoding %d: flags %#x, stock %#x", content(a), encoding, got, want)
						}
						if got, want := x.word(made+0x20, 8), stock.word(want+0x20, 8); got != want {
							t.Fatalf("%q: length %d, stock %d", content(a), got, want)
						}
						if got := x.under(others[k], a); uint32(got) == 0 {
							t.Fatalf("%q is not equal to the stock string of the same content", content(a))
						}
						for k2, a2 := range all {
							if k2 != k && uint32(x.under(others[k2], a)) != 0 {
								t.Fatalf("%q is equal to %q", content(a), content(a2))
							}
						}
					}
				}
			}
		}
	}
	t.Logf("%d strings", compared)
	// A NUL is an error that the stock function raises: the model is not had on a path where there is one.
	x := p.fork(p.models, expr.Assignment{'a'})
	x.write(from, []byte("a"), []expr.Ref{p.ctx.Var("u0", 8)})
	x.call(b.Slot, from, 1, 0)
	if x.takes(expr.Assignment{0}) {
		t.Error("a string with a NUL takes the path of one without")
	}
}

// Guards: hash.go. Both the stock function and the model give equal strings equal hashes, wherever they stand, and never -1; the model's machine
// code computes what the model does; and a table keyed by symbolic bytes holds and finds what the stock table does, for every value.
func TestHashLength(t *testing.T) {
	p := python(t)
	b := p.use("hash-length")
	_, i := p.binding(b.Name)
	own := model.Address(i)
	stock, x := p.fork(p.stock, nil), p.fork(p.models, nil)
	hash := stock.word(b.Slot, 8)
	code := p.fork(p.stock, nil)
	const codeAt = 0x20000
	if err := code.mem().Map(codeAt, 0x1000, guest.ProtRead|guest.ProtExec, nil, 0, "code"); err != nil {
		t.Fatal(err)
	}
	if err := code.mem().Poke(codeAt, b.Kind().Native); err != nil {
		t.Fatal(err)
	}
	r := seed.Rand(t)
	var contents [][]byte
	for size := range 4 {
		for _, a := range assignments(size, []byte{0, 'a', 'b', 0xff}) {
			contents = append(contents, bytesOf(a))
		}
	}
	for range 300 {
		long := make([]byte, r.IntN(200))
		for i := range long {
			long[i] = byte(r.Uint32())
		}
		contents = append(contents, long)
	}
	for _, text := range contents {
		for _, call := range []func(at uint64) uint64{
			func(at uint64) uint64 { return stock.call(hash, at, uint64(len(text))).v },
			func(at uint64) uint64 { return x.call(own, at, uint64(len(text))).v },
		} {
			var got [2]uint64
			for k, at := range []uint64{scratch, scratch + 0x803} {
				stock.write(at, text, nil)
				x.write(at, text, nil)
				got[k] = call(at)
			}
			if got[0] != got[1] || got[0] == 1<<64-1 {
				t.Fatalf("%q: hashes %#x", text, got)
			}
		}
		if got, want := code.call(codeAt, scratch, uint64(len(text))).v, x.call(own, scratch, uint64(len(text))).v; got != want {
			t.Fatalf("length %d: %#x by machine code, %#x by the model", len(text), got, want)
		}
	}
	p.tables(r.IntN, b.Slot, own)
}

// tables runs random programs of calls that put, find and delete keys of two or three bytes, of which some are symbolic, in a table of the interpreter.
func (p *process) tables(random func(int) int, slot, own uint64) {
	t := p.t
	fromBytes, newDict := p.function("PyBytes_FromStringAndSize"), p.function("PyDict_New")
	put, get, del, size := p.function("PyDict_SetItem"), p.function("PyDict_GetItem"), p.function("PyDict_DelItem"), p.function("PyDict_Size")
	clearError, number := p.function("PyErr_Clear"), p.function("PyLong_FromLong")
	alphabet := []byte{'a', 'b'}
	compared, paths := 0, 0
	for round := range 12 {
		type key struct {
			data  [3]byte
			n     int
			terms [3]expr.Ref
		}
		var keys []key
		vars := 0
		for range 3 {
			k := key{n: 2 + random(2)}
			for i := range k.n {
				k.data[i] = alphabet[random(2)]
				if vars < 4 && random(2) == 0 {
					k.terms[i] = p.ctx.Var(fmt.Sprint("k", vars), 8)
					vars++
				}
			}
			keys = append(keys, k)
		}
		var program [][2]int // operation and key
		for range 10 {
			program = append(program, [2]int{random(3), random(len(keys))})
		}
		// run makes the calls, and returns what they say.
		run := func(x *path, a expr.Assignment, symbolic bool) (said []result) {
			dict := x.call(newDict).v
			for i, op := range program {
				k := keys[op[1]]
				data := slices.Clone(k.data[:k.n])
				for i, r := range k.terms[:k.n] {
					if r != 0 {
						data[i] = byte(p.ctx.Eval(r, a))
					}
				}
				terms := slices.Clone(k.terms[:k.n])
				if !symbolic {
					terms = nil
				}
				x.write(scratch, data, nil)
				bytes := x.call(fromBytes, scratch, uint64(k.n)).v
				x.write(bytes+32, data, terms) // ob_sval
				switch op[0] {
				case 0:
					said = append(said, x.call(put, dict, bytes, x.call(number, uint64(i)).v))
				case 1:
					if at := x.call(get, dict, bytes); at.v != 0 {
						said = append(said, result{v: x.word(at.v+24, 4)}) // the number's digit
					} else {
						said = append(said, at)
					}
				case 2:
					gone := x.call(del, dict, bytes)
					if x.call(clearError); gone.r != 0 {
						t.Fatal("a deletion that is neither done nor not")
					}
					said = append(said, result{v: gone.v & 0xffffffff})
				}
			}
			return append(said, x.call(size, dict))
		}
		all := assignments(vars, alphabet)
		seen := map[int]bool{}
		for i, first := range all {
			if seen[i] {
				continue
			}
			paths++
			x := p.fork(p.models, first)
			if err := x.mem().Poke(slot, binary.LittleEndian.AppendUint64(nil, own)); err != nil {
				t.Fatal(err)
			}
			got := run(x, first, true)
			for k, a := range all {
				if !x.takes(a) {
					continue
				}
				seen[k] = true
				compared++
				want := run(p.fork(p.stock, nil), a, false)
				for j := range want {
					if v := x.under(got[j], a); uint32(v) != uint32(want[j].v) {
						t.Fatalf("round %d, %v with keys %+v, values %v: call %d says %d, stock %d", round, program, keys, a, j, v, want[j].v)
					}
				}
			}
		}
	}
	t.Logf("%d programs with values, %d paths", compared, paths)
}

// Guards: intern.go. A string that is not interned, because it is symbolic, is equal to the strings that it was equal to, for every value of its
// characters, and no error is left behind. On every version that is installed.
func TestUninterned(t *testing.T) {
	for _, name := range []string{"uninterned", "decline-symbolic"} { // each does without the other there
		t.Run("3.11 "+name, func(t *testing.T) { uninterned(t, python(t), name) })
	}
	others, _ := filepath.Glob(os.Getenv("HOME") + "/.pyenv/versions/3.[189]*/bin/python3") // from 3.8 on
	for _, path := range others {
		for _, name := range []string{"uninterned", "decline-symbolic"} {
			t.Run(path+" "+name, func(t *testing.T) { uninterned(t, pythonAt(t, path, "PyUnicode_New"), name) })
		}
	}
	if len(others) == 0 {
		t.Log("skipped: pyenv has no version of CPython")
	}
}

// Guards: newDeclined. Of a string with symbolic characters the look-up in the table that all interpreters of a process share finds none, and the functions that
// add to the dict of interned strings say that they cannot, each in its way, without a split; for concrete ones they do what they do. On every version that has
// such a table.
func TestDeclined(t *testing.T) {
	others, _ := filepath.Glob(os.Getenv("HOME") + "/.pyenv/versions/3.1*/bin/python3")
	tables := 0
	for _, path := range others {
		p := pythonAt(t, path, "PyUnicode_New")
		b := p.use("decline-symbolic")
		if b.Places["shared"] == nil {
			continue
		}
		tables++
		const text = "__init__"
		look := func(m *exec.Machine, symbolic bool, fn, variable uint64) uint64 {
			x := p.fork(m, expr.Assignment{})
			x.write(scratch, []byte(text), nil)
			at := x.call(p.function("PyUnicode_FromStringAndSize"), scratch, uint64(len(text))).v
			if symbolic {
				terms := make([]expr.Ref, len(text))
				for i := range terms {
					terms[i] = p.ctx.Var(fmt.Sprint("d", i), 8)
					x.s.Model = append(x.s.Model, uint64(text[i]))
				}
				x.write(at+b.Numbers["payload"], []byte(text), terms)
			}
			got := x.call(fn, x.word(variable, 8), at, at, scratch+0x100)
			if x.s.Path != nil || got.r != 0 {
				t.Fatalf("%s: the path splits", path)
			}
			return got.v
		}
		for _, c := range []struct{ fn, variable, declined uint64 }{
			{b.Places["lookup"][0], b.Places["shared"][0], 0}, {b.Entry, b.Slot, 0}, {p.names["PyDict_SetDefaultRef"], b.Slot, ^uint64(0)},
		} {
			if c.fn == 0 {
				continue // not exported
			}
			want := look(p.stock, false, c.fn, c.variable)
			if got := look(p.models, false, c.fn, c.variable); int32(want) == int32(c.declined) || (got == 0) != (want == 0) {
				t.Errorf("%s: %#x says %#x of a concrete string, with the model %#x", path, c.fn, want, got)
			}
			if got := look(p.models, true, c.fn, c.variable); int32(got) != int32(c.declined) {
				t.Errorf("%s: %#x says %#x of a symbolic string", path, c.fn, got)
			}
		}
	}
	if tables == 0 {
		t.Skip("skipped: pyenv has no version of CPython with a table that interpreters share")
	}
}

// uninterned tries the functions that intern with one of the models.
func uninterned(t *testing.T, p *process, name string) {
	p.use(name)
	b, _ := p.binding("uninterned")
	for _, at := range []uint64{b.Slot, b.Places["intern-forever"][0]} {
		uninternedBy(t, p, b, at)
	}
}

// uninternedBy tries one of the functions.
func uninternedBy(t *testing.T, p *process, b model.Binding, at uint64) {
	intern := func(x *path, cell uint64) {
		if state := p.names["_PyUnicode_InternMortal"]; state != 0 {
			x.call(at, x.call(p.function("PyInterpreterState_Get")).v, cell)
		} else {
			x.call(at, cell)
		}
	}
	fromText, compare := p.function("PyUnicode_FromStringAndSize"), p.function("PyObject_RichCompareBool")
	erred := p.function("PyErr_Occurred")
	const (
		text = scratch
		cell = scratch + 0x100 // the variable that holds the string
		eq   = 2               // Py_EQ
	)
	payload := b.Numbers["payload"]
	all := assignments(3, []byte{'a', 'b', 'q'})
	terms := []expr.Ref{p.ctx.Var("c0", 8), p.ctx.Var("c1", 8), p.ctx.Var("c2", 8)}
	make3 := func(x *path, a expr.Assignment, symbolic bool) uint64 {
		x.write(text, bytesOf(a), nil)
		at := x.call(fromText, text, 3).v
		if symbolic {
			x.write(at+payload, bytesOf(a), terms)
		}
		x.write(cell, binary.LittleEndian.AppendUint64(nil, at), nil)
		intern(x, cell)
		if x.call(erred).v != 0 {
			t.Fatal("interning leaves an error")
		}
		return x.word(cell, 8)
	}
	// Two equal strings are one object when both are concrete, in the machine of models, too: so the model declines there.
	for _, m := range []*path{p.fork(p.stock, nil), p.fork(p.models, nil)} {
		if one, two := make3(m, all[1], false), make3(m, all[1], false); one != two {
			t.Fatal("concrete strings are not interned")
		}
	}
	seen := map[int]bool{}
	paths := 0
	for i, first := range all {
		if seen[i] {
			continue
		}
		paths++
		x := p.fork(p.models, first)
		first3 := make3(x, first, true)
		if x.s.Path != nil {
			t.Fatal("interning splits the path")
		}
		var says []result
		for _, a := range all {
			says = append(says, x.call(compare, first3, make3(x, a, false), eq))
		}
		for k, a := range all {
			if !x.takes(a) {
				continue
			}
			seen[k] = true
			for k2 := range all {
				stock := p.fork(p.stock, nil)
				want := stock.call(compare, make3(stock, a, false), make3(stock, all[k2], false), eq)
				if got := x.under(says[k2], a); uint32(got) != uint32(want.v) {
					t.Fatalf("%q against %q: %d, stock %d", bytesOf(a), bytesOf(all[k2]), got, want.v)
				}
			}
		}
	}
	t.Logf("%d values, %d paths", len(seen), paths)
}
