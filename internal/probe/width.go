package probe

import (
	"errors"

	"symchef/internal/ir"
	"symchef/internal/model"
)

// counted are numbers and how many digits they have, none for 0. The first few pass over most functions.
var counted = []struct{ number, digits uint64 }{
	{12_345, 5}, {7, 1}, {1_000_000_000_000, 13}, {0, 0}, {1, 1}, {9, 1}, {10, 2}, {99, 2}, {100, 3}, {999, 3}, {1000, 4}, {65_535, 5}, {99_999, 5}, {100_000, 6}, {2_147_483_647, 10},
	{4_294_967_296, 10}, {9_999_999_999, 10}, {10_000_000_000, 11}, {99_999_999_999_999, 14},
}

// countLimit is how many instructions a function may take to count: the linker may look for one that it calls.
const countLimit = 50_000

// stackUse is how much of the stack it may take.
const stackUse = 0x10000

// findWidth finds the function that counts the digits of a number, and does nothing else: an int of one of 64 bits.
func findWidth(p *Process, img *Image, b *model.Binding) error {
	var found []uint64
	for _, fn := range img.Functions {
		if counts(p, fn.Lo) {
			found = append(found, fn.Lo)
		}
	}
	if len(found) == 0 {
		return errors.New("no function counts the digits of a number")
	}
	b.Places = map[string][]uint64{"width": found}
	return nil
}

// counts is whether a function counts digits, whatever else it is given, and leaves memory as it is, but for the stack. What the linker writes
// is there after the first call.
func counts(p *Process, fn uint64) bool {
	q := p.Fork()
	q.Limit = countLimit
	for i, c := range counted {
		if got, err := q.Call(fn, c.number, uint64(i), ^uint64(0), 1, 0, 7); err != nil || uint32(got) != uint32(c.digits) {
			return false
		}
	}
	before := q.Fork()
	if _, err := q.Call(fn, counted[0].number); err != nil {
		return false
	}
	words, all := q.Memory().Diff(before.Memory(), 1000)
	sp := q.Register(ir.RSP)
	for _, at := range words {
		if at >= sp || at+stackUse < sp {
			return false
		}
	}
	return all
}
