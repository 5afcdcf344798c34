//go:build granule256

package mem

// GranuleBits is the log2 of the copy-on-write granule in bytes.
const GranuleBits = 8
