//go:build granule4k

package mem

// GranuleBits is the log2 of the copy-on-write granule in bytes.
const GranuleBits = 12
