package testcase

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// A Part is one thing a user can see, by which paths are told into classes.
type Part string

// The parts, in the order in which Parts has them.
const (
	PartOutcome  Part = "outcome"  // kind, exception type, signal, status, and the line that raised
	PartMessage  Part = "message"  // of the exception
	PartStdout   Part = "stdout"   // standard output
	PartStderr   Part = "stderr"   // standard error, see StderrDigest
	PartReturned Part = "returned" // what the test function returned
	PartFiles    Part = "files"    // files made, changed and removed
)

// Parts are all of them.
var Parts = []Part{PartOutcome, PartMessage, PartStdout, PartStderr, PartReturned, PartFiles}

// ParseParts reads a list separated by commas; "all" is Parts. The result is in the order of Parts.
func ParseParts(list string) ([]Part, error) {
	if list == "all" {
		return Parts, nil
	}
	asked := map[Part]bool{}
	for _, word := range strings.Split(list, ",") {
		if !slices.Contains(Parts, Part(word)) {
			return nil, fmt.Errorf("%q is no part of what a user can see; there are all, %s", word, joinParts(Parts))
		}
		asked[Part(word)] = true
	}
	var out []Part
	for _, p := range Parts {
		if asked[p] {
			out = append(out, p)
		}
	}
	return out, nil
}

func joinParts(l []Part) string {
	words := make([]string, len(l))
	for i, p := range l {
		words[i] = string(p)
	}
	return strings.Join(words, ", ")
}

// A Class digests what a user can see of a path, part by part. Bytes that are symbolic, and so may have other values on the same path, count as one
// mark for each run of them: a program that prints its input does not behave in another way for each.
type Class struct {
	parts []Part
	sum   []byte
}

// NewClass begins a class by parts.
func NewClass(parts []Part) *Class { return &Class{parts: parts} }

// Add adds concrete text to part.
func (c *Class) Add(part Part, text ...string) {
	for _, t := range text {
		c.AddBytes(part, []byte(t), nil)
	}
}

// AddBytes adds bytes to part; symbolic says which are, nil: none.
func (c *Class) AddBytes(part Part, b []byte, symbolic func(i int) bool) {
	if !slices.Contains(c.parts, part) {
		return
	}
	if symbolic != nil {
		b = masked(b, symbolic)
	}
	if part == PartStderr {
		b = allow(b, false)
	}
	if part == PartMessage {
		b = allow(b, true)
	}
	c.sum = append(c.sum, part...)
	c.sum = binary.AppendUvarint(c.sum, uint64(len(b)))
	c.sum = append(c.sum, b...)
	h := sha256.Sum256(c.sum)
	c.sum = append(c.sum[:0], h[:]...)
}

// masked is b with a mark for each run of symbolic bytes.
func masked(b []byte, symbolic func(i int) bool) []byte {
	const escape = 0xff // a byte that text has none of
	out := make([]byte, 0, len(b))
	in := false
	for i, c := range b {
		switch {
		case symbolic(i):
			if !in {
				out = append(out, escape, 1)
			}
			in = true
			continue
		case c == escape:
			out = append(out, escape)
		}
		in = false
		out = append(out, c)
	}
	return out
}

// Digest is the class.
func (c *Class) Digest() string {
	h := sha256.Sum256(c.sum)
	return hex.EncodeToString(h[:])
}
