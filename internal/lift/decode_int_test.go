package lift

import (
	"errors"
	"testing"
)

// TestDecode has what x86asm gets wrong, or used to: text of the instruction, its length.
func TestDecode(t *testing.T) {
	for _, c := range []struct {
		code []byte
		want string
	}{
		{[]byte{0xf3, 0x0f, 0x1e, 0xfa}, "NOP"},                                                // endbr64
		{[]byte{0xf3, 0x48, 0x0f, 0x1e, 0xc8}, "NOP"},                                          // rdsspq
		{[]byte{0x3e, 0xff, 0xe0}, "JMP"},                                                      // notrack
		{[]byte{0xf2, 0xff, 0x25, 0xff, 0xff, 0xff, 0x80}, "JMP"},                              // bnd
		{[]byte{0x66, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0}, "NOP"},                     // data16 cs nopw
		{[]byte{0x66, 0x66, 0x48, 0xe8, 0, 0, 0, 0}, "CALL"},                                   // data16 rex.W call
		{[]byte{0xf3, 0x0f, 0xbc, 0xc0}, "TZCNT"},                                              // rep bsf
		{[]byte{0xf0, 0x01, 0xc8}, "UD2"},                                                      // lock with a register destination
		{[]byte{0x64, 0x48, 0x8b, 0x04, 0x25, 0xf8, 0xff, 0xff, 0xff}, "MOV"},                  // disp32 -8
		{[]byte{0x66, 0x2e, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00, 0x90}[:10], "NOP"}, // ten bytes
		{[]byte{0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8}, "MOV"},                                    // movabs
		{[]byte{0x48, 0xa1, 0xff, 0xff, 0xff, 0x80, 0, 0, 0, 0}, "MOV"},                        // moffs64
		{[]byte{0x0f, 0x18, 0xe0}, "NOP"},                                                      // hint
		{[]byte{0xf3, 0x90}, "PAUSE"}, {[]byte{0x90}, "NOP"}, {[]byte{0x41, 0x90}, "XCHG"},     // the family of 90
	} {
		code := append(append([]byte{}, c.code...), 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90)
		in, err := decode(0x1000, code[:min(len(code), maxInsnLen)])
		if err != nil {
			t.Errorf("% x: %v", c.code, err)
			continue
		}
		if in.Op.String() != c.want || in.Len != len(c.code) {
			t.Errorf("% x: %v of %d bytes, want %s of %d", c.code, in.Op, in.Len, c.want, len(c.code))
		}
		for n := range c.code {
			if _, err := decode(0x1000, c.code[:n]); !errors.Is(err, ErrFault) {
				t.Errorf("% x cut to %d bytes: %v, want a fetch fault", c.code, n, err)
			}
		}
	}
}
