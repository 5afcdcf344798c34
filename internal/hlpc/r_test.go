package hlpc_test

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	osexec "os/exec"
	"slices"
	"strings"
	"testing"

	"symchef/internal/hlpc"
	"symchef/internal/kernel"
	"symchef/internal/testcase"
)

// rProgram has what luaProgram has but coroutines, which R has not. The two arguments in fib differ in a constant alone.
const rProgram = `fib <- function(n) {
  if (n < 2) return(n)
  fib(n - 1) +
    fib(n - 2)
}
counter <- function() {
  n <- 0
  function() {
    n <<- n + 1
    if (n > 3)
      stop("full")
    n
  }
}
bump <- function(x) x + 1
lower <- function(x, y, z) x[[y]] - z
pick <- function(k) switch(k, a = 1, b = {
  2
}, 3)
main <- function() {
  sum <- 0
  for (i in 1:5) {
    if (i %% 2 == 0 && i > 0)
      sum <- sum + i
    else
      sum <- sum - 1
  }
  k <- 0
  while (TRUE) {
    k <- k + 1
    if (k > 4) break
    if (k == 2 || k == 3) next
  }
  v <- c(3, 1, 2)
  v[2] <- bump(v[1])
  step <- counter()
  ok <- TRUE
  while (ok) {
    ok <- tryCatch({
      step()
      TRUE
    }, error = function(e) FALSE)
  }
  paste(fib(6), sum, k, ok, v[2], pick("b"), lower(v, 1, 1))
}
`

// rLister prints the compiled functions as JSON: for each its words, numbers and names of opcodes, and the line of each word.
const rLister = `
words <- function(d, name) {
  code <- d[[2]]; consts <- d[[3]]
  index <- NULL
  for (k in consts) if (inherits(k, "srcrefsIndex")) index <- unclass(k)
  lines <- if (is.null(index)) integer() else vapply(index, function(i) if (is.na(i)) 0L else consts[[i + 1]][1], 0L)
  op <- vapply(code, is.symbol, NA)
  cat(sprintf('{"name":"%s","words":[%s],"lines":[%s]}\n', name,
    paste(ifelse(op, sprintf('"%s"', vapply(code, as.character, "")), vapply(code, as.character, "")), collapse = ","), paste(lines, collapse = ",")))
  for (k in consts) {
    if (typeof(k) == "list" && length(k) == 3 && identical(k[[1]], as.name(".Code"))) words(k, paste0(name, "/promise"))
    # a closure that is made: formals, code, source
    if (typeof(k) == "list" && length(k) >= 2 && typeof(k[[2]]) == "list" && identical(k[[2]][[1]], as.name(".Code"))) words(k[[2]], paste0(name, "/closure"))
    if (typeof(k) == "list" && length(k) >= 2 && typeof(k[[2]]) == "bytecode") words(compiler::disassemble(k[[2]]), paste0(name, "/closure"))
  }
}
for (n in names) words(compiler::disassemble(get(n)), n)
`

// rFunction is a function as rLister prints it.
type rFunction struct {
	Name  string
	Words []any // operands are numbers, opcodes names
	Lines []int
}

// rLabels says which operand of an opcode is the number of the word that it may jump to.
var rLabels = map[string]int{
	"GOTO": 1, "BRIFNOT": 2, "STARTFOR": 3, "STEPFOR": 1, "AND1ST": 2, "OR1ST": 2, "STARTLOOPCNTXT": 2,
	"STARTSUBSET_N": 2, "STARTSUBASSIGN_N": 2, "STARTSUBSET2_N": 2, "STARTSUBASSIGN2_N": 2, "DFLTSUBSET2": 2,
}

func (r *rFunction) function() *function {
	f := &function{name: r.Name, index: map[uint64]int{}, after: rAfter}
	for i, w := range r.Words {
		if name, op := w.(string); op {
			f.index[uint64(8*i)] = len(f.code)
			f.code = append(f.code, instruction{uint64(8 * i), strings.TrimSuffix(name, ".OP"), -1})
		}
	}
	for k := range f.code {
		in := &f.code[k]
		if n := rLabels[in.name]; n != 0 {
			in.jump = f.index[8*uint64(r.Words[int(in.offset/8)+n].(float64))]
		}
	}
	return f
}

// rAfter lists what may follow instruction i.
func rAfter(f *function, i int) []int {
	switch c := f.code[i]; {
	case c.name == "RETURN":
		return nil
	case c.name == "GOTO", c.name == "STARTFOR":
		return []int{c.jump}
	case c.name == "SWITCH": // its labels are among the constants
		all := []int{}
		for k := range f.code {
			all = append(all, k)
		}
		return all
	case c.jump >= 0:
		return []int{i + 1, c.jump}
	}
	return []int{i + 1}
}

// is reports whether the words in memory are r's. Opcodes are handlers there; those of one name are the same, at.
func (r *rFunction) is(words []byte, at map[string]uint64) bool {
	if len(words) != 8*len(r.Words) {
		return false
	}
	for i, w := range r.Words {
		got := binary.LittleEndian.Uint64(words[8*i:])
		switch w := w.(type) {
		case float64:
			if uint32(got) != uint32(int32(w)) {
				return false
			}
		case string:
			if h, known := at[w]; known && h != got {
				return false
			}
		}
	}
	return true
}

// rTrace is what a run of a program executes of the functions that are listed.
type rTrace struct {
	steps  []step // all
	own    map[hlpc.Digest]*rFunction
	labels map[hlpc.Digest]hlpc.Label
	out    string
}

// recordR runs a script whose functions come from a program.
func recordR(t *testing.T, r *hlpc.Result, listed []*rFunction, program string, env, argv []string) *rTrace {
	t.Helper()
	x := &rTrace{own: map[hlpc.Digest]*rFunction{}, labels: map[hlpc.Digest]hlpc.Label{}}
	handlers := map[string]uint64{}
	tracer := &hlpc.Tracer{Result: r, OnCode: func(d hlpc.Digest, l hlpc.Label) { x.labels[d] = l }}
	tracer.OnStep = func(sys *kernel.System, s *hlpc.Step) {
		x.steps = append(x.steps, step{Step: *s})
		l := x.labels[s.Code.Digest]
		if _, seen := x.own[s.Code.Digest]; seen || l.File != program {
			return
		}
		words := make([]byte, s.Code.Size)
		if err := sys.CurrentProcess().Mem.Read(s.Code.Start, words); err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(listed, func(f *rFunction) bool {
			return f.is(words, handlers) && slices.Equal(f.Lines, linesOf(l, len(words)/8))
		})
		if i < 0 {
			t.Fatalf("code of %d words with lines %v is not listed", len(words)/8, linesOf(l, len(words)/8))
		}
		x.own[s.Code.Digest] = listed[i]
		for k, w := range listed[i].Words {
			if name, op := w.(string); op {
				handlers[name] = binary.LittleEndian.Uint64(words[8*k:])
			}
		}
	}
	x.out = trace(t, tracer, env, argv)
	return x
}

// linesOf are the lines of n words.
func linesOf(l hlpc.Label, n int) (out []int) {
	for i := range n {
		out = append(out, l.Line(uint32(8*i)))
	}
	return out
}

// TestR compares the steps of a program with what R's own disassembler lists, and their lines with its source references.
func TestR(t *testing.T) {
	const path = "/usr/bin/R"
	r, cal := calibrate(t, path)
	program := programFile(t, "program.R", rProgram)
	load := fmt.Sprintf(`for (e in parse(%q, keep.source = TRUE)) eval(e)
names <- c("fib", "counter", "bump", "lower", "pick", "main")
for (n in names) assign(n, compiler::cmpfun(get(n)))
`, program)
	list, run := programFile(t, "list.R", load+rLister), programFile(t, "run.R", load+"cat(main(), '\\n')\n")
	listing, err := osexec.Command(path, "--vanilla", "--no-echo", "-f", list).Output()
	if err != nil {
		t.Fatal(err)
	}
	var listed []*rFunction
	functions := map[*rFunction]*function{}
	for _, line := range strings.Split(string(listing), "\n") {
		if strings.HasPrefix(line, "{") {
			f := &rFunction{}
			if err := json.Unmarshal([]byte(line), f); err != nil {
				t.Fatal(err)
			}
			listed = append(listed, f)
			functions[f] = f.function()
		}
	}

	env := testcase.PinEnv(cal.Environ([]string{"PATH=/usr/bin:/bin"}))
	x := recordR(t, r, listed, program, env, []string{path, "--vanilla", "--no-echo", "-f", run})
	if want := "8 3 5 FALSE 4 2 2 \n"; x.out != want {
		t.Errorf("output %q, want %q", x.out, want)
	}
	names, handlers := map[uint64]string{}, map[string]uint64{}
	walk(t, x.steps, func(s step) *function {
		f := functions[x.own[s.Code.Digest]]
		if f != nil {
			// One handler for each opcode.
			name := f.code[f.index[s.Offset]].name
			if old, known := names[s.Handler]; known && old != name {
				t.Fatalf("handler %#x is of %s and %s", s.Handler, old, name)
			}
			if old, known := handlers[name]; known && old != s.Handler {
				t.Fatalf("%s has handlers %#x and %#x", name, old, s.Handler)
			}
			names[s.Handler], handlers[name] = name, s.Handler
		}
		return f
	}, func(_ *function, i int) bool { return i == 0 })
	for f, fn := range functions {
		if want := map[string]int{"fib": 25, "main": 1, "counter": 1, "counter/closure": 4, "bump": 1, "lower": 1, "pick": 1}[f.Name]; want != 0 && fn.calls != want {
			t.Errorf("%s was called %d times, want %d", f.Name, fn.calls, want)
		}
	}
	if len(x.own) != len(listed) {
		t.Errorf("%d functions are listed, %d digests were executed", len(listed), len(x.own))
	}

	// The same program where its objects lie elsewhere.
	moved := programFile(t, "moved.R", "junk <- lapply(1:5000, function(i) c(i, i))\n"+load+"cat(main(), '\\n')\n")
	y := recordR(t, r, listed, program, env, []string{path, "--vanilla", "--no-echo", "-f", moved})
	if !sameTrace(t, x.ownSteps(), y.ownSteps()) {
		t.Error("the addresses are the same")
	}
}

// ownSteps are the steps in functions that are listed.
func (x *rTrace) ownSteps() (out []step) {
	for _, s := range x.steps {
		if x.own[s.Code.Digest] != nil {
			out = append(out, s)
		}
	}
	return out
}
