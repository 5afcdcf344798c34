package main

import (
	"strings"
	"testing"
)

// What goes wrong is shown, and makes the whole fail; what takes long is named, and what is skipped is counted by reason.
func TestReport(t *testing.T) {
	const (
		good = `{"Action":"output","Package":"p","Test":"TestA","Output":"=== RUN   TestA\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:1: skipped: gcc is not installed\n"}
{"Action":"skip","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestB","Output":"    a_test.go:9: skipped: gcc is not installed\n"}
{"Action":"skip","Package":"p","Test":"TestB"}
{"Action":"output","Package":"p","Test":"TestC","Output":"noise\n"}
{"Action":"pass","Package":"p","Test":"TestC/part","Elapsed":61.5}
{"Action":"pass","Package":"p","Test":"TestC","Elapsed":61.5}
{"Action":"pass","Package":"p","Test":"TestE","Elapsed":99}
{"Action":"output","Package":"p","Output":"PASS\n"}
{"Action":"output","Package":"p","Output":"ok  \tp\t0.1s\n"}
{"Action":"pass","Package":"p"}
`
		bad = `{"Action":"output","Package":"q","Test":"TestD","Output":"    d_test.go:3: wrong\n"}
{"Action":"fail","Package":"q","Test":"TestD"}
{"Action":"output","Package":"q","Output":"FAIL\tq\t0.1s\n"}
{"Action":"fail","Package":"q"}
`
		hung = `{"Action":"output","Package":"s","Test":"TestG","Output":"panic: test timed out\n"}
{"Action":"output","Package":"s","Test":"TestF","Output":"=== RUN   TestF\n"}
{"Action":"output","Package":"s","Output":"FAIL\ts\t60.0s\n"}
{"Action":"fail","Package":"s"}
`
		broken = `{"ImportPath":"r","Action":"build-output","Output":"r.go:1: syntax error\n"}
{"ImportPath":"r","Action":"build-fail"}
`
		skips = "tests that took longest, in seconds:\n     99  p TestE\n     62  p TestC\n" +
			"2 tests skipped, or parts of them:\n    2  gcc is not installed  (TestA, TestB)\n"
	)
	for _, c := range []struct {
		in, want string
		passed   bool
	}{
		{good, "ok  \tp\t0.1s\n" + skips, true},
		{good + bad, "ok  \tp\t0.1s\n    d_test.go:3: wrong\nFAIL\tq\t0.1s\n" + skips, false},
		{good + hung, "ok  \tp\t0.1s\nFAIL\ts\t60.0s\n=== RUN   TestF\npanic: test timed out\n" + skips, false},
		{"not JSON\n" + broken, "not JSON\nr.go:1: syntax error\n", false},
		{"", "", false},
	} {
		var out strings.Builder
		if passed := report(strings.NewReader(c.in), &out); passed != c.passed || out.String() != c.want {
			t.Errorf("passed %v, want %v:\n%s\nwant\n%s", passed, c.passed, out.String(), c.want)
		}
	}
}
