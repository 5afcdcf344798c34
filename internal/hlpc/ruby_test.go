package hlpc_test

import (
	osexec "os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"symchef/internal/hlpc"
)

// rubyProgram has what luaProgram has. Its functions have different sizes.
const rubyProgram = `def fib(n)
  return n if n < 2
  fib(n - 1) + fib(n - 2)
end
def counter
  n = 0
  lambda { n += 1; raise ArgumentError, 'full' if n > 3; n }
end
def squares(n)
  Enumerator.new { |y| i = 0; while i < n do y << i * i; i += 1 end }
end
sum = 0
5.times { |i| if i.even? then sum += i else sum -= 1 end }
e = squares(4)
sum += e.next + e.next + e.next
c = counter
ok = true
while ok
  begin
    c.call
  rescue ArgumentError
    ok = false
  ensure
    sum += 1
  end
end
puts fib(6), sum, ok
`

// TestRuby compares the steps of a program with what ruby --dump=insns lists.
func TestRuby(t *testing.T) {
	const ruby = "/usr/bin/ruby3.1"
	r, _ := calibrate(t, ruby)
	path := programFile(t, "program.rb", rubyProgram)
	listing, err := osexec.Command(ruby, "--disable=gems", "--dump=insns", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	bySize := map[uint64]*function{}
	for _, f := range rubyFunctions(string(listing)) {
		size := f.code[len(f.code)-1].offset + 8 // it ends with leave or throw, and that with one operand
		if f.code[len(f.code)-1].name == "throw" {
			size += 8
		}
		if bySize[size] != nil {
			t.Fatalf("%s and %s have the same size", f.name, bySize[size].name)
		}
		bySize[size] = f
	}
	steps, out := record(t, r, ruby, "--disable=gems", path)
	if want := "8\n13\nfalse\n"; out != want {
		t.Errorf("output %q, want %q", out, want)
	}
	// Iseqs of the interpreter's own library may have the size of one of the program's: the program's is that whose
	// first steps are at its instructions' offsets throughout.
	own := map[hlpc.Digest]*function{}
	for _, s := range steps {
		f, seen := own[s.Code.Digest]
		if !seen {
			f = bySize[s.Code.Size]
		}
		if f != nil {
			if _, ok := f.index[s.Offset]; !ok {
				f = nil
			}
		}
		own[s.Code.Digest] = f
	}
	walk(t, steps, func(s step) *function { return own[s.Code.Digest] }, func(_ *function, i int) bool { return i == 0 })
	for _, f := range bySize {
		want, known := map[string]int{"fib": 25, "counter": 1, "squares": 1, "block in counter": 4, "block in <main>": 5, "<main>": 1}[f.name]
		if known && f.calls != want || f.calls == 0 && !strings.HasPrefix(f.name, "ensure in") {
			t.Errorf("%s was called %d times, want %d", f.name, f.calls, want)
		}
	}
	again, _ := record(t, r, append([]string{ruby, "--disable=gems", path}, strings.Fields(strings.Repeat("argument ", 500))...)...)
	if len(again) < len(steps) {
		t.Fatalf("%d steps at other addresses, %d before", len(again), len(steps))
	}
	if !sameTrace(t, steps, again[len(again)-len(steps):]) {
		t.Error("the addresses are the same")
	}
}

var (
	rubyHead = regexp.MustCompile(`^== disasm: #<ISeq:(.*)@`)
	rubyLine = regexp.MustCompile(`^(\d{4}) (\w+)(?: +(\d+)(?:,|\s|$))?`)
	rubyCont = regexp.MustCompile(`cont: (\d{4})`)
)

// rubyFunctions parses what ruby --dump=insns prints. Its offsets are in words.
func rubyFunctions(listing string) (out []*function) {
	at := map[int]*function{} // by depth: handlers are shown within what they belong to
	targets, conts := map[*function]map[int]uint64{}, map[*function][]uint64{}
	for _, line := range strings.Split(listing, "\n") {
		depth := strings.Count(line[:len(line)-len(strings.TrimLeft(line, "| "))], "|")
		line = strings.TrimLeft(line, "| ")
		f := at[depth]
		if h := rubyHead.FindStringSubmatch(line); h != nil {
			f = &function{name: h[1], index: map[uint64]int{}, after: rubyAfter}
			at[depth] = f
			targets[f] = map[int]uint64{}
			out = append(out, f)
		} else if m := rubyLine.FindStringSubmatch(line); m != nil {
			off, _ := strconv.ParseUint(m[1], 10, 64)
			f.index[8*off] = len(f.code)
			if strings.HasPrefix(m[2], "branch") || m[2] == "jump" || m[2] == "opt_getinlinecache" {
				targets[f][len(f.code)], _ = strconv.ParseUint(m[3], 10, 64)
			}
			f.code = append(f.code, instruction{8 * off, m[2], -1})
		}
		if c := rubyCont.FindStringSubmatch(line); c != nil {
			f := at[depth-1]
			off, _ := strconv.ParseUint(c[1], 10, 64)
			conts[f] = append(conts[f], 8*off)
		}
	}
	for _, f := range out {
		for i, off := range targets[f] {
			f.code[i].jump = f.index[8*off]
		}
		for _, off := range conts[f] {
			f.extra = append(f.extra, f.index[off])
		}
	}
	return out
}

func rubyAfter(f *function, i int) []int {
	switch c := f.code[i]; {
	case c.name == "leave", c.name == "throw":
		return nil
	case c.name == "jump":
		return []int{c.jump}
	case c.jump >= 0:
		return []int{i + 1, c.jump}
	}
	return []int{i + 1}
}
