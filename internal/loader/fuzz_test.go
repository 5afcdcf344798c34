package loader

import "testing"

// FuzzLoad loads damaged programs: an ELF file with its interpreter, a script.
func FuzzLoad(f *testing.F) {
	ld := elfFile(3, 0, "")
	f.Add(elfFile(3, 0, "/ld"), ld)
	f.Add(elfFile(2, 0x400000, "")[:300], ld)
	f.Add([]byte("#!/ld -x\n"), ld[:200])
	f.Add([]byte("#!/p\n"), []byte("#! /ld"))
	f.Fuzz(func(t *testing.T, program1, ld []byte) {
		img, err := Load(program(map[string][]byte{"/p": program1, "/ld": ld}))
		if (img == nil) == (err == nil) {
			t.Fatal(img, err)
		}
	})
}
