package testcase

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// TargetKind says how a target takes its inputs and tells its outcome.
type TargetKind string

// The kind that is no language.
const (
	// Program takes standard input and arguments; its exit status or signal
	// is its outcome. Every other kind is a language, as its folder is called, whose
	// guest library takes the inputs and tells the outcome.
	Program TargetKind = "program"
)

// GuestRoot is where the machine shows the guest libraries; Target.Argv and Target.Env name
// places below it.
const GuestRoot = "/symchef/guest"

// A Target is everything needed to start the program under test again as the
// machine started it. It stands in summary.json.
type Target struct {
	Kind TargetKind `json:"kind"`
	// Path is the user's test file, absolute; for a program, its ELF file.
	Path string `json:"path"`
	// Name is the test in the file: a function ("test_email") or a class
	// ("EmailTest"). Empty for programs.
	Name string `json:"name,omitempty"`
	// Interpreter is the ELF file of the interpreter, absolute and free of
	// shims; for a program it is empty.
	Interpreter string `json:"interpreter,omitempty"`
	// Argv is the complete argument vector, argv[0] included. Symbolic
	// arguments of a program are placed over it, see Call.
	Argv Strings `json:"argv"`
	// Env is the complete environment, "NAME=value".
	Env Strings `json:"env"`
	// Models are the families of models of interpreter functions that the machine used; empty for programs.
	Models []string `json:"models,omitempty"`
	// CPU is the processor that the machine had: "v3", or empty for v2.
	CPU string `json:"cpu,omitempty"`
	// Merge says that the ways of branches were merged: decision logs have none of theirs.
	Merge bool `json:"merge,omitempty"`
	// Cwd is the working directory, absolute.
	Cwd string `json:"cwd"`
	// Before are the effects on files of the start of the interpreter, up to where the test began: they are not the test's.
	Before []FileEffect `json:"before,omitempty"`
}

// Temp is where temporary files are.
func (g Target) Temp() string {
	for _, e := range g.Env {
		if dir, ok := strings.CutPrefix(e, "TMPDIR="); ok && filepath.IsAbs(dir) {
			return dir
		}
	}
	return "/tmp"
}

// Executable is the ELF file to execute.
func (g Target) Executable() string {
	if g.Interpreter != "" {
		return g.Interpreter
	}
	return g.Path
}

// Check reports the first broken invariant of the target.
func (g Target) Check() error {
	switch {
	case g.Kind == "":
		return errors.New("target without a kind")
	case len(g.Argv) == 0:
		return errors.New("target without argv")
	case g.Kind != Program && g.Interpreter == "":
		return fmt.Errorf("%s target without an interpreter", g.Kind)
	}
	for _, p := range []string{g.Executable(), g.Cwd} {
		if !filepath.IsAbs(p) {
			return fmt.Errorf("target: %q is not an absolute path", p)
		}
	}
	return nil
}

// A Call is how to start a program with the inputs of a test case.
type Call struct {
	Argv, Env []string
	Stdin     []byte            // nil: no input is of that type
	Files     map[string][]byte // by name, relative to the working directory
}

// Call is g with inputs in their places.
func (g Target) Call(inputs []Input) (Call, error) {
	c := Call{Argv: slices.Clone(g.Argv), Env: slices.Clone(g.Env)}
	for _, in := range inputs {
		b, err := in.Bytes()
		if err != nil {
			return Call{}, err
		}
		switch in.Type {
		case TypeStdin:
			c.Stdin = append([]byte{}, b...)
		case TypeArgv:
			var n int
			if _, err := fmt.Sscanf(in.Name, "argv%d", &n); err != nil || n < 1 || n > 1<<12 {
				return Call{}, fmt.Errorf("input %q: the names are argv1, argv2 and so on", in.Name)
			}
			for len(c.Argv) <= n {
				c.Argv = append(c.Argv, "")
			}
			c.Argv[n] = cString(b)
		case TypeFile:
			if !filepath.IsLocal(in.Name) {
				return Call{}, fmt.Errorf("input %q: a file's name is relative to the working directory", in.Name)
			}
			if c.Files == nil {
				c.Files = map[string][]byte{}
			}
			c.Files[in.Name] = b
		case TypeEnv:
			if in.Name == "" || strings.ContainsAny(in.Name, "=\x00") {
				return Call{}, fmt.Errorf("input %q: no name of a variable", in.Name)
			}
			c.Env = SetEnv(c.Env, in.Name, cString(b))
		default:
			return Call{}, fmt.Errorf("input %s: a program has no input of type %s", in.Name, in.Type)
		}
	}
	return c, nil
}

// SetEnv returns env with one more variable, or another value of it.
func SetEnv(env []string, name, value string) []string {
	for i, e := range env {
		if strings.HasPrefix(e, name+"=") {
			env[i] = name + "=" + value
			return env
		}
	}
	return append(env, name+"="+value)
}

// cString is b up to its first NUL, as execve(2) would pass it.
func cString(b []byte) string {
	for i, c := range b {
		if c == 0 {
			return string(b[:i])
		}
	}
	return string(b)
}

// pins are what every run fixes in the environment, whatever the language;
// what a language needs besides stands in its description.
var pins = []string{"LC_ALL=C.UTF-8", "TZ=UTC"}

// PinEnv is env, untouched, plus the locale and the time zone where the user
// set none. A run records the result in Target.Env, and replay uses that.
func PinEnv(env []string) []string {
	out := slices.Clone(env)
	for _, p := range pins {
		name, _, _ := strings.Cut(p, "=")
		if !slices.ContainsFunc(out, func(e string) bool { return strings.HasPrefix(e, name+"=") }) {
			out = append(out, p)
		}
	}
	return out
}
