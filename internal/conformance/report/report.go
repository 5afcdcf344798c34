// Package report keeps the generated tables of docs/conformance-*.md: a run
// renews the rows of what it ran and leaves the others as they are.
package report

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
)

// Document is a Markdown file with one table. A row's first cell is its name.
type Document struct {
	Path  string
	Head  string                 // up to and including the table's two head lines, the second of which begins with |--
	Order []string               // the names that have rows, in this order; nil: all, sorted
	Tail  string                 // behind the table
	Drop  func(name string) bool // rows that go; nil: none

	mu sync.Mutex // guards the file within this process
}

// Rows returns the file's rows by name.
func (d *Document) Rows() (map[string]string, error) {
	rows := map[string]string{}
	old, err := os.ReadFile(d.Path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	_, table, _ := strings.Cut(string(old), "\n|--")
	for line := range strings.Lines(table) {
		if f := strings.Fields(line); len(f) > 2 && f[0] == "|" && (d.Drop == nil || !d.Drop(f[1])) {
			rows[f[1]] = strings.TrimSuffix(line, "\n")
		}
	}
	return rows, nil
}

// Put enters a row into the file, which another process may have changed since.
func (d *Document) Put(name, row string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	rows, err := d.Rows()
	if err != nil {
		return err
	}
	rows[name] = row
	return os.WriteFile(d.Path, d.Text(rows), 0o644)
}

// Text is the file's content with these rows.
func (d *Document) Text(rows map[string]string) []byte {
	var b bytes.Buffer
	b.WriteString(d.Head)
	order := d.Order
	if order == nil {
		order = slices.Sorted(maps.Keys(rows))
	}
	for _, name := range order {
		if row, ok := rows[name]; ok {
			fmt.Fprintln(&b, row)
		}
	}
	b.WriteString(d.Tail)
	return b.Bytes()
}

// Current writes the document if update is set, and reports whether it is on disk as rows have it.
func (d *Document) Current(rows map[string]string, update bool) error {
	if update {
		if err := os.WriteFile(d.Path, d.Text(rows), 0o644); err != nil {
			return err
		}
	}
	if old, err := os.ReadFile(d.Path); err != nil || !bytes.Equal(old, d.Text(rows)) {
		return fmt.Errorf("%s is not current (%v): make conformance", d.Path, err)
	}
	return nil
}
