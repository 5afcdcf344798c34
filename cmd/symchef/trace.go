package main

import (
	"fmt"
	"os"

	"symchef/internal/timeline"
)

// tracing is the trace of a command, and its file; the zero value is none.
type tracing struct {
	*timeline.Log
	f *os.File
}

// traceTo begins a trace in the file at path; empty: there is none.
func traceTo(path string) (tracing, error) {
	if path == "" {
		return tracing{}, nil
	}
	if st, err := os.Stat(path); err == nil && st.Mode()&os.ModeNamedPipe != 0 { // there may be no reader, ever
		return tracing{}, fmt.Errorf("--trace: %s is a pipe; name a file", path)
	}
	f, err := os.Create(path)
	if err != nil {
		return tracing{}, fmt.Errorf("--trace: %w", err)
	}
	return tracing{timeline.New(f), f}, nil
}

// close ends it.
func (t tracing) close() error {
	if t.Log == nil {
		return nil
	}
	err := t.Close()
	if e := t.f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return fmt.Errorf("--trace: %w", err)
	}
	return nil
}
