package replay

import (
	"encoding/json"
	"reflect"
	"testing"

	"symchef/internal/seed"
)

// Bytes of any value come to the confine child as they are.
func TestSpecIsLossless(t *testing.T) {
	all := make([]byte, 255)
	for i := range all {
		all[i] = byte(i + 1)
	}
	text := string(all)
	want := spec{Mode: Landlock, Path: "/bin/" + text, Argv: []string{text, "", text}, Env: []string{"A=" + text, text + "=b"}, Cwd: "/" + text,
		Files: map[string][]byte{text: all, "x": {}}, Inputs: all, GuestLib: "/" + text, Scratch: "/" + text, Writes: []string{text}, Moves: []string{text}, Limits: Limits{}.withDefaults(), Randomize: true}
	b, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got spec
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// A guest library's texts keep their bytes.
func TestParseOutcome(t *testing.T) {
	file := func(message string) []byte {
		return []byte(`{"version":1,"kind":"exception","type":"E","message":"` + message + `","log":["` + message + `"],"frames":["` + message + `:1:f"]}`)
	}
	for _, tt := range []struct{ json, want string }{
		{"plain", "plain"}, {"\xff", "\xff"}, {"a\x80b\xc3\xa9\xc3", "a\x80b\u00e9\xc3"}, {`\udcff`, "\xed\xb3\xbf"}, {`\ud83d\ude00`, "\U0001f600"},
		{`\ud83d\u0041`, "\xed\xa0\xbdA"}, {`\\udcff\u00e9\\`, `\udcff` + "\u00e9" + `\`}, {`\ud83d`, "\xed\xa0\xbd"}, {"\U0010ff80", "\U0010ff80"}, {`\"\xff`, ""}, {"\"", ""},
	} {
		f, ok := parseOutcome(file(tt.json))
		if ok != (tt.want != "") {
			t.Errorf("%q: accepted %v", tt.json, ok)
		}
		if ok && (f.Message != tt.want || f.Log[0] != tt.want || f.Frames[0] != tt.want+":1:f" || f.Kind != "exception") {
			t.Errorf("%q: %q, want %q", tt.json, f.Message, tt.want)
		}
	}
	for _, bad := range []string{"", "{}", `{"version":2,"kind":"ok"}`, `{"version":1}`, "\xff", `\u`, `{"version":1,"kind":"ok","message":"\u"}`} {
		if f, ok := parseOutcome([]byte(bad)); ok {
			t.Errorf("%q is accepted: %+v", bad, f)
		}
	}
}

// Texts of random bytes come back from JSON that has them as they are.
func TestParseOutcomeRandom(t *testing.T) {
	r := seed.Rand(t)
	for range 5000 {
		b := make([]byte, r.IntN(12))
		for i := range b {
			b[i] = byte(0x20 + r.IntN(0xe0))
			if b[i] == '"' || b[i] == '\\' {
				b[i] = 0xc3
			}
		}
		f, ok := parseOutcome([]byte(`{"version":1,"kind":"ok","message":"` + string(b) + `"}`))
		if !ok || f.Message != string(b) {
			t.Fatalf("%q: %q, %v", b, f.Message, ok)
		}
	}
}

func FuzzParseOutcome(f *testing.F) {
	f.Add([]byte(`{"version":1,"kind":"ok","message":"\udcff\u00e9","log":["` + "\xff" + `"]}`))
	f.Add([]byte(`\u`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var plain outcomeFile
		ok := json.Unmarshal(b, &plain) == nil && plain.Version == 1 && plain.Kind != ""
		if _, got := parseOutcome(b); got != ok {
			t.Fatalf("%q: accepted %v, as JSON %v", b, got, ok)
		}
	})
}
