package main

import "testing"

// FuzzSizes reads what users may write for sizes and counts.
func FuzzSizes(f *testing.F) {
	for _, s := range []string{"3x8", "x", "4G", "1k", "0x0", "-1x-1", "99999999999999999999G"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if n, size, err := parseArgv(s); err == nil && (n < 1 || size < 1 || n*size > maxArgv) {
			t.Fatalf("%q: %d of %d bytes", s, n, size)
		}
		parseSize(s)
	})
}
