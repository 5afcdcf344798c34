package hlpc_test

import (
	osexec "os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"symchef/internal/hlpc"
)

// phpProgram has what luaProgram has. Its functions have different sizes.
const phpProgram = `<?php
class Full extends Exception { }
function fib($n) { return $n < 2 ? $n : fib($n - 1) + fib($n - 2); }
function counter() {
  $n = 0;
  return function () use (&$n) {
    $n++;
    if ($n > 3) throw new Full("full");
    return $n;
  };
}
function squares($n) {
  for ($i = 0; $i < $n; $i++) yield $i * $i;
  yield 1; yield 0;
}
function delegate($n) { yield from squares($n); return 1; }
$sum = 0;
for ($i = 0; $i < 5; $i++) {
  if ($i % 2 == 0) $sum += $i; else $sum -= 1;
}
foreach (delegate(4) as $v) $sum += $v;
$c = counter();
$ok = true;
while ($ok) {
  try { $c(); } catch (LogicException $e) { $sum = 0; } catch (Full $e) { $ok = false; } finally { $sum++; }
}
$words = ['b' => 2, 'a' => 1, 'c' => 3];
foreach ($words as $k => $v) { if ($k === 'a') continue; $sum += $v; }
$list = [3, 1, 2];
usort($list, fn($a, $b) => [$a <=> $b, $a, $b, 4, 5][0]);
$word = $words['z'] ?? 'none';
echo fib(6), " $sum ", $ok ? 'ok' : 'ended', " $word $list[0] ", match (true) { $sum > 100 => 'much', $sum > 10 => 'some', default => 'few' };
`

// TestPHP compares the steps of a program with what opcache lists before it optimises anything.
func TestPHP(t *testing.T) {
	const php = "/usr/bin/php8.2"
	r, _ := calibrate(t, php)
	path := programFile(t, "program.php", phpProgram)
	argv := []string{php, "-n", "-d", "zend_extension=opcache.so", "-d", "opcache.enable_cli=1", "-d", "opcache.file_update_protection=0", "-d", "opcache.optimization_level=0"}
	listing, err := osexec.Command(php, append(argv[1:], "-d", "opcache.opt_debug_level=0x10000", path)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, listing)
	}
	all := phpFunctions(string(listing))
	if len(all) == 0 {
		t.Skipf("skipped: opcache lists nothing: %s", listing)
	}
	bySize := map[uint64]*function{}
	for _, f := range all {
		size := uint64(32 * len(f.code))
		if bySize[size] != nil {
			t.Fatalf("%s and %s have the same size", f.name, bySize[size].name)
		}
		bySize[size] = f
	}
	labels := map[hlpc.Digest]hlpc.Label{}
	run := func(argv ...string) ([]step, string) {
		return recordWith(t, r, func(d hlpc.Digest, l hlpc.Label) { labels[d] = l }, argv...)
	}
	steps, out := run(append(argv, path)...)
	if want := "8 28 ended none 1 some"; out != want {
		t.Errorf("output %q, want %q", out, want)
	}
	find := func(s step) *function {
		if labels[s.Code.Digest].File != path {
			return nil
		}
		f := bySize[s.Code.Size]
		if f == nil {
			t.Fatalf("a code object of %d bytes: %+v", s.Code.Size, s)
		}
		return f
	}
	// What leaves the interpreter's loop, and what handles exceptions, are instructions of no function.
	outside := map[uint64]bool{}
	inside := slices.DeleteFunc(slices.Clone(steps), func(s step) bool {
		if s.Code.Size == 0 {
			outside[s.HLPC] = true
		}
		return s.Code.Size == 0
	})
	if len(outside) != 2 {
		t.Errorf("%d instructions are in no function, want 2", len(outside))
	}
	names, calls := map[uint64]string{}, map[string]int{}
	walk(t, inside, func(s step) *function {
		f := find(s)
		if f == nil {
			return nil
		}
		// A handler is of one opcode; an opcode has one for each kind of operands.
		name := f.code[f.index[s.Offset]].name
		if old, known := names[s.Handler]; known && old != name {
			t.Fatalf("handler %#x is of %s and %s", s.Handler, old, name)
		}
		names[s.Handler] = name
		return f
	}, func(f *function, i int) bool {
		if slices.Contains(f.extra, i) || i > 0 && f.code[i-1].name == "GENERATOR_CREATE" { // a generator goes on in a frame of its own
			return true
		}
		for _, in := range f.code[:i] { // arguments that were passed need not be received
			if in.name != "RECV" {
				return false
			}
		}
		calls[f.name]++
		return true
	})
	for name, want := range map[string]int{"fib": 25, "counter": 1, "squares": 1, "delegate": 1, "$_main": 1} {
		if calls[name] != want {
			t.Errorf("%s was called %d times, want %d", name, calls[name], want)
		}
	}
	if calls["{closure}"] < 4+2 {
		t.Errorf("the closures were called %d times", calls["{closure}"])
	}
	again, _ := run(append(slices.Concat(argv, []string{path}), strings.Fields(strings.Repeat("argument ", 500))...)...)
	own := func(all []step) []step {
		return slices.DeleteFunc(slices.Clone(all), func(s step) bool { return find(s) == nil })
	}
	sameTrace(t, own(steps), own(again))
}

var (
	phpHead = regexp.MustCompile(`^(\S+):$`)
	phpLine = regexp.MustCompile(`^(\d{4}) (?:\S+ = )?([A-Z_]+)(.*)$`)
	phpJump = regexp.MustCompile(` (\d{4})\b`)
)

// phpFunctions parses what opcache prints. An instruction has 32 bytes.
func phpFunctions(listing string) (out []*function) {
	var f *function
	table := false // of exceptions: where try, catch, finally begin, and finally ends
	for _, line := range strings.Split(listing, "\n") {
		h, m := phpHead.FindStringSubmatch(line), phpLine.FindStringSubmatch(line)
		switch {
		case h != nil:
			f = &function{name: h[1], index: map[uint64]int{}, after: phpAfter}
			out = append(out, f)
			table = false
		case m != nil && f != nil && !table:
			in := instruction{uint64(32 * len(f.code)), m[2], -1}
			if j := phpJump.FindStringSubmatch(m[3]); j != nil {
				in.jump, _ = strconv.Atoi(j[1])
			}
			f.index[in.offset] = len(f.code)
			f.code = append(f.code, in)
		case strings.HasPrefix(line, "EXCEPTION TABLE"):
			table = true
		case table:
			for _, j := range phpJump.FindAllStringSubmatch(" "+strings.TrimSpace(line), -1) {
				at, _ := strconv.Atoi(j[1])
				f.extra = append(f.extra, at)
			}
		}
	}
	return out
}

// phpAfter lists what may follow instruction i. A comparison executes the jump behind it without a dispatch of its own.
func phpAfter(f *function, i int) []int {
	c := f.code[i]
	switch c.name {
	case "RETURN", "GENERATOR_RETURN", "THROW":
		return nil
	case "JMP":
		return []int{c.jump}
	case "FAST_RET": // behind the FAST_CALL
		out := []int{}
		for k, in := range f.code {
			if in.name == "FAST_CALL" {
				out = append(out, k+1)
			}
		}
		return out
	}
	out := []int{i + 1}
	if c.jump >= 0 {
		out = append(out, c.jump)
	}
	if strings.HasPrefix(c.name, "IS_") && i+1 < len(f.code) && strings.HasPrefix(f.code[i+1].name, "JMP") {
		out = append(out, i+2, f.code[i+1].jump)
	}
	return out
}
