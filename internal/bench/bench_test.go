// Package bench measures the machine: concrete execution against the processor,
// qemu-user and valgrind on the same scripts in one run, and the cost of pending
// states by copy-on-write granule. `make bench` prints the tables.
package bench

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"symchef/internal/session"
)

// execArg as the first argument turns this test binary into `symchef exec --stats`.
const execArg = "symchef-exec"

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == execArg {
		os.Exit(session.Exec(os.Args[2:], os.Stdin, os.Stdout, os.Stderr, true, 0, session.CPUV2))
	}
	os.Exit(m.Run())
}

// engine is a way to run a program; Prefix comes before the program and its arguments.
type engine struct {
	name   string
	prefix []string
}

// engines returns what is installed, the processor first and the machine second.
func engines(b *testing.B) []engine {
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	l := []engine{{"native", nil}, {"symchef", []string{self, execArg}}}
	for _, e := range []engine{{"qemu-user", []string{"qemu-x86_64"}}, {"valgrind", []string{"valgrind", "--tool=none", "-q"}}} {
		if _, err := exec.LookPath(e.prefix[0]); err != nil {
			b.Logf("%s is left out: %s is not installed", e.name, e.prefix[0])
			continue
		}
		l = append(l, e)
	}
	return l
}

// measured is a run: processor time, output, and where the engine counts them, instructions.
type measured struct {
	cpu   time.Duration
	out   []byte
	insns float64
}

// retired is what `symchef exec --stats` prints.
var retired = regexp.MustCompile(`(?m)^symchef: (\d+) instructions`)

func run(b *testing.B, argv, env []string) measured {
	b.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.Env = append([]string{"PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8", "HOME=/nonexistent", "TZ=UTC"}, env...)
	if err := cmd.Run(); err != nil {
		b.Fatalf("%s: %v\n%s", argv, err, errs.Bytes())
	}
	m := measured{cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), out: out.Bytes()}
	if s := retired.FindSubmatch(errs.Bytes()); s != nil {
		m.insns, _ = strconv.ParseFloat(string(s[1]), 64)
	}
	return m
}

// language is an interpreter with its scripts.
type language struct {
	name, program string
	args          []string // before the script
	env           []string
	scripts       string // glob
}

// R is its ELF file without the shell script around it: other engines would run its children on the processor.
var languages = []language{
	{"lua5.4", "/usr/bin/lua5.4", nil, nil, "testdata/*.lua"},
	{"python3.11", "/usr/bin/python3.11", nil, []string{"PYTHONHASHSEED=0", "PYTHONDONTWRITEBYTECODE=1"}, "testdata/*.py"},
	{"ruby3.1", "/usr/bin/ruby3.1", nil, nil, "testdata/*.rb"},
	{"R", "/usr/lib/R/bin/exec/R", []string{"--vanilla", "--no-echo", "-f"}, []string{"R_HOME=/usr/lib/R", "LD_LIBRARY_PATH=/usr/lib/R/lib"}, "testdata/*.R"},
}

// BenchmarkConcrete prints guest MIPS and, for each engine, processor time as a
// multiple of the processor's own. Processor time, not the clock: other programs may run.
func BenchmarkConcrete(b *testing.B) {
	list := engines(b)
	for b.Loop() {
		for _, lang := range languages {
			if _, err := exec.LookPath(lang.program); err != nil {
				b.Logf("%s is left out: it is not installed", lang.program)
				continue
			}
			scripts, err := filepath.Glob(lang.scripts)
			if err != nil || len(scripts) == 0 {
				b.Fatalf("no scripts match %s (%v)", lang.scripts, err)
			}
			b.ReportMetric(table(b, list, lang, scripts), lang.name+"-MIPS")
		}
	}
}

// table prints a row per script and returns the geometric mean of the guest MIPS.
func table(b *testing.B, list []engine, lang language, scripts []string) float64 {
	fmt.Printf("\n%-22s %9s %7s", lang.name, "M insns", "MIPS")
	for _, e := range list {
		fmt.Printf(" %11s", e.name)
	}
	fmt.Println()
	logs := make([]float64, len(list)) // of time over native time
	mips := 0.0
	for _, script := range scripts {
		var all []measured
		for _, e := range list {
			m := run(b, slices.Concat(e.prefix, []string{lang.program}, lang.args, []string{script}), lang.env)
			if len(all) > 0 && !bytes.Equal(m.out, all[0].out) {
				b.Fatalf("%s: %s prints %q, natively %q", script, e.name, m.out, all[0].out)
			}
			all = append(all, m)
		}
		rate := all[1].insns / all[1].cpu.Seconds() / 1e6
		mips += math.Log(rate)
		fmt.Printf("%-22s %9.0f %7.0f %9.3f s", filepath.Base(script), all[1].insns/1e6, rate, all[0].cpu.Seconds())
		for i := range all[1:] {
			r := all[i+1].cpu.Seconds() / all[0].cpu.Seconds()
			logs[i+1] += math.Log(r)
			fmt.Printf(" %10.1fx", r)
		}
		fmt.Println()
	}
	n := float64(len(scripts))
	fmt.Printf("%-22s %9s %7.0f %11s", "geometric mean", "", math.Exp(mips/n), "")
	for _, l := range logs[1:] {
		fmt.Printf(" %10.1fx", math.Exp(l/n))
	}
	fmt.Println()
	return math.Exp(mips / n)
}
