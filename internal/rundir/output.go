package rundir

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"unicode/utf8"

	"symchef/internal/disk"
)

// MaxOutput bounds what outputs.jsonl keeps of an output, in bytes; a test's digest and size are those of the whole output.
const MaxOutput = 64 << 10

// outputLine is a line of outputs.jsonl: the beginning of what a guest wrote to one of its streams, or to a file, as text if it is UTF-8.
type outputLine struct {
	SHA256 string  `json:"sha256"` // of the whole output, or of standard error, see testcase.StderrDigest
	Text   *string `json:"text,omitempty"`
	Base64 []byte  `json:"base64,omitempty"`
}

// WriteOutput keeps the beginning of an output that has this digest, once. Call it before Append.
func (w *Writer) WriteOutput(digest string, out []byte) error {
	if len(out) == 0 {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.kept[digest] {
		return nil
	}
	l := outputLine{SHA256: digest}
	if out = out[:min(len(out), MaxOutput)]; utf8.Valid(out) {
		text := string(out)
		l.Text = &text
	} else {
		l.Base64 = out
	}
	b, err := encodeLine(l)
	if err != nil {
		return err
	}
	if err := w.outputs.append(b); err != nil {
		return failure(w.dir, err)
	}
	w.kept[digest] = true
	return nil
}

// Outputs is a Reader of dir for its outputs alone: while a run goes on there need be no summary.
func Outputs(dir string) *Reader { return &Reader{dir: dir} }

// Output is the beginning of the output that has this digest; nil if none was written.
func (r *Reader) Output(digest string) ([]byte, error) {
	if r.outputs == nil {
		all, _, err := readOutputs(r.dir)
		if err != nil {
			return nil, err
		}
		r.outputs = all
	}
	return r.outputs[digest], nil
}

// readOutputs returns what the whole lines of outputs.jsonl hold, and their size.
func readOutputs(dir string) (all map[string][]byte, size int64, err error) {
	all = map[string][]byte{}
	size, err = eachLine(filepath.Join(dir, outputsName), -1, func(text []byte) error {
		var l outputLine
		if err := json.Unmarshal(text, &l); err != nil {
			return plainly(err)
		}
		if l.Text != nil {
			l.Base64 = []byte(*l.Text)
		}
		all[l.SHA256] = l.Base64
		return nil
	})
	return all, size, err
}

// eachLine calls f with every whole line of a file, or of its first limit bytes if that is not negative, and returns their size. No file has no lines.
func eachLine(path string, limit int64, f func(line []byte) error) (size int64, err error) {
	file, err := disk.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, named(path, err)
	}
	defer file.Close()
	in := bufio.NewReader(file)
	for n := 1; limit < 0 || size < limit; n++ {
		text, err := in.ReadBytes('\n')
		if err == io.EOF {
			return size, nil
		}
		if err != nil {
			return size, named(path, err)
		}
		if err := f(text); err != nil {
			return size, fmt.Errorf("%s:%d: %w", path, n, err)
		}
		size += int64(len(text))
	}
	return size, nil
}

// named is err with the path that it is about, once.
func named(path string, err error) error { return fmt.Errorf("%s: %w", path, reason(err)) }

// lines is a file of lines that is only appended to.
type lines struct {
	f    *os.File
	size int64 // of whole lines
}

// append adds a line with one write(2). Of a line that does not fit, on a full disk, nothing stays.
func (l *lines) append(line []byte) error {
	if _, err := l.f.Write(line); err != nil {
		return errors.Join(err, l.f.Truncate(l.size))
	}
	l.size += int64(len(line))
	return nil
}

// openLines opens the file name of dir to append to its first size bytes; the rest is dropped.
func openLines(dir, name string, size int64) (l lines, err error) {
	if l.f, err = os.OpenFile(filepath.Join(dir, name), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644); err != nil {
		return l, err
	}
	l.size = size
	return l, l.f.Truncate(size)
}
