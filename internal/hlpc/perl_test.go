package hlpc_test

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"symchef/internal/hlpc"
)

// perlProgram has what luaProgram has but coroutines, which Perl has not. In the end B::Concise lists the operations of its
// functions where they lie in this process.
const perlProgram = `use strict;
sub fib { my $n = shift; return $n < 2 ? $n : fib($n - 1) + fib($n - 2); }
sub counter {
  my $n = 0;
  return sub { $n++; if ($n > 3) { die "full\n" } return $n; };
}
sub sum {
  my ($total, @l) = (0, @_);
  foreach my $v (@l) {
    next if $v == 2;
    last if $v > 4;
    $total += $v;
  }
  return $total;
}
my $step = counter();
sub main {
  my $sum = 0;
  for (my $i = 0; $i < 5; $i++) {
    if ($i % 2 == 0) { $sum += $i } else { $sum -= 1 }
  }
  my $ok = 1;
  while ($ok) {
    eval { $step->(); 1 } or $ok = 0;
  }
  my @m = map { $_ > 1 ? $_ * 2 : 0 } (1, 2, 3);
  my %h = (a => 1, b => 2);
  my $none = $h{c} // $h{d} // 'none';
  $sum ||= 7;
  print fib(6), " $sum $ok $none @m ", sum(1 .. 6), "\n";
}
main();
require B::Concise;
B::Concise::set_style("op #seq #addr #name #next #arg\n", "", "");
foreach ([fib => \&fib], [counter => \&counter], [sum => \&sum], [main => \&main], [closure => $step]) {
  my $text = '';
  B::Concise::walk_output(\$text);
  B::Concise::compile('-exec', $_->[1])->();
  print "function $_->[0]\n$text";
}
`

// TestPerl compares the steps of a program with what B::Concise lists: addresses of operations.
func TestPerl(t *testing.T) {
	const perl = "/usr/bin/perl"
	r, _ := calibrate(t, perl)
	path := programFile(t, "program.pl", perlProgram)
	steps, out := record(t, r, perl, path)
	line, listing, _ := strings.Cut(out, "\n")
	if want := "8 4 0 none 0 4 6 8"; line != want {
		t.Errorf("output %q, want %q", line, want)
	}
	all := perlFunctions(t, listing)
	of := map[uint64]*function{}
	for _, f := range all {
		for _, in := range f.code {
			of[in.offset] = f
		}
	}
	// The compiler executes operations to fold constants, and their memory is that of others later; B::Concise is a program, too.
	first, last := -1, 0
	for k, s := range steps {
		f := of[s.HLPC]
		if first < 0 && f != nil && f.name == "counter" && f.index[s.HLPC] == 0 {
			first = k
		}
		if f != nil && f.name == "main" {
			last = k
		}
	}
	if first < 0 {
		t.Fatal("the program was not executed")
	}
	steps = steps[first : last+1]
	type name struct {
		code   hlpc.Digest
		offset uint64
	}
	names, at := map[uint64]name{}, map[name]uint64{}
	for k := range steps {
		s := &steps[k]
		n := name{s.Code.Digest, s.Offset}
		if old, known := names[s.HLPC]; known && old != n || s.Code.Size == 0 {
			t.Fatalf("the operation at %#x is %v and %v", s.HLPC, old, n)
		}
		if old, known := at[n]; known && old != s.HLPC {
			t.Fatalf("%v is at %#x and %#x", n, old, s.HLPC)
		}
		names[s.HLPC], at[n] = n, s.HLPC
		s.Offset = s.HLPC
	}
	handlers := map[string]uint64{}
	walk(t, steps, func(s step) *function {
		f := of[s.HLPC]
		if f == nil {
			return nil
		}
		// One handler for each opcode; some opcodes share one (or, orassign).
		name := f.code[f.index[s.HLPC]].name
		if old, known := handlers[name]; known && old != s.Handler {
			t.Fatalf("%s has handlers %#x and %#x", name, old, s.Handler)
		}
		handlers[name] = s.Handler
		return f
	}, func(_ *function, i int) bool { return i == 0 })
	for _, f := range all {
		if want := map[string]int{"fib": 25, "counter": 1, "sum": 1, "main": 1, "closure": 4}[f.name]; f.calls != want {
			t.Errorf("%s was called %d times, want %d", f.name, f.calls, want)
		}
	}
	if len(all) != 5 || len(handlers) < 30 {
		t.Errorf("%d functions, %d opcodes", len(all), len(handlers))
	}
}

var (
	perlLine   = regexp.MustCompile(`^op (\w+) (0x[0-9a-f]+) (\w+) (\S+) ?(.*)$`)
	perlTarget = regexp.MustCompile(`(other|next|last|redo)->(\w+)`)
)

// perlFunctions parses what perlProgram prints. An operation's offset is its address.
func perlFunctions(t *testing.T, listing string) (out []*function) {
	at := map[string]int{} // the number of an operation in its function, by its label
	type targets struct{ next, other string }
	of := map[*function][]targets{}
	loops := map[*function][]string{} // where next, last and redo go
	var f *function
	for _, line := range strings.Split(listing, "\n") {
		if name, head := strings.CutPrefix(line, "function "); head {
			f = &function{name: name, index: map[uint64]int{}}
			out = append(out, f)
			continue
		}
		m := perlLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		addr, err := strconv.ParseUint(m[2], 0, 64)
		if err != nil {
			t.Fatal(err)
		}
		at[m[1]] = len(f.code)
		f.index[addr] = len(f.code)
		f.code = append(f.code, instruction{addr, m[3], -1})
		to := targets{next: m[4]}
		for _, x := range perlTarget.FindAllStringSubmatch(m[5], -1) {
			if x[1] == "other" {
				to.other = x[2]
			} else {
				loops[f] = append(loops[f], x[2])
			}
		}
		of[f] = append(of[f], to)
	}
	for _, f := range out {
		index := func(label string) int {
			if i, known := at[label]; known {
				return i
			}
			return -1
		}
		all := of[f]
		for i, in := range f.code {
			if in.name == "entertry" { // what dies goes on behind the leavetry
				f.extra = append(f.extra, index(all[index(all[i].other)].next))
			}
		}
		f.after = func(f *function, i int) []int {
			next, other := index(all[i].next), index(all[i].other)
			switch f.code[i].name {
			case "return", "die":
				return nil
			case "next", "last", "redo": // there, or behind the leaveloop
				var out []int
				for _, l := range loops[f] {
					out = append(out, index(l), index(all[index(l)].next))
				}
				return out
			case "iter": // executes the and behind it
				return []int{next, index(all[next].other), index(all[next].next)}
			case "mapstart", "grepstart": // the first element, or none
				return []int{index(all[next].other), index(all[next].next)}
			}
			return slices.DeleteFunc([]int{next, other}, func(k int) bool { return k < 0 })
		}
	}
	return out
}
