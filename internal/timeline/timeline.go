// Package timeline writes what a run does and when, in the Trace Event Format, which ui.perfetto.dev and chrome://tracing open:
//
//	l := timeline.New(file)
//	span := l.Track("worker 1").Span("query")
//	...
//	span.End("answer", "unsat")
//	err := l.Close()
//
// A nil Log, Track or Span takes everything and keeps nothing. What is written is complete after each event but for the bracket at the end,
// which readers do without: the trace of a run that was killed can be opened.
package timeline

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"
)

// Most is how many events a trace has at most; about 250 MB.
const Most = 2_000_000

// A Log is a trace that is being written. It may be used by several goroutines at once.
type Log struct {
	began time.Time

	mu      sync.Mutex
	w       *bufio.Writer
	err     error
	tracks  map[string]*Track
	events  int
	dropped int
}

// New begins a trace in w.
func New(w io.Writer) *Log {
	l := &Log{began: time.Now(), w: bufio.NewWriterSize(w, 1<<16), tracks: map[string]*Track{}}
	l.w.WriteByte('[')
	return l
}

// A Track is a row of the picture: what happens one after the other.
type Track struct {
	l  *Log
	id int
}

// Track is the row of that name.
func (l *Log) Track(name string) *Track {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	t, there := l.tracks[name]
	if !there {
		t = &Track{l, len(l.tracks) + 1}
		l.tracks[name] = t
	}
	l.mu.Unlock()
	if there {
		return t
	}
	l.add(event{Name: "thread_name", Phase: "M", Track: t.id, Args: map[string]any{"name": name}})
	return t
}

// event is one of the format; times are microseconds.
type event struct {
	Name    string         `json:"name"`
	Phase   string         `json:"ph"`
	Process int            `json:"pid"`
	Track   int            `json:"tid"`
	At      float64        `json:"ts"`
	Took    *float64       `json:"dur,omitempty"`
	Scope   string         `json:"s,omitempty"`
	Args    map[string]any `json:"args,omitempty"`
}

func micro(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }

func (l *Log) add(e event) {
	e.Process = 1
	b, err := json.Marshal(e)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		panic("timeline: " + err.Error()) // values are those of this program
	}
	if l.events == Most {
		l.dropped++
		return
	}
	if l.events++; l.events > 1 {
		l.write(",\n")
	}
	l.write(string(b))
}

func (l *Log) write(s string) {
	if _, err := l.w.WriteString(s); l.err == nil {
		l.err = err
	}
}

// named are the arguments NAME, VALUE, NAME, VALUE, …
func named(args []any) map[string]any {
	if len(args) == 0 {
		return nil
	}
	m := map[string]any{}
	for i := 0; i+1 < len(args); i += 2 {
		m[args[i].(string)] = args[i+1]
	}
	return m
}

// A Span is something that takes time.
type Span struct {
	t     *Track
	name  string
	since time.Time
}

// Span begins something.
func (t *Track) Span(name string) Span {
	if t == nil {
		return Span{}
	}
	return Span{t, name, time.Now()}
}

// End ends it; args are names and values by turns.
func (s Span) End(args ...any) {
	if s.t != nil {
		s.t.Took(s.name, s.since, time.Since(s.since), args...)
	}
}

// Took adds a span that is over.
func (t *Track) Took(name string, since time.Time, took time.Duration, args ...any) {
	if t == nil {
		return
	}
	dur := micro(took)
	t.l.add(event{Name: name, Phase: "X", Track: t.id, At: micro(since.Sub(t.l.began)), Took: &dur, Args: named(args)})
}

// Point adds something that takes no time.
func (t *Track) Point(name string, args ...any) {
	if t == nil {
		return
	}
	t.l.add(event{Name: name, Phase: "i", Scope: "t", Track: t.id, At: micro(time.Since(t.l.began)), Args: named(args)})
}

// Count adds a value of something that is drawn as a curve.
func (l *Log) Count(name string, n int) {
	if l == nil {
		return
	}
	l.add(event{Name: name, Phase: "C", At: micro(time.Since(l.began)), Args: map[string]any{name: n}})
}

// Close ends the trace. The error is the first one of writing, or says what has no place in it.
func (l *Log) Close() error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.write("]\n")
	if err := l.w.Flush(); l.err == nil {
		l.err = err
	}
	if l.err == nil && l.dropped > 0 {
		return fmt.Errorf("the trace holds the first %d events; %d came later", Most, l.dropped)
	}
	return l.err
}
