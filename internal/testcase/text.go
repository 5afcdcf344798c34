package testcase

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// Text is text that need not be UTF-8, as paths, arguments and messages need not. In JSON it is a string where it is UTF-8, and
// {"bytes_hex": "..."} where it is not: a string of JSON would lose bytes from 0x80.
type Text string

// textJSON is a Text that is not UTF-8.
type textJSON struct {
	BytesHex string `json:"bytes_hex"`
}

// MarshalJSON implements json.Marshaler.
func (t Text) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(t)) {
		return marshal(string(t))
	}
	return marshal(textJSON{hex.EncodeToString([]byte(t))})
}

// UnmarshalJSON implements json.Unmarshaler.
func (t *Text) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '{' {
		var j textJSON
		if err := json.Unmarshal(b, &j); err != nil {
			return err
		}
		raw, err := hex.DecodeString(j.BytesHex)
		if err != nil {
			return fmt.Errorf("bytes_hex: %w", err)
		}
		*t = Text(raw)
		return nil
	}
	return json.Unmarshal(b, (*string)(t))
}

// Strings is a list of texts that need not be UTF-8, each of which is a Text in JSON.
type Strings []string

// MarshalJSON implements json.Marshaler.
func (l Strings) MarshalJSON() ([]byte, error) {
	if l == nil {
		return []byte("null"), nil
	}
	out := make([]Text, len(l))
	for i, s := range l {
		out[i] = Text(s)
	}
	return marshal(out)
}

// UnmarshalJSON implements json.Unmarshaler.
func (l *Strings) UnmarshalJSON(b []byte) error {
	var in []Text
	if err := json.Unmarshal(b, &in); err != nil || in == nil {
		return err
	}
	*l = make(Strings, len(in))
	for i, s := range in {
		(*l)[i] = string(s)
	}
	return nil
}
