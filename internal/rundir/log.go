package rundir

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"

	"symchef/internal/testcase"
)

// Decision logs are nearly all of a test case, and nearly all of a log stands in another one. So a line of tests.jsonl has a log as
// what it begins like, and the numbers of the steps that follow:
//
//	{"id":"t000002", ..., "steps":[{"kind":"branch","pc":"0x4a1","value":"0x0"}], "decisions":{"like":"t000001","same":16,"then":[3,3,7]}}
//
// A step is a decision. The first line that needs it says what it is: steps are numbered from 0 in the order of the file.

// line is a line of tests.jsonl.
type line struct {
	testcase.Test
	Returned  testcase.Told       `json:"returned,omitzero"`
	Steps     []testcase.Decision `json:"steps,omitempty"`
	Decisions shortLog            `json:"decisions"`
}

// test is the test case of l, but for its decisions.
func (l *line) test() testcase.Test {
	t := l.Test
	t.Returned, t.Words = l.Returned.Value, l.Returned.Words
	return t
}

// shortLog is a decision log.
type shortLog struct {
	Like string   `json:"like,omitempty"` // the test case of an earlier line
	Same int      `json:"same,omitempty"` // so many of its first decisions are this one's
	Then []uint32 `json:"then"`           // numbers of steps
}

// sharedBlock is of how many decisions what two logs have in common is a multiple.
const sharedBlock = 8

// shortener makes short logs, in the order of the file.
type shortener struct {
	seed   maphash.Seed
	number map[testcase.Decision]uint32
	ids    []string
	begins map[uint64]uint32 // which of ids begins so, by the hash of its first blocks
}

func newShortener() *shortener {
	return &shortener{seed: maphash.MakeSeed(), number: map[testcase.Decision]uint32{}, begins: map[uint64]uint32{}}
}

// shorten is the line of t.
func (s *shortener) shorten(t testcase.Test) line {
	l := line{Test: t, Returned: testcase.Told{Value: t.Returned, Words: t.Words}}
	l.Test.Decisions = nil
	log := make([]uint32, len(t.Decisions))
	for i, d := range t.Decisions {
		n, known := s.number[d]
		if !known {
			n = uint32(len(s.number))
			s.number[d] = n
			l.Steps = append(l.Steps, d)
		}
		log[i] = n
	}
	l.Decisions = s.share(t.ID, log)
	return l
}

// share is the short form of log, the test case id's.
func (s *shortener) share(id string, log []uint32) shortLog {
	out := shortLog{Then: log}
	me := uint32(len(s.ids))
	s.ids = append(s.ids, id)
	var h uint64
	shared := true
	for end := sharedBlock; end <= len(log); end += sharedBlock {
		h = maphash.Comparable(s.seed, [2]any{h, [sharedBlock]uint32(log[end-sharedBlock : end])})
		other, known := s.begins[h]
		if shared = shared && known; shared {
			out = shortLog{Like: s.ids[other], Same: end, Then: log[end:]}
		}
		if !known {
			s.begins[h] = me
		}
	}
	return out
}

// lengthener reads short logs, in the order of the file.
type lengthener struct {
	steps []testcase.Decision
	logs  map[string][]uint32
	short *shortener // learns what is read; may be nil
}

func newLengthener(s *shortener) *lengthener {
	return &lengthener{logs: map[string][]uint32{}, short: s}
}

// errLog is a line whose log is not one.
var errLog = errors.New("the decision log is damaged")

// take adds the log of l to those known.
func (g *lengthener) take(l *line) error {
	if _, known := g.logs[l.ID]; known {
		return fmt.Errorf("test case %s stands there twice", l.ID)
	}
	like := g.logs[l.Decisions.Like]
	if n := l.Decisions.Same; n < 0 || n > len(like) {
		return errLog
	}
	g.steps = append(g.steps, l.Steps...)
	log := append(like[:l.Decisions.Same:l.Decisions.Same], l.Decisions.Then...)
	for _, n := range log {
		if int(n) >= len(g.steps) {
			return errLog
		}
	}
	g.logs[l.ID] = log
	if g.short != nil {
		for _, d := range l.Steps {
			g.short.number[d] = uint32(len(g.short.number))
		}
		g.short.share(l.ID, log)
	}
	return nil
}

// decisions is the log of l, which was taken.
func (g *lengthener) decisions(l *line) ([]testcase.Decision, error) {
	log := g.logs[l.ID]
	out := make([]testcase.Decision, len(log))
	for i, n := range log {
		out[i] = g.steps[n]
	}
	if testcase.PathID(out) != l.PathID {
		return nil, errLog
	}
	return out, nil
}

// lastKnown is the last decision of l whose source is known, if there is one.
func (g *lengthener) lastKnown(l *line) ([]testcase.Decision, error) {
	for _, n := range slices.Backward(g.logs[l.ID]) {
		if d := g.steps[n]; d.Source != "" {
			return []testcase.Decision{d}, nil
		}
	}
	return nil, nil
}

// encode is l as it stands in the file.
func (l line) encode() ([]byte, error) {
	if err := l.Check(); err != nil {
		return nil, err
	}
	if l.Inputs == nil {
		l.Inputs = []testcase.Input{}
	}
	if l.Decisions.Then == nil {
		l.Decisions.Then = []uint32{}
	}
	return encodeLine(l)
}

// encodeLine is the JSON of v and a newline.
func encodeLine(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return b.Bytes(), err
}

func decodeLine(text []byte) (*line, error) {
	var l line
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, errors.New("empty line")
	}
	if err := json.Unmarshal(text, &l); err != nil {
		return nil, plainly(err)
	}
	return &l, l.Check()
}
