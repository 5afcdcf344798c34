package cpucheck

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"symchef/internal/ir"
	"symchef/internal/seed"
)

const (
	// statesPerForm is the number of states that every form of the table runs on.
	statesPerForm = 2000
	// casesPerForm is the number of encodings among which they are divided.
	casesPerForm = 20
	// longer is how many times more states each encoding runs on in the rounds of make cpu-check.
	longer = 10
)

// TestForms executes every form of the instruction table on the processor and lifted. With SYMCHEF_ROUNDS (make cpu-check) it
// does so that many times, each with other encodings and on ten times as many states. SYMCHEF_FIRST is the first round,
// for going on with a seed where an earlier run stopped.
func TestForms(t *testing.T) {
	number := func(name string) int {
		n, _ := strconv.Atoi(os.Getenv(name))
		return n
	}
	rounds, first := number("SYMCHEF_ROUNDS"), number("SYMCHEF_FIRST")
	perCase := statesPerForm / casesPerForm
	if rounds > 0 {
		perCase *= longer
	}
	seed, start := seed.Of(t), time.Now()
	cpus := NewN(t, runtime.GOMAXPROCS(0))
	forms := Forms()
	var states, differ atomic.Int64
	check := func(cpu *CPU, round, form int) {
		e := forms[form]
		if _, ok := Modelled[e.Op]; ok {
			return
		}
		r := NewRand(seed, uint64(round)<<32|uint64(form))
		for range casesPerForm {
			c, ok := e.Case(r.Rand)
			if !ok {
				t.Errorf("%s: no encoding that can run", e.Name)
				return
			}
			differ.Add(int64(cpu.Check(t, c.Check, perCase, func(_ int, s *State) { c.State(r, s) })))
			states.Add(int64(perCase))
		}
	}
	for round := first; round < max(rounds, 1); round++ {
		var next atomic.Int64
		var wg sync.WaitGroup
		for _, cpu := range cpus {
			wg.Go(func() {
				for {
					form := int(next.Add(1)) - 1
					if form >= len(forms) {
						return
					}
					check(cpu, round, form)
				}
			})
		}
		wg.Wait()
		if rounds > 0 {
			t.Logf("round %d of %d, seed %#x: %d states, %d differ, %v", round+1, rounds, seed, states.Load(), differ.Load(), time.Since(start).Round(time.Second))
		}
	}
	t.Logf("%d forms, %d states, %d differ", len(forms), states.Load(), differ.Load())
}

var updateFlag = flag.Bool("update", false, "write docs/instructions.md")

// flagNames names the flags of a set as the manual does.
func flagNames(m uint64) string {
	var names []string
	for _, f := range []struct {
		bit  uint64
		name string
	}{{ir.FlagOF, "OF"}, {ir.FlagSF, "SF"}, {ir.FlagZF, "ZF"}, {ir.FlagAF, "AF"}, {ir.FlagPF, "PF"}, {ir.FlagCF, "CF"}, {1 << 10, "DF"}} {
		if m&f.bit != 0 {
			names = append(names, f.name)
		}
	}
	return strings.Join(names, " ")
}

// TestDocument: docs/instructions.md is the table. `go test ./internal/cpucheck -run TestDocument -update` writes it.
func TestDocument(t *testing.T) {
	counts := map[string]int{}
	var rows strings.Builder
	for _, f := range Forms() {
		level, note := "full", f.Note
		switch {
		case Modelled[f.Op] != "":
			level, note = "model", Modelled[f.Op]+"; not compared with the processor"
			if f.Note != "" {
				note = f.Note
			}
		case note != "":
			level = "partial"
		}
		counts[level]++
		undefined := flagNames(f.Undefined)
		if f.When != "" {
			undefined += ": " + f.When
		}
		fmt.Fprintf(&rows, "| %s | %s | %s | %s | %s | %s |\n", f.Name, flagNames(f.Defined), undefined, f.Manual, level, note)
	}
	text := fmt.Sprintf(`# Instructions

Generated from internal/lift (the rows, and table.go), by trying every opcode: these are all the forms that the lifter accepts.
full (%d): as the processor does. partial (%d): the note says what differs. model (%d): the machine defines what it
returns. An instruction of no form here (MMX, AVX-512 and all that CPUID does not announce) ends the path as unsupported, with a message that names it;
without --cpu v3 (processor.md) so do those of VEX, MOVBE, XGETBV, XSAVE and XRSTOR.

r8 to r64 are general registers, m8 to m512 memory of so many bits (m: of no size), xmm and ymm vector registers, st and st(i) x87 registers, imm an immediate
of any size, rel a relative target. Prefixes that change nothing (lock, segments, address size, hints) make no form of their own.
The manual is Intel's Software Developer's Manual, volume 2: its part and entry.

Every form but the model ones is executed on the processor and lifted, on %d random states of registers, flags, memory, SSE and
x87 registers and modes (`+"`go test ./internal/cpucheck`, `make cpu-check`"+` for 1,000 times that); none may differ. Flags named as
undefined are not compared.

| form | flags defined | flags undefined | manual | level | note |
|---|---|---|---|---|---|
%s`, counts["full"], counts["partial"], counts["model"], statesPerForm, rows.String())
	const path = "../../docs/instructions.md"
	if *updateFlag {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if old, err := os.ReadFile(path); err != nil || string(old) != text {
		t.Errorf("%s is not current: go test ./internal/cpucheck -run TestDocument -update", path)
	}
}

// TestFlagRules: the flags that the table leaves out are kept, so that Defined says no less than the lifter does.
func TestFlagRules(t *testing.T) {
	r := NewRand(seed.Of(t), 0)
	cpu := New(t)
	for _, e := range Forms() {
		if e.Name == "fwait" || Modelled[e.Op] != "" {
			continue
		}
		c, ok := e.Case(r.Rand)
		if !ok {
			t.Errorf("%s: no encoding that can run", e.Name)
			continue
		}
		err := cpu.Each(c.Check.Code, 200, func(_ int, s *State) { c.State(r, s) }, func(before, after *State) bool {
			d := (before.Flags ^ after.Flags) & CompareFlags &^ e.Defined &^ e.Undefined
			if d != 0 && after.Signal == 0 {
				t.Errorf("%s: % x: the processor changes %s, which the table does not list", e.Name, c.Check.Code, flagNames(d))
				return false
			}
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
