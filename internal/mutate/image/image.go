// Package image writes what a package makes of many inputs as text that can be compared: before and after a fault, by
// equality or by a solver. A package that faults are planted in has a TestImage, which does nothing unless
// internal/mutate asks for it.
//
//	func TestImage(t *testing.T) {
//		w := image.New(t)
//		w.Form("add 8", "; how it was built", "(declare-const |x| (_ BitVec 8))", "(define-fun out.0 () ...)")
//	}
//
// The text of a form is SMT-LIB:
//
//   - inputs are declared under quoted names, its results are the constants or functions |out.0|, |out.1| ...;
//   - names of its own begin with ?;
//   - ?side, a Bool that is asserted, is what the circuit demands of fresh bits, declared under names that begin with ?fresh;
//   - a comment holds what has to be the same to be equal at all.
package image

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"
)

// File is the environment variable that names the file to write.
const File = "SYMCHEF_IMAGE"

// Writer writes an image.
type Writer struct {
	t    *testing.T
	out  *bufio.Writer
	seen map[string]bool
}

// New opens the image; without a file to write the test is skipped.
func New(t *testing.T) *Writer {
	path := os.Getenv(File)
	if path == "" {
		t.Skip("skipped: for make mutate (internal/mutate -prove)")
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := &Writer{t: t, out: bufio.NewWriterSize(f, 1<<20), seen: map[string]bool{}}
	t.Cleanup(func() {
		if err := w.out.Flush(); err != nil {
			t.Error(err)
		}
		f.Close()
	})
	return w
}

// Form writes one form. A name that was there already is left out.
func (w *Writer) Form(name string, lines ...string) {
	if w.seen[name] {
		return
	}
	w.seen[name] = true
	fmt.Fprintf(w.out, "%s%s\n%s\n", Head, name, strings.TrimSpace(strings.Join(lines, "\n")))
}

// Head begins the line with a form's name.
const Head = ";; "
