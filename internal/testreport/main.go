// Command testreport reads what `go test -json` writes, and prints what go test prints without it: a line for each package, and what a test that failed has said.
// At the end it names the tests that took longest and counts what was skipped, by reason: a test that skips says why, in a text that begins with "skipped".
//
//	go test -json ./... | go run ./internal/testreport
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
)

func main() {
	if !report(os.Stdin, os.Stdout) {
		os.Exit(1)
	}
}

// event is a line of test2json.
type event struct {
	Action, Package, Test, Output, ImportPath string
	Elapsed                                   float64 // seconds, without those that a parallel test waited to begin
}

// A test that took so many seconds is named, and mostNamed of these at most.
const (
	long      = 20
	mostNamed = 20
)

// summary is what is known of the tests so far.
type summary struct {
	out      io.Writer
	said     map[[2]string][]string // by package and test, until the test has ended
	skipped  map[string][]string    // tests by reason
	dear     []event                // tests that took long, not their parts
	packages int                    // that passed
	failed   bool
}

// report copies in to out, and returns whether there were tests and all passed.
func report(in io.Reader, out io.Writer) (passed bool) {
	s := summary{out: out, said: map[[2]string][]string{}, skipped: map[string][]string{}}
	for lines := bufio.NewReader(in); ; {
		line, err := lines.ReadString('\n')
		if line == "" && err != nil {
			break
		}
		var e event
		if json.Unmarshal([]byte(line), &e) != nil {
			fmt.Fprint(out, line)
			continue
		}
		s.take(e)
	}
	s.tellLong()
	s.tellSkipped()
	return !s.failed && s.packages > 0
}

// take adds an event.
func (s *summary) take(e event) {
	of := [2]string{e.Package, e.Test}
	switch e.Action {
	case "build-output":
		fmt.Fprint(s.out, e.Output)
	case "build-fail":
		s.failed = true
	case "output":
		if e.Test != "" {
			s.said[of] = append(s.said[of], e.Output)
		} else if e.Output != "PASS\n" {
			fmt.Fprint(s.out, e.Output)
		}
	case "pass", "skip", "fail":
		s.ended(e, s.said[of])
		delete(s.said, of)
	}
}

// ended adds the end of a test, which has said that, or of a package.
func (s *summary) ended(e event, said []string) {
	s.failed = s.failed || e.Action == "fail"
	if e.Test == "" && e.Action == "fail" {
		s.tellUnfinished(e.Package)
	}
	switch {
	case e.Test == "" && e.Action != "fail":
		s.packages++
	case e.Test != "" && e.Action == "skip":
		why := reason(said)
		s.skipped[why] = append(s.skipped[why], e.Test)
	case e.Test != "" && e.Action == "fail":
		fmt.Fprint(s.out, strings.Join(said, ""))
	}
	if e.Elapsed >= long && e.Test != "" && !strings.Contains(e.Test, "/") {
		s.dear = append(s.dear, e)
	}
}

// tellUnfinished prints what the tests of a package that failed had said and had not ended: where it crashed, or ran out of time.
func (s *summary) tellUnfinished(pkg string) {
	byTest := func(a, b [2]string) int { return cmp.Compare(a[1], b[1]) }
	for _, of := range slices.SortedFunc(maps.Keys(s.said), byTest) {
		if of[0] == pkg {
			fmt.Fprint(s.out, strings.Join(s.said[of], ""))
			delete(s.said, of)
		}
	}
}

func (s *summary) tellLong() {
	slices.SortStableFunc(s.dear, func(a, b event) int { return cmp.Compare(b.Elapsed, a.Elapsed) })
	if len(s.dear) > 0 {
		fmt.Fprintln(s.out, "tests that took longest, in seconds:")
	}
	for _, e := range s.dear[:min(mostNamed, len(s.dear))] {
		fmt.Fprintf(s.out, "  %5.0f  %s %s\n", e.Elapsed, e.Package, e.Test)
	}
}

func (s *summary) tellSkipped() {
	total := 0
	for _, tests := range s.skipped {
		total += len(tests)
	}
	if total > 0 {
		fmt.Fprintf(s.out, "%d tests skipped, or parts of them:\n", total)
	}
	byNumber := func(a, b string) int { return cmp.Or(len(s.skipped[b])-len(s.skipped[a]), cmp.Compare(a, b)) }
	for _, why := range slices.SortedFunc(maps.Keys(s.skipped), byNumber) {
		tests := s.skipped[why]
		shown := strings.Join(tests[:min(3, len(tests))], ", ")
		if len(tests) > 3 {
			shown += ", ..."
		}
		fmt.Fprintf(s.out, "  %3d  %s  (%s)\n", len(tests), why, shown)
	}
}

// reason is what a test says that it skips for: "    file_test.go:12: skipped: REASON".
func reason(said []string) string {
	for _, line := range said {
		if _, why, ok := strings.Cut(line, ": skipped"); ok {
			return strings.TrimSpace(strings.TrimPrefix(why, ":"))
		}
	}
	return "no reason"
}
