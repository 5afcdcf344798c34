package lift_test

import (
	"fmt"
	"testing"

	"symchef/internal/ir"
	"symchef/internal/lift"
)

// TestCoalesce: results go to their register at once, but never ahead of something that may stop.
func TestCoalesce(t *testing.T) {
	for _, c := range []struct {
		name string
		code []byte
		want string // op and destination slot of each uop before the terminator
	}{
		{"mov (%rbx), %rax", []byte{0x48, 0x8b, 0x03}, "[load 0]"},
		{"movzbl (%rbx), %eax", []byte{0x0f, 0xb6, 0x03}, "[load 0]"},
		{"and $0x7f, %eax", []byte{0x83, 0xe0, 0x7f}, "[and 0 setcc 0]"}, // the flags read what eax became
		{"pop %rbx", []byte{0x5b}, "[load 3 add 4]"},
		{"pop %rsp", []byte{0x5c}, "[load T add 4 mov 4]"},                                                    // rsp is written in between
		{"xchg %rax, %rbx", []byte{0x48, 0x93}, "[mov T mov 3 mov 0]"},                                        // rax is read in between
		{"xadd %rax, (%rbx)", []byte{0x48, 0x0f, 0xc1, 0x03}, "[load T mov T1 add T2 store 0 setcc 0 mov 0]"}, // the store may fault
	} {
		code := append(c.code, 0xeb, 0xfe) // jmp to itself
		blk, err := lift.Lift(0x1000, func(addr uint64, p []byte) int {
			if addr-0x1000 >= uint64(len(code)) {
				return 0
			}
			return copy(p, code[addr-0x1000:])
		})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		var got []string
		for _, u := range blk.Uops[:len(blk.Uops)-1] {
			to := fmt.Sprint(u.D)
			if u.D >= ir.Temp0 { // T, T1 ...
				to = map[ir.Slot]string{0: "T", 1: "T1", 2: "T2"}[u.D-ir.Temp0]
			}
			got = append(got, fmt.Sprint(u.Op, " ", to))
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%s: %v, want %s", c.name, got, c.want)
		}
	}
}
