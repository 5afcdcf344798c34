package rundir

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"symchef/internal/testcase"
)

// The JSON forms of types some of whose texts need not be UTF-8, see testcase.Text: a field of the same name hides that of the plain type.

// encode is the JSON of v.
func encode(v any) ([]byte, error) {
	b, err := encodeLine(v)
	return bytes.TrimSuffix(b, []byte("\n")), err
}

// plainly is err, of package json, without the names that values have in symchef.
func plainly(err error) error {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return err
	}
	field := wrong.Field[strings.LastIndexByte(wrong.Field, '.')+1:]
	if field == "" {
		return fmt.Errorf("damaged: a %s stands where none can", wrong.Value)
	}
	return fmt.Errorf("damaged: a %s stands for %s", wrong.Value, field)
}

type summaryJSON struct {
	Test testcase.Text `json:"test"`
	Summary
}

type plainInterpreter Interpreter

type interpreterJSON struct {
	Path testcase.Text `json:"path"`
	plainInterpreter
}

// MarshalJSON implements json.Marshaler.
func (i Interpreter) MarshalJSON() ([]byte, error) {
	return encode(interpreterJSON{testcase.Text(i.Path), plainInterpreter(i)})
}

// UnmarshalJSON implements json.Unmarshaler.
func (i *Interpreter) UnmarshalJSON(b []byte) error {
	var j interpreterJSON
	err := json.Unmarshal(b, &j)
	*i = Interpreter(j.plainInterpreter)
	i.Path = string(j.Path)
	return err
}

type plainFinding Finding

type findingJSON struct {
	plainFinding
	Site testcase.Text `json:"site,omitempty"`
}

// MarshalJSON implements json.Marshaler.
func (f Finding) MarshalJSON() ([]byte, error) {
	return encode(findingJSON{plainFinding(f), testcase.Text(f.Site)})
}

// UnmarshalJSON implements json.Unmarshaler.
func (f *Finding) UnmarshalJSON(b []byte) error {
	var j findingJSON
	err := json.Unmarshal(b, &j)
	*f = Finding(j.plainFinding)
	f.Site = string(j.Site)
	return err
}

type plainVerdict Verdict

type verdictJSON struct {
	plainVerdict
	Why testcase.Text `json:"why,omitempty"`
}

// MarshalJSON implements json.Marshaler.
func (v Verdict) MarshalJSON() ([]byte, error) {
	return encode(verdictJSON{plainVerdict(v), testcase.Text(v.Why)})
}

// UnmarshalJSON implements json.Unmarshaler.
func (v *Verdict) UnmarshalJSON(b []byte) error {
	var j verdictJSON
	err := json.Unmarshal(b, &j)
	*v = Verdict(j.plainVerdict)
	v.Why = string(j.Why)
	return err
}
