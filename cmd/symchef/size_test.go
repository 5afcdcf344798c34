package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A run directory with 1,000 test cases, more or less, each with a long log and an output of its own, is small: blocks of the disk are counted.
func TestSize(t *testing.T) {
	b := pythonBox(t)
	b.write("test_size.py", `import symchef
def test_size(s: symchef.Str(11)):
    n = 0
    for i, c in enumerate(s):
        if c > "m": n += 1 << i
    print(n, "x" * 50)
`)
	b.run("run", "--out", "out", "--no-replay", "--max-paths", "2000", "test_size.py").want(0)
	_, tests := b.load("out")
	size := int64(0)
	filepath.Walk(b.path("out"), func(_ string, st os.FileInfo, err error) error {
		if err == nil {
			size += st.Sys().(*syscall.Stat_t).Blocks * 512
		}
		return err
	})
	if len(tests) < 900 || size > 10<<20*int64(len(tests))/1000 {
		t.Errorf("%d test cases take %d bytes", len(tests), size)
	}
	t.Logf("%d test cases take %d bytes", len(tests), size)
	for _, x := range tests[:3] {
		if out := b.output("out", x); len(out) != int(x.OutputBytes) {
			t.Errorf("%s: kept %d of %d bytes", x.ID, len(out), x.OutputBytes)
		}
	}
	b.run("rerun", "--test", tests[len(tests)-1].ID, "out").want(0, "1 agreed")
}
