package session

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// The head of a test file is the imports that it begins with. A guest library may execute them before it opens the file: it finds the file's
// lines below headRoot. A system that is about to look at the file for the first time depends on nothing of it but the lines that were asked for, so its
// snapshot serves after an edit below them. Nothing here knows a language.

// headRoot is where a guest library finds the lines of the test file: headRoot/1 and so on, each without its end, and headRoot/1.7, the
// first 7 bytes of it, for one that has to know only how a line begins.
const headRoot = "/symchef/head"

// head shows the lines of the test file as files, and knows what has been asked for. It is safe for concurrent use.
type head struct {
	lines [][]byte
	mu    sync.Mutex
	asked asked
}

// asked is how many bytes of each line, from the first on, have been asked for.
type asked []int

// maxHead bounds what is read of a test file for its head, in bytes: more than any line has.
const maxHead = 1 << 16

// headOf returns the head of the file at path; without lines where it cannot be read.
func headOf(path string) *head {
	f, err := os.Open(path)
	if err != nil {
		return &head{}
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxHead))
	if err != nil {
		return &head{}
	}
	lines := bytes.Split(data, []byte("\n"))
	return &head{lines: lines[:len(lines)-1]} // the last has no end
}

// Open is fs.FS.
func (h *head) Open(name string) (fs.File, error) {
	if name == "." {
		return headFolder{}, nil
	}
	n := maxHead
	number, prefix, part := strings.Cut(name, ".")
	line, err := strconv.Atoi(number)
	if part && err == nil {
		n, err = strconv.Atoi(prefix)
	}
	if err != nil || line < 1 || line > maxHead || n < 0 {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	h.ask(line, n)
	text, ok := h.line(line, n)
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return &headLine{Reader: bytes.NewReader(text), name: name}, nil
}

// line returns the first n bytes of a line; false if there is no such line.
func (h *head) line(number, n int) ([]byte, bool) {
	if number > len(h.lines) {
		return nil, false
	}
	l := h.lines[number-1]
	return l[:min(n, len(l))], true
}

// ask notes that the first n bytes of a line have been asked for.
func (h *head) ask(number, n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for len(h.asked) < number {
		h.asked = append(h.asked, 0)
	}
	h.asked[number-1] = max(h.asked[number-1], n)
}

// known returns what has been asked for.
func (h *head) known() asked {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.asked)
}

// digest is that of what a has asked for.
func (h *head) digest(a asked) string {
	sum := sha256.New()
	for i, n := range a {
		text, ok := h.line(i+1, n)
		fmt.Fprintf(sum, "%v %q\n", ok, text)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// headLine is a line as a file.
type headLine struct {
	*bytes.Reader
	name string
}

func (l *headLine) Stat() (fs.FileInfo, error) { return l, nil }
func (l *headLine) Close() error               { return nil }
func (l *headLine) Name() string               { return l.name }
func (l *headLine) Mode() fs.FileMode          { return 0o444 }
func (l *headLine) ModTime() time.Time         { return time.Time{} }
func (l *headLine) IsDir() bool                { return false }
func (l *headLine) Sys() any                   { return nil }

// headFolder is where they are. It cannot be listed: that would tell how many there are.
type headFolder struct{ *headLine }

func (headFolder) Stat() (fs.FileInfo, error) { return headFolder{}, nil }
func (headFolder) Read([]byte) (int, error)   { return 0, fs.ErrInvalid }
func (headFolder) Name() string               { return "." }
func (headFolder) Size() int64                { return 0 }
func (headFolder) Mode() fs.FileMode          { return fs.ModeDir | 0o555 }
func (headFolder) IsDir() bool                { return true }

// headCalls is how many system calls a start makes at least for a snapshot behind the head to be kept: fewer are made again as fast.
const headCalls = 200
