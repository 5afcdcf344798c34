//go:build !granule256 && !granule4k

package mem

// GranuleBits is the log2 of the copy-on-write granule in bytes. docs/rationale/mem.md
// has the measurement behind 1 KiB; the build tags granule256 and granule4k repeat it.
const GranuleBits = 10
