package testcase

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"regexp"
)

// An allowance is a difference between two runs of one program on one input that is no difference to a user.
type allowance struct {
	why  string
	what *regexp.Regexp
	as   string
	// text: in messages and frames, too; otherwise on standard error only. Standard output is compared to the last byte.
	text bool
}

// allowed are all the differences that are. What stands for them is what classes of behaviour are told by, too: the machine's clock and
// numbers of processes may differ from path to path.
var allowed = []allowance{
	{"the machine and Linux place objects differently: what has no text of its own is shown as TYPE at ADDRESS", regexp.MustCompile(` at 0x[0-9a-f]+`), " at 0x?", true},
	{"likewise: TYPE: 0x5581c0e2b2a0, <TYPE: 0x55d5c8a3e1c8>, Thread 0x00007f2a5e3c2740",
		regexp.MustCompile(`\b0x[0-9a-f]{9,16}\b`), "0x?", true},
	{"processes are numbered differently", regexp.MustCompile(`\b([Pp][Ii][Dd]|[Pp]rocess)([ =:#(\[]{1,2})[0-9]+\b`), "${1}${2}?", false},
	{"likewise: sh says which of its children died", regexp.MustCompile(`(: line [0-9]+: )[ ]*[0-9]+ (Hangup|Aborted|Killed|Terminated|Segmentation fault|Bus error|Illegal instruction|Floating point exception|Trace/breakpoint trap)`), "${1}? ${2}", false},
	{"nobody keeps cores", regexp.MustCompile(` \(core dumped\)`), "", false},
	{"the machine counts instructions, Linux time: dates", regexp.MustCompile(`\b[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.,][0-9]+)?)?)?\b`), "?-?-?", false},
	{"likewise: times of day", regexp.MustCompile(`\b[0-9]{2}:[0-9]{2}:[0-9]{2}([.,][0-9]+)?\b`), "?:?:?", false},
	{"likewise: how long something took", regexp.MustCompile(`\b[0-9]+\.[0-9]+ ?(s|sec|secs|second|seconds|ms)\b`), "?${1}", false},
}

// allow replaces what may differ in p.
func allow(p []byte, text bool) []byte {
	if !bytes.ContainsAny(p, "0123456789") && !bytes.Contains(p, []byte("(core dumped)")) {
		return p // what every row needs, found a hundred times faster
	}
	for _, a := range allowed {
		if a.text || !text {
			p = a.what.ReplaceAll(p, []byte(a.as))
		}
	}
	return p
}

// sameText compares two messages or frames.
func sameText(a, b string) bool {
	return a == b || bytes.Equal(allow([]byte(a), true), allow([]byte(b), true))
}

// maxLine is how many bytes of a line on standard error are looked at together.
const maxLine = 1 << 16

// A StderrDigest digests standard error without what may differ. The zero value is that of nothing.
type StderrDigest struct {
	n    int64
	line []byte
	hash hash.Hash
}

// Write implements io.Writer; it does not fail.
func (d *StderrDigest) Write(p []byte) (int, error) {
	d.n += int64(len(p))
	for rest := p; len(rest) > 0; {
		i := bytes.IndexByte(rest, '\n') + 1
		if i == 0 {
			i = len(rest)
		}
		i = min(i, maxLine-len(d.line))
		d.line = append(d.line, rest[:i]...)
		if rest = rest[i:]; d.line[len(d.line)-1] == '\n' || len(d.line) == maxLine {
			d.flush()
		}
	}
	return len(p), nil
}

func (d *StderrDigest) flush() {
	if d.hash == nil {
		d.hash = sha256.New()
	}
	d.hash.Write(allow(d.line, false))
	d.line = d.line[:0]
}

// Sum ends the stream: its digest in lower-case hex, and how many bytes it had.
func (d *StderrDigest) Sum() (digest string, n int64) {
	d.flush()
	return hex.EncodeToString(d.hash.Sum(nil)), d.n
}
