package ehframe

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// columnNames are those of readelf.
var columnNames = []string{"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "ra"}

// TestRows compares the rows of real programs' call frame tables with those that readelf shows.
func TestRows(t *testing.T) {
	readelf, err := exec.LookPath("readelf")
	if err != nil {
		t.Skip("skipped: readelf is not installed")
	}
	for _, path := range []string{"/usr/bin/lua5.4", "/usr/bin/perl", "/usr/bin/python3.11"} {
		data, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		f, err := elf.NewFile(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		table, err := Read(f)
		if err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(readelf, "--debug-dump=frames-interp", "--debug-dump=no-follow-links", path).Output()
		if err != nil {
			t.Fatal(err)
		}
		var columns []string
		rows, refused := 0, 0
		for _, line := range strings.Split(string(out), "\n") {
			words := strings.Fields(line)
			switch {
			case len(words) > 1 && words[0] == "LOC":
				columns = words[2:]
			case len(words) > 1 && len(words[0]) == 16 && len(words) == len(columns)+2:
				pc, err := strconv.ParseUint(words[0], 16, 64)
				if err != nil || pc == 0 { // of a CIE
					continue
				}
				e := table.entry(pc)
				if e == nil {
					t.Fatalf("%s: no function at %#x", path, pc)
				}
				w, ok := e.at(pc)
				if !ok {
					if !strings.Contains(line, "exp") {
						t.Errorf("%s: refused: %s", path, line)
					}
					refused++
					continue
				}
				rows++
				got := shownRow(w, columns)
				if want := strings.Join(words[1:], " "); got != want {
					t.Fatalf("%s at %#x: %s, readelf has %s", path, pc, got, want)
				}
			}
		}
		t.Logf("%s: %d rows, %d with expressions", path, rows, refused)
		if rows < 1000 || refused > rows/50 {
			t.Errorf("%s: %d rows, %d refused", path, rows, refused)
		}
	}
}

// shownRow is w as readelf shows it.
func shownRow(w row, columns []string) string {
	out := []string{fmt.Sprintf("%s%+d", columnNames[w.column], w.offset)}
	for _, name := range columns {
		for c, n := range columnNames {
			if n != name {
				continue
			}
			switch x := w.rules[c]; x.how {
			case at:
				out = append(out, fmt.Sprintf("c%+d", x.offset))
			case equal:
				out = append(out, fmt.Sprintf("v%+d", x.offset))
			case other:
				out = append(out, columnNames[x.offset])
			default:
				out = append(out, "u")
			}
		}
	}
	return strings.Join(out, " ")
}

// TestDamagedRows: no program of a call frame table makes the interpreter fail otherwise than by refusing.
func TestDamagedRows(t *testing.T) {
	c := common{code: 1, data: -8, ra: ColumnRA}
	for a := range 256 {
		for b := range 256 {
			for _, rest := range [][]byte{nil, {0xff}, {0x7f, 0x7f}, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}, {0x0b, 0x0a}} {
				table := Table{{Extent{0x1000, 0x2000}, &c, append([]byte{byte(a), byte(b)}, rest...)}}
				r := &Registers{}
				r.Set(ColumnRSP, 0x7000)
				table.Caller(0x1800, r, func(uint64) (uint64, bool) { return 0, false })
			}
		}
	}
}
