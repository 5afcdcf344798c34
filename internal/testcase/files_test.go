package testcase

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"symchef/internal/seed"
)

func TestSamePath(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		same bool
	}{
		{"/a/b", "/a/b", true}, {"/a/b", "/a/c", false}, {"/tmp/tmpab12cd_9", "/tmp/tmpzz98yx_0", true}, {"/tmp/tmpab12cd", "/tmp/tmpab12cde", false},
		{"/tmp/RtmpAbCdEf/x", "/tmp/RtmpGhIjKl/x", true}, {"/tmp/RtmpAbCdEf/x", "/tmp/RtmpGhIjKl/y", false}, {"/tmp/RtmpAbCdEf", "/tmp/RtmpGhIjKl/x", false},
		{"out1", "out2", false}, {"out-a.b-c", "out-d.e-f", false}, {"abcd.log", "efgh.log", true}, {"abc.log", "xyz.log", false}, {"", "x", false},
	} {
		if got := SamePath(tt.a, tt.b); got != tt.same || SamePath(tt.b, tt.a) != tt.same {
			t.Errorf("%q and %q: %v", tt.a, tt.b, got)
		}
	}
}

func TestUnlike(t *testing.T) {
	file := func(p string, size int64) FileEffect {
		return FileEffect{Path: Text(p), Change: Made, Kind: RegularFile, Mode: "0644", Size: size}
	}
	for _, tt := range []struct {
		name         string
		a, b         []FileEffect
		onlyA, onlyB string
	}{
		{"none", nil, nil, "", ""},
		{"equal", []FileEffect{file("/a", 1)}, []FileEffect{file("/a", 1)}, "", ""},
		{"size", []FileEffect{file("/a", 1)}, []FileEffect{file("/a", 2)}, "/a", "/a"},
		{"more", []FileEffect{file("/a", 1)}, []FileEffect{file("/a", 1), file("/b", 1)}, "", "/b"},
		{"less", []FileEffect{file("/a", 1), file("/b", 1)}, []FileEffect{file("/b", 1)}, "/a", ""},
		{"random", []FileEffect{file("/tmpabcdef", 1), file("/tmpghijkl", 2)}, []FileEffect{file("/tmp123456", 2), file("/tmp789012", 1)}, "", ""},
		{"random, one too many", []FileEffect{file("/tmpabcdef", 1), file("/tmpghijkl", 1)}, []FileEffect{file("/tmp123456", 1)}, "/tmpghijkl", ""},
		{"random, and equal", []FileEffect{file("/tmpabcdef", 1), file("/tmpghijkl", 1)}, []FileEffect{file("/tmp123456", 1), file("/tmpabcdef", 1)}, "", ""},
		{"made, not changed", []FileEffect{{Path: "/a", Change: Changed, Kind: FIFO}}, []FileEffect{{Path: "/a", Change: Made, Kind: FIFO}}, "", ""},
		{"removed", []FileEffect{{Path: "/a", Change: Removed}}, []FileEffect{{Path: "/a", Change: Made}}, "/a", "/a"},
	} {
		a, b := unlike(tt.a, tt.b)
		path := func(e *FileEffect) string {
			if e == nil {
				return ""
			}
			return string(e.Path)
		}
		if path(a) != tt.onlyA || path(b) != tt.onlyB {
			t.Errorf("%s: %q and %q, want %q and %q", tt.name, path(a), path(b), tt.onlyA, tt.onlyB)
		}
	}
}

func TestSince(t *testing.T) {
	before := []FileEffect{
		{Path: "/tmp/RtmpAbCdEf", Change: Made, Kind: Directory, Mode: "0700"},
		{Path: "/var/log/x", Change: Changed, Kind: RegularFile, Mode: "0644", Size: 1},
		{Path: "/tmp/mine", Change: Made, Kind: RegularFile, Mode: "0644", Size: 1},
	}
	after := []FileEffect{
		{Path: "/tmp/RtmpXxYyZz", Change: Made, Kind: Directory, Mode: "0700"},
		{Path: "/tmp/RtmpXxYyZz/plot", Change: Made, Kind: RegularFile, Mode: "0644", Size: 9},
		{Path: "/tmp/Rtmp", Change: Made, Kind: RegularFile, Mode: "0644"},
		{Path: "/tmp/mine", Change: Made, Kind: RegularFile, Mode: "0644", Size: 2},
		{Path: "/var/log/x", Change: Changed, Kind: RegularFile, Mode: "0644", Size: 1},
		{Path: "/var/log/y", Change: Removed},
	}
	got := fmt.Sprint(Since(before, after, "/tmp/"))
	if want := "[made '/tmp/Rtmp' (0644, 0 bytes) made '/tmp/mine' (0644, 2 bytes) removed '/var/log/y']"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if got := Since(nil, after, "/tmp"); len(got) != len(after) {
		t.Errorf("%v", got)
	}
}

func TestWithin(t *testing.T) {
	all := []FileEffect{{Path: "/a/b"}, {Path: "/a"}, {Path: "/ab"}, {Path: "/c/d/e"}}
	for _, tt := range []struct {
		folders []string
		want    int
	}{{nil, 4}, {[]string{}, 0}, {[]string{"/a"}, 1}, {[]string{"/a/", "/c"}, 2}, {[]string{"/"}, 4}} {
		if got := Within(all, tt.folders); len(got) != tt.want {
			t.Errorf("%q: %v", tt.folders, got)
		}
	}
}

// What was not recorded is not compared, and no effects are something else.
func TestNoFiles(t *testing.T) {
	o := Observation{Outcome: Outcome{Kind: OK}}
	none, some := o, o
	none.Files = []FileEffect{}
	some.Files = []FileEffect{{Path: "/a", Change: Removed}}
	if o.Difference(some) != nil || some.Difference(o) != nil {
		t.Error("files that are not known are compared")
	}
	if none.Difference(some) == nil || some.Difference(none) == nil {
		t.Error("files are not compared")
	}
	for _, x := range []Observation{o, none, some} {
		b, err := json.Marshal(x)
		var again Observation
		if err != nil || json.Unmarshal(b, &again) != nil || (again.Files == nil) != (x.Files == nil) || len(again.Files) != len(x.Files) {
			t.Errorf("%s: %+v, %v", b, again, err)
		}
	}
}

// Text of any bytes comes back as it was.
func TestText(t *testing.T) {
	r := seed.Rand(t)
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	cases := []string{"", "a", "\u00e9", "\xc3", string(all), "{", `{"bytes_hex":"00"}`, "\x00", "\ufffd", "<&>"}
	for range 500 {
		b := make([]byte, r.IntN(9))
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		cases = append(cases, string(b))
	}
	for _, s := range cases {
		b, err := json.Marshal([]Text{Text(s)})
		var again []Text
		if err != nil || json.Unmarshal(b, &again) != nil || len(again) != 1 || again[0] != Text(s) {
			t.Errorf("%q: %s, %q, %v", s, b, again, err)
		}
		if strings.Contains(s, "\ufffd") != strings.Contains(string(b), "\ufffd") {
			t.Errorf("%q: %s", s, b)
		}
	}
	for _, bad := range []string{`{"bytes_hex":"0"}`, `{"bytes_hex":1}`, `1`, `[`} {
		var x Text
		if json.Unmarshal([]byte(bad), &x) == nil {
			t.Errorf("%s is accepted as %q", bad, x)
		}
	}
}

func TestContentRoom(t *testing.T) {
	var room ContentRoom
	for i, c := range []struct {
		size int64
		want bool
	}{{MostContent + 1, false}, {MostContent - 1, true}, {2, false}, {1, true}, {0, true}, {1, false}} {
		if room.Take(c.size) != c.want {
			t.Errorf("%d: %d bytes", i, c.size)
		}
	}
	o := Observation{}
	var many []FileEffect
	for range MaxFiles + 2 {
		many = append(many, FileEffect{Kind: RegularFile, SHA256: "00"})
	}
	if o.SetFiles(many, false); o.Unlooked() != "" || o.FilesSHA256 == "" {
		t.Error(o.Unlooked())
	}
	many[MaxFiles+1].SHA256 = "" // not among those that are listed
	if o.SetFiles(many, false); o.Unlooked() == "" || o.FilesSHA256 != "" {
		t.Errorf("%q", o.FilesSHA256)
	}
}
