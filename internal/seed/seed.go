// Package seed gives the random tests their seeds, and no other code uses it:
//
//	r := seed.Rand(t)
//
// A test does the same on each run, so that a change is what makes it fail. The environment's SYMCHEF_SEED changes that: a number is
// the seed of every test, and with "random" every test has a fresh one, as in long runs. A test that fails shows the seed that it had.
package seed

import (
	"hash/fnv"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// Of returns the seed of t and logs it.
func Of(t testing.TB) uint64 {
	t.Helper()
	h := fnv.New64a()
	h.Write([]byte(t.Name()))
	seed := h.Sum64()
	switch v := os.Getenv("SYMCHEF_SEED"); v {
	case "":
	case "random":
		seed = rand.Uint64()
	default:
		var err error
		if seed, err = strconv.ParseUint(v, 0, 64); err != nil {
			t.Fatalf("SYMCHEF_SEED=%q is neither a number nor \"random\"", v)
		}
	}
	t.Logf("SYMCHEF_SEED=%#x", seed)
	return seed
}

// Rand returns a generator that starts at the seed of t.
func Rand(t testing.TB) *rand.Rand {
	t.Helper()
	return rand.New(rand.NewPCG(Of(t), 0))
}
