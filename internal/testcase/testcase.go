// Package testcase holds one generated test case and its JSON form, which a line of tests.jsonl has but for the decision log
// (docs/testcase.schema.json, rundir). It is data only: it neither runs nor writes anything.
//
//	t := testcase.Test{
//		ID:      "t000001",
//		PathID:  testcase.PathID(log),
//		Inputs:  []testcase.Input{testcase.Str("email", "a@b")},
//		Observation: testcase.Observation{Outcome: testcase.Outcome{Kind: testcase.OK}},
//	}
//	err := t.Check() // whoever writes or reads one asks
//
// Glossary: t a Test, in an Input, o an Outcome.
package testcase

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// A Test is one path through the program under test: the inputs that drive
// it there and what the machine saw.
type Test struct {
	// ID names the test within its run and its files under paths/.
	// Invariant: ValidID(ID).
	ID string `json:"id"`
	// Replaces is the test case of an earlier line that this one stands for: its inputs are easier to read.
	Replaces string `json:"replaces,omitempty"`
	// PathID is the digest of Decisions (see PathID): lower-case hex.
	PathID string `json:"path_id"`
	// Group names the high-level path (the class of equal behaviour in the
	// terms of the guest language) this low-level path belongs to; empty if
	// the language offers none.
	Group string `json:"group,omitempty"`
	// GroupLength is how many high-level instructions the path executes.
	GroupLength int `json:"group_length,omitempty"`
	// Inputs are the declared inputs in the order of their declaration.
	Inputs []Input `json:"inputs"`
	// Decisions is the path's decision log, oldest first.
	Decisions []Decision `json:"decisions"`
	// Unproved are the ranges of addresses that the path asked for and the solver could not prove, by their number on the path.
	Unproved []int `json:"unproved,omitempty"`
	// Asked is what the path may have been told that is no input: system calls, some with what they ask for, and files of /proc, /sys and /dev; sorted.
	Asked []string `json:"asked,omitempty"`
	// Observation is what the machine saw of the path.
	Observation
	// Words is what Returned is in the words of the test's language.
	Words string `json:"-"`
	// Class is the class of behaviour the path is of; its digest is that of the run's parts, see Class.
	Class string `json:"class,omitempty"`
	// EndedBy names the limit that cut the path off ("instructions", "time",
	// ...); empty when the program ended by itself. A test with a limit is
	// not compared by replay, except a hang.
	EndedBy string `json:"ended_by,omitempty"`
	// Loop is where the path is in a loop, FILE:LINE:FUNCTION of the first line in it; of hangs, as far as it is known.
	Loop Text `json:"loop,omitempty"`
	// Stands is where a hang stands that does not repeat its steps, FILE:LINE:FUNCTION: within that one instruction, as one that jumps to itself, waits
	// for ever, or calls code in C that never returns.
	Stands Text `json:"stands,omitempty"`
	// Judged is why an exception is what the author of a checked function meant, in one word; empty: it is not, or nobody judged.
	Judged string `json:"judged,omitempty"`
	// Log are the lines the test logged, oldest first.
	Log Strings `json:"log,omitempty"`
	// FoundAt is seconds of wall-clock time since the run began.
	FoundAt float64 `json:"found_at_s"`
}

// InputType is the type of a declared input; the first six are the device
// protocol's, the others belong to `run --stdin N -- ./program`.
type InputType string

// The types of inputs, with what Value holds. BytesHex always holds the raw
// bytes for str (UTF-8), bytes, stdin and argv.
const (
	TypeStr    InputType = "str"    // Value: JSON string
	TypeBytes  InputType = "bytes"  // no Value
	TypeInt    InputType = "int"    // Value: integer, 64-bit signed
	TypeBool   InputType = "bool"   // Value: true or false
	TypeChoice InputType = "choice" // Value: index of the choice, from 0
	TypeFloat  InputType = "float"  // Value: JSON string of the shortest decimal number that is it, -0, inf or -inf
	TypeStdin  InputType = "stdin"  // no Value; the whole of standard input
	TypeArgv   InputType = "argv"   // no Value; Name is argv1, argv2, ...
	TypeFile   InputType = "file"   // no Value; Name is relative to the working directory
	TypeEnv    InputType = "env"    // no Value; Name is that of the variable
)

// An Input is one declared input with its concrete value on the path.
type Input struct {
	Name string    `json:"name"`
	Type InputType `json:"type"`
	// Value is kept as JSON text so that 64-bit integers keep every digit;
	// which types have one stands at the InputType constants.
	Value json.RawMessage `json:"value,omitempty"`
	// BytesHex is the raw bytes in lower-case hex.
	BytesHex string `json:"bytes_hex,omitempty"`
	// Chosen is what was chosen, of a choice, where the library tells; Label shows it, or a shape, in the words of the test's language.
	Chosen Value  `json:"chosen,omitempty"`
	Label  string `json:"label,omitempty"`
	// Parts and Code are those of a shape (TypeShape).
	Parts []Input `json:"parts,omitempty"`
	Code  []Piece `json:"code,omitempty"`
}

func mustJSON(v any) json.RawMessage {
	b, err := marshal(v)
	if err != nil {
		panic(err) // strings, integers and booleans always encode
	}
	return b
}

// Str is a string input; s is valid UTF-8.
func Str(name, s string) Input {
	return Input{Name: name, Type: TypeStr, Value: mustJSON(s), BytesHex: hex.EncodeToString([]byte(s))}
}

// Bytes is a byte-sequence input.
func Bytes(name string, b []byte) Input {
	return Input{Name: name, Type: TypeBytes, BytesHex: hex.EncodeToString(b)}
}

// Int is an integer input.
func Int(name string, v int64) Input {
	return Input{Name: name, Type: TypeInt, Value: mustJSON(v)}
}

// Bool is a boolean input.
func Bool(name string, v bool) Input {
	return Input{Name: name, Type: TypeBool, Value: mustJSON(v)}
}

// Float is a number that is an IEEE double.
func Float(name string, v float64) Input {
	return Input{Name: name, Type: TypeFloat, Value: mustJSON(strconv.FormatFloat(v, 'g', -1, 64))}
}

// Choice is the index, from 0, of a choice.
func Choice(name string, index int) Input {
	return Input{Name: name, Type: TypeChoice, Value: mustJSON(index)}
}

// Stdin is the whole standard input of a program.
func Stdin(b []byte) Input {
	return Input{Name: "stdin", Type: TypeStdin, BytesHex: hex.EncodeToString(b)}
}

// Argv is argument n (n >= 1) of a program. Bytes from the first NUL on are
// kept here but end the argument when it is passed.
func Argv(n int, b []byte) Input {
	return Input{Name: fmt.Sprintf("argv%d", n), Type: TypeArgv, BytesHex: hex.EncodeToString(b)}
}

// File is the content of a file of a program.
func File(name string, b []byte) Input {
	return Input{Name: name, Type: TypeFile, BytesHex: hex.EncodeToString(b)}
}

// Env is the value of an environment variable of a program, which a NUL ends as it does an argument.
func Env(name string, b []byte) Input {
	return Input{Name: name, Type: TypeEnv, BytesHex: hex.EncodeToString(b)}
}

// Bytes returns the raw bytes of an input that has them: str, bytes and those of programs.
func (in Input) Bytes() ([]byte, error) {
	b, err := hex.DecodeString(in.BytesHex)
	if err != nil {
		return nil, fmt.Errorf("input %s: bytes_hex: %w", in.Name, err)
	}
	return b, nil
}

// Str returns the value of a str input.
func (in Input) Str() (s string, err error) { return s, in.decode(TypeStr, &s) }

// Int returns the value of an int input.
func (in Input) Int() (v int64, err error) { return v, in.decode(TypeInt, &v) }

// Bool returns the value of a bool input.
func (in Input) Bool() (v bool, err error) { return v, in.decode(TypeBool, &v) }

// Float returns the value of a float input.
func (in Input) Float() (float64, error) {
	var s string
	if err := in.decode(TypeFloat, &s); err != nil {
		return 0, err
	}
	v, err := strconv.ParseFloat(s, 64)
	if err == nil && math.IsNaN(v) {
		err = errors.New("not a number")
	}
	if err != nil {
		return 0, fmt.Errorf("input %s: value: %w", in.Name, err)
	}
	return v, nil
}

// Choice returns the index of a choice input.
func (in Input) Choice() (i int, err error) { return i, in.decode(TypeChoice, &i) }

func (in Input) decode(want InputType, into any) error {
	if in.Type != want {
		return fmt.Errorf("input %s: is %s, not %s", in.Name, in.Type, want)
	}
	if len(in.Value) == 0 {
		return fmt.Errorf("input %s: %s without a value", in.Name, in.Type)
	}
	if err := json.Unmarshal(in.Value, into); err != nil {
		return fmt.Errorf("input %s: value: %w", in.Name, err)
	}
	return nil
}

// Check reports the first broken invariant of the input.
func (in Input) Check() error {
	var err error
	switch in.Type {
	case TypeStr:
		_, err = in.Str()
	case TypeInt:
		_, err = in.Int()
	case TypeFloat:
		_, err = in.Float()
	case TypeBool:
		_, err = in.Bool()
	case TypeChoice:
		_, err = in.Choice()
	case TypeBytes, TypeStdin, TypeArgv, TypeFile, TypeEnv:
		if len(in.Value) != 0 {
			err = fmt.Errorf("input %s: %s has no value, only bytes_hex", in.Name, in.Type)
		}
	case TypeShape:
		err = in.checkShape()
	default:
		err = fmt.Errorf("input %s: unknown type %q", in.Name, in.Type)
	}
	if err == nil {
		_, err = in.Bytes()
	}
	return err
}

// Hex is a 64-bit number that is a string like "0x7f" in JSON, because other
// readers of JSON lose digits of large numbers.
type Hex uint64

// MarshalText implements encoding.TextMarshaler.
func (h Hex) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "%#x", uint64(h)), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (h *Hex) UnmarshalText(b []byte) error {
	digits, ok := bytes.CutPrefix(b, []byte("0x"))
	v, err := strconv.ParseUint(string(digits), 16, 64)
	if !ok || err != nil {
		return fmt.Errorf("%q is not a hexadecimal number", b)
	}
	*h = Hex(v)
	return nil
}

// A Decision is one entry of the decision log.
type Decision struct {
	// Kind is the log's word for it: "branch", "value", "length", ...
	Kind string `json:"kind"`
	// PC is the guest address of the deciding instruction.
	PC Hex `json:"pc"`
	// Value is what was decided: 0 or 1 for a branch, else the value chosen.
	Value Hex `json:"value"`
	// Source is where the program under test decided, FILE:LINE NAME, as far as it is known.
	Source string `json:"source,omitempty"`
	// Symbol is where code of a library decided, in a program: MODULE:FUNCTION+OFFSET, without the function where that is not known.
	Symbol string `json:"symbol,omitempty"`
}

// PathID is the digest of a decision log: hex SHA-256 over kind, pc and value
// of each decision. Equal logs, and only they, have equal digests.
func PathID(log []Decision) string {
	h := sha256.New()
	var b []byte
	for _, d := range log {
		b = binary.AppendUvarint(b[:0], uint64(len(d.Kind)))
		b = append(b, d.Kind...)
		b = binary.LittleEndian.AppendUint64(b, uint64(d.PC))
		b = binary.LittleEndian.AppendUint64(b, uint64(d.Value))
		h.Write(b)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// OutputDigest is the form of Test.OutputSHA256 for out.
func OutputDigest(out []byte) string {
	sum := sha256.Sum256(out)
	return hex.EncodeToString(sum[:])
}

var idPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,79}$`)

// ValidID reports whether id may name a test: it is also a file name.
func ValidID(id string) bool { return idPattern.MatchString(id) }

// Check reports the first broken invariant of the test.
func (t Test) Check() error {
	if !ValidID(t.ID) {
		return fmt.Errorf("test id %q: want letters, digits, - and _", t.ID)
	}
	if !t.Outcome.Kind.Known() {
		return fmt.Errorf("test %s: unknown outcome kind %q", t.ID, t.Outcome.Kind)
	}
	for _, in := range t.Inputs {
		if err := in.Check(); err != nil {
			return fmt.Errorf("test %s: %w", t.ID, err)
		}
	}
	digests := []string{t.OutputSHA256, t.StderrSHA256, t.FilesSHA256}
	for _, f := range t.Files {
		digests = append(digests, f.SHA256)
	}
	for _, d := range digests { // emitted scripts have them as they are
		if d != "" && !validDigest(d) {
			return fmt.Errorf("test %s: %q is no digest: want 64 digits, hexadecimal and lower-case", t.ID, d)
		}
	}
	return nil
}

func validDigest(s string) bool {
	return len(s) == 64 && strings.Trim(s, "0123456789abcdef") == ""
}

// marshal is json.Marshal without the escaping meant for web pages.
func marshal(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}
