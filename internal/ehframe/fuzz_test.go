package ehframe

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"testing"
)

// FuzzFrames reads the functions of damaged ELF files.
func FuzzFrames(f *testing.F) {
	f.Add([]byte("\x7fELF\x02\x01\x01"))
	f.Add(tinyELF())
	if e, err := elf.NewFile(bytes.NewReader(tinyELF())); err != nil {
		f.Fatal(err)
	} else if fs, err := Functions(e); err != nil || len(fs) != 1 {
		f.Fatal(fs, err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := elf.NewFile(bytes.NewReader(data))
		if err != nil {
			return
		}
		Functions(e)
	})
}

// TestPromises: headers that promise more than the file has cost no memory.
func TestPromises(t *testing.T) {
	const huge = 1 << 46
	b := tinyELF()
	put := func(at int, v ...uint64) {
		for i, v := range v {
			binary.LittleEndian.PutUint64(b[at+8*i:], v)
		}
	}
	binary.LittleEndian.PutUint32(b[0x64:], 1<<31-1) // the function's size
	put(32, 0x140, 0)                                // program headers, no sections
	b[56], b[60], b[62] = 2, 0, 0
	load, frame := uint64(elf.PT_LOAD)|4<<32, uint64(elf.PT_GNU_EH_FRAME)|4<<32
	put(0x140, load, 0, 0, 0, huge, huge, 1)
	put(0x140+56, frame, 0xc0, 0xc0, 0xc0, 12, 12, 1)
	copy(b[0xc0:], "\x01\x1b\x03\x3b\x7c\xff\xff\xff\x00\x00\x00\x00") // .eh_frame at 0x40
	f, err := elf.NewFile(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	at, off, err := frameSection(f)
	if err != nil || off != 0x40 || len(at) != len(b)-0x40 {
		t.Errorf("%d bytes at %#x, %v", len(at), off, err)
	}
	if fns, err := Functions(f); err != nil || len(fns) != 0 {
		t.Errorf("functions %v, %v", fns, err)
	}
}

// tinyELF is a file whose call frame information lists one function.
func tinyELF() []byte {
	b := make([]byte, 0x200)
	copy(b, "\x7fELF\x02\x01\x01")
	put := func(at int, v uint64, n int) {
		for i := range n {
			b[at+i] = byte(v >> (8 * i))
		}
	}
	put(16, 3, 2)
	put(18, 62, 2)
	put(20, 1, 4)
	put(40, 0x100, 8) // section headers
	put(52, 64, 2)
	put(54, 56, 2)
	put(58, 64, 2)
	put(60, 3, 2)
	put(62, 2, 2)
	section := func(i int, name, kind, addr, off, size uint64) {
		at := 0x100 + 64*i
		put(at, name, 4)
		put(at+4, kind, 4)
		put(at+16, addr, 8)
		put(at+24, off, 8)
		put(at+32, size, 8)
	}
	section(1, 1, 1, 0x40, 0x40, 0x48)
	section(2, 11, 3, 0, 0xc0, 0x20)
	copy(b[0xc1:], ".eh_frame\x00.shstrtab")
	cie := "\x14\x00\x00\x00\x00\x00\x00\x00\x01zR\x00\x01\x78\x10\x01\x1b\x0c\x07\x08\x90\x01\x00\x00"
	fde := "\x14\x00\x00\x00\x1c\x00\x00\x00\x00\x10\x00\x00\x40\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
	copy(b[0x40:], cie+fde)
	return b
}
