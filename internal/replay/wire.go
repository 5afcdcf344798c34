package replay

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"symchef/internal/testcase"
)

// plainSpec is a spec as gob encodes it.
type plainSpec spec

// specJSON is a spec in JSON: an object, since a reader of several values knows where that ends.
type specJSON struct{ Gob []byte }

// MarshalJSON implements json.Marshaler. Arguments, variables and names of files are bytes, of which a string of JSON would lose those from 0x80
// that are no UTF-8: a spec is what gob makes of it.
func (sp spec) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(plainSpec(sp)); err != nil {
		return nil, err
	}
	return json.Marshal(specJSON{b.Bytes()})
}

// UnmarshalJSON implements json.Unmarshaler.
func (sp *spec) UnmarshalJSON(text []byte) error {
	var j specJSON
	if err := json.Unmarshal(text, &j); err != nil {
		return err
	}
	err := gob.NewDecoder(bytes.NewReader(j.Gob)).Decode((*plainSpec)(sp))
	for name, text := range sp.Files {
		if text == nil { // as gob has what is empty
			sp.Files[name] = []byte{}
		}
	}
	return err
}

// rawByte stands for the byte 0x80 in what keepBytes makes, the next for 0x81 and so on: characters for private use that no language has.
const rawByte = 0x10ff80

// keepBytes is the JSON of a guest library with a character for each byte of it that is not UTF-8, and for each byte of a surrogate that stands alone, as
// languages write them to which a text is bytes or may have such; bytesOf gives them back. A JSON that has such characters of its own
// stays as it is.
func keepBytes(b []byte) []byte {
	if bytes.Contains(b, []byte{0xf4, 0x8f, 0xbe}) || bytes.Contains(b, []byte{0xf4, 0x8f, 0xbf}) || bytes.Contains(bytes.ToLower(b), []byte(`\udbff`)) {
		return b
	}
	out := make([]byte, 0, len(b))
	raw := func(c byte) { out = utf8.AppendRune(out, rawByte+rune(c-0x80)) }
	for len(b) > 0 {
		if b[0] == '\\' && len(b) > 1 {
			n := 2
			if u, ok := escape(b); ok && utf16.IsSurrogate(u) {
				n = 6
				if low, ok := escape(b[6:]); ok && utf16.DecodeRune(u, low) != utf8.RuneError {
					n = 12
				} else {
					for _, c := range []byte{0xe0 | byte(u>>12), 0x80 | byte(u>>6&0x3f), 0x80 | byte(u&0x3f)} {
						raw(c)
					}
					b = b[6:]
					continue
				}
			}
			out, b = append(out, b[:n]...), b[n:]
			continue
		}
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n == 1 {
			raw(b[0])
		} else {
			out = append(out, b[:n]...)
		}
		b = b[n:]
	}
	return out
}

// escape is the 16-bit unit that b begins with, written \uXXXX.
func escape(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	u, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	return rune(u), err == nil
}

// bytesOf gives back the bytes that keepBytes has kept.
func bytesOf(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r >= rawByte && r < rawByte+0x80 }) {
		return s
	}
	var out []byte
	for _, r := range s {
		if r >= rawByte && r < rawByte+0x80 {
			out = append(out, byte(0x80+r-rawByte))
		} else {
			out = utf8.AppendRune(out, r)
		}
	}
	return string(out)
}

// parseOutcome reads what a guest library wrote to its outcome file.
func parseOutcome(b []byte) (f outcomeFile, ok bool) {
	kept := keepBytes(b)
	if json.Unmarshal(kept, &f) != nil || f.Version != 1 || f.Kind == "" {
		return f, false
	}
	if !bytes.Equal(kept, b) {
		f.Kind, f.Type, f.Message = testcase.Kind(bytesOf(string(f.Kind))), bytesOf(f.Type), bytesOf(f.Message)
		for _, l := range [][]string{f.Log, f.Frames} {
			for i := range l {
				l[i] = bytesOf(l[i])
			}
		}
	}
	return f, true
}
