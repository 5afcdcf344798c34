package session

import (
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"symchef/internal/interp"
	"symchef/internal/ir"
	"symchef/internal/kernel"
	"symchef/internal/model"
	"symchef/internal/testcase"
	"symchef/languages"
)

// target is what a run executes.
type target struct {
	tc    testcase.Target
	desc  *interp.Desc  // nil for programs
	found *interp.Found // nil for programs
	name  string        // for people: FILE::test_x, or the program
}

// resolve finds what o asks for.
func resolve(o *Options) (*target, error) {
	cwd, err := os.Getwd()
	if err != nil {
		return nil, &usageError{"the working directory is gone: " + err.Error()}
	}
	return resolveIn(o, cwd)
}

func resolveIn(o *Options, cwd string) (*target, error) {
	if len(o.Program) > 0 {
		return resolveProgram(o, cwd)
	}
	path, name, _ := strings.Cut(o.Test, "::")
	if path == "" {
		return nil, &usageError{fmt.Sprintf("%q names no file: want FILE::NAME", o.Test)}
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	st, err := os.Stat(abs)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &usageError{fmt.Sprintf("%s: no such test file", path)}
	case err != nil:
		return nil, &usageError{err.Error()}
	case st.IsDir():
		return nil, &usageError{fmt.Sprintf("%s is a folder: name a test file", path)}
	case !st.Mode().IsRegular():
		return nil, &usageError{fmt.Sprintf("%s is not a regular file", path)}
	}
	d, ok := interp.ForFile(abs)
	if !ok {
		return nil, &usageError{fmt.Sprintf("%s: no language is known for this suffix (known: %s); for a program, use: symchef run --stdin N -- ./program", path, strings.Join(suffixes(), ", "))}
	}
	return targetIn(o, d, abs, abs, name, cwd)
}

// targetIn is what is called name in path, of a language; near is where the interpreter is looked for.
func targetIn(o *Options, d *interp.Desc, near, path, name, cwd string) (*target, error) {
	f, err := FindInterpreter(d, interp.FindOptions{Test: near, Explicit: o.Interpreter, Cache: o.cache()}, o.CacheDir)
	if err != nil {
		return nil, &usageError{err.Error()}
	}
	arg := path
	if name != "" {
		arg += "::" + name
	}
	base, err := environment(d.Pass, o.Pass)
	if err != nil {
		return nil, err
	}
	for _, v := range f.Env {
		name, value, _ := strings.Cut(v, "=")
		base = testcase.SetEnv(base, name, value)
	}
	env := testcase.PinEnv(d.Environ(base, d.GuestDir()))
	t := &target{
		desc: d, found: f, name: o.Test,
		tc: testcase.Target{Models: o.Models, CPU: o.recordedCPU(), Merge: o.Merge, Kind: testcase.TargetKind(d.Language), Path: path, Name: name, Interpreter: f.ELF, Argv: d.Argv(f.Argv0, arg), Env: env, Cwd: cwd},
	}
	if o.Models == nil {
		t.tc.Models = model.Families()
	}
	t.use()
	return t, nil
}

// suffixes are those of all languages' tests.
func suffixes() (out []string) {
	for _, d := range interp.All() {
		out = append(out, d.Suffixes...)
	}
	return out
}

func resolveProgram(o *Options, cwd string) (*target, error) {
	prog := o.Program[0]
	abs, err := lookProgram(prog)
	if err != nil {
		return nil, err
	}
	if err := checkELF(abs, prog); err != nil {
		return nil, err
	}
	argv := append([]string(nil), o.Program...)
	for i := 0; i < o.ArgvCount; i++ {
		argv = append(argv, strings.Repeat("a", o.ArgvLen))
	}
	env, err := environment(nil, o.Pass)
	if err != nil {
		return nil, err
	}
	env = testcase.PinEnv(env)
	for _, v := range o.Env {
		env = testcase.SetEnv(env, v.Name, strings.Repeat("a", v.Len))
	}
	return &target{name: prog, tc: testcase.Target{Kind: testcase.Program, CPU: o.recordedCPU(), Merge: o.Merge, Path: abs, Argv: argv, Env: env, Cwd: cwd}}, nil
}

// lookProgram finds a program as a shell does.
func lookProgram(prog string) (string, error) {
	if strings.Contains(prog, "/") {
		abs, err := filepath.Abs(prog)
		if err != nil {
			return "", err
		}
		switch st, err := os.Stat(abs); {
		case err != nil || st.IsDir():
			return "", &usageError{fmt.Sprintf("%s: no such program", prog)}
		case !st.Mode().IsRegular():
			return "", &usageError{fmt.Sprintf("%s is not a program", prog)}
		}
		return abs, nil
	}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		p := filepath.Join(dir, prog)
		if st, err := os.Stat(p); err == nil && st.Mode().IsRegular() && st.Mode()&0o111 != 0 {
			return filepath.Abs(p)
		}
	}
	return "", &usageError{fmt.Sprintf("%s: not found in PATH", prog)}
}

// checkELF refuses what the machine cannot load, with a reason for people. Scripts pass: the loader follows #!.
func checkELF(path, shown string) error {
	f, err := os.Open(path)
	if err != nil {
		return &usageError{err.Error()}
	}
	defer f.Close()
	var magic [4]byte
	f.Read(magic[:])
	if string(magic[:2]) == "#!" {
		return nil
	}
	e, err := elf.NewFile(f)
	if err != nil {
		return &usageError{fmt.Sprintf("%s is not an ELF program: symchef runs x86-64 Linux programs", shown)}
	}
	if e.Machine != elf.EM_X86_64 || e.Class != elf.ELFCLASS64 {
		return &usageError{fmt.Sprintf("%s is for %v, not x86-64: symchef runs x86-64 Linux programs", shown, e.Machine)}
	}
	return nil
}

// The processors, Options.CPU.
const (
	CPUV2 = "v2"
	CPUV3 = "v3"
)

// CPUs lists the values of Options.CPU.
func CPUs() []string { return []string{CPUV2, CPUV3} }

// processor is that of Options.CPU or testcase.Target.CPU.
func processor(name string) ir.Processor {
	if name == CPUV3 {
		return ir.V3
	}
	return ir.V2
}

// recordedCPU is testcase.Target.CPU.
func (o *Options) recordedCPU() string {
	if o.CPU == CPUV3 {
		return CPUV3
	}
	return ""
}

// kernelConfig is how the machine starts g.
func kernelConfig(g testcase.Target, device bool, seed uint64) kernel.Config {
	cfg := kernel.Config{
		Path: g.Executable(), Argv: g.Argv, Env: g.Env, Cwd: g.Cwd,
		UID: os.Getuid(), GID: os.Getgid(), Seed: seed, DeviceEnabled: device, Processor: processor(g.CPU),
	}
	if device {
		cfg.Virtual = languages.Guests()
		cfg.Virtual[headRoot] = headOf(g.Path)
	}
	return cfg
}
