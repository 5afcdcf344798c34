package main

import (
	"cmp"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"symchef/internal/rundir"
)

// traceEvent is one of the Trace Event Format; times are microseconds.
type traceEvent struct {
	Name  string
	Phase string         `json:"ph"`
	Track int            `json:"tid"`
	TS    float64        `json:"ts"`
	Took  float64        `json:"dur"`
	Args  map[string]any `json:"args"`
}

// A trace has all that the summary counts, and on each row spans lie in one another or one after the other.
func TestTrace(t *testing.T) {
	b := pythonBox(t)
	b.write("test_t.py", "import symchef\n\ndef test_t(n: symchef.Int(0, 9)):\n    if n == 3:\n        raise KeyError(n)\n    while n > 6:\n        n -= 2\n")
	for _, flags := range [][]string{{}, {"-j", "2"}} {
		r := b.run(append([]string{"run", "--json", "--no-cache", "--out", "t", "--trace", "trace.json"}, append(flags, "test_t.py")...)...)
		r.want(1)
		var sum rundir.Summary
		if err := json.Unmarshal([]byte(r.stdout), &sum); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(b.path("trace.json"))
		if err != nil {
			t.Fatal(err)
		}
		var events []traceEvent
		if err := json.Unmarshal(data, &events); err != nil {
			t.Fatalf("%v: no JSON: %v", flags, err)
		}
		count, rows := map[string]int{}, map[int][]traceEvent{}
		for _, e := range events {
			name, id, _ := strings.Cut(e.Name, " t0")
			if id == "" && e.Args["what"] == "ended" {
				name = "ended"
			}
			count[name]++
			if e.Phase == "X" {
				rows[e.Track] = append(rows[e.Track], e)
			}
		}
		for _, name := range []string{"thread_name", "calibrate", "start natively", "start", "lift", "query", "fork", "checkpoint", "other worlds"} {
			if count[name] == 0 {
				t.Errorf("%v: no %q in the trace: %v", flags, name, count)
			}
		}
		if n := sum.Tests.Total(); count["replay"] != n || n == 0 {
			t.Errorf("%v: %d replays of %d test cases", flags, count["replay"], n)
		}
		if n := sum.Paths.Low; count["ended"] != n || n == 0 {
			t.Errorf("%v: %d paths ended, the summary has %d", flags, count["ended"], n)
		}
		for row, spans := range rows {
			slices.SortFunc(spans, func(a, b traceEvent) int { return cmp.Or(cmp.Compare(a.TS, b.TS), -cmp.Compare(a.Took, b.Took)) })
			var open []float64 // ends
			for _, e := range spans {
				for len(open) > 0 && open[len(open)-1] <= e.TS {
					open = open[:len(open)-1]
				}
				if len(open) > 0 && e.TS+e.Took > open[len(open)-1]+1 {
					t.Errorf("%v: row %d: %s at %.1f for %.1f us goes beyond the span that it is in", flags, row, e.Name, e.TS, e.Took)
				}
				open = append(open, e.TS+e.Took)
			}
		}
	}
	b.run("run", "--trace", "nowhere/t.json", "test_t.py").want(2)
	if err := unix.Mkfifo(b.path("fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.run("run", "--trace", "fifo", "test_t.py").want(2)
	b.run("run", "--out", "full", "--trace", "/dev/full", "test_t.py").want(1)
}
