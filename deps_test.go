package symchef_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// layers states who may import whom: a package may import those listed for it
// and nothing else of the module. Data flows one way: image -> block -> state ->
// outcome -> path -> test case -> run directory -> replay, emit.
var layers = map[string]string{
	"languages":                     "",                                                            // what is known of each language, embedded
	"internal/guest":                "",                                                            // vocabulary
	"internal/expr":                 "softfp",                                                      // expressions know nothing of machines
	"internal/smtlib":               "expr softfp",                                                 // print and parse
	"internal/sat":                  "",                                                            // clauses only
	"internal/bitblast":             "expr sat softfp",                                             // expressions to clauses
	"internal/solver":               "expr sat bitblast smtlib",                                    // decisions about expressions
	"internal/softfp":               "",                                                            // floating point values
	"internal/ir":                   "expr softfp",                                                 // an op's symbolic meaning stands in its row
	"internal/ir/iref":              "expr ir lift",                                                // the reference interpreter
	"internal/lift":                 "ir softfp",                                                   // machine code to micro-ops; knows no state
	"internal/cpucheck":             "ir ir/iref lift",                                             // the processor as oracle
	"internal/mem":                  "expr guest",                                                  // address spaces
	"internal/cpu":                  "expr ir",                                                     // register files
	"internal/loader":               "cpu guest ir mem",                                            // ELF to a space
	"internal/kernel":               "cpu disk expr guest ir loader mem",                           // Linux; never calls the machine. Large files of the host stand in temporary ones
	"internal/nativeboot":           "cpu ehframe guest ir ir/iref kernel lift loader mem",         // runs a task on the host; never calls the machine
	"internal/jit":                  "ir mem",                                                      // micro-ops to machine code of the host
	"internal/exec":                 "cpu expr guest ir jit kernel lift mem",                       // runs tasks; never calls the loop
	"internal/device":               "",                                                            // the guest protocol's codec
	"internal/testcase":             "",                                                            // data
	"internal/model":                "cpu exec expr ir mem",                                        // what the machine does in place of a function; knows no language, no description
	"internal/interp":               "device disk ehframe expr languages model",                    // descriptions; those name models, and are held against their table
	"internal/probe":                "cpu ehframe exec expr ir kernel loader mem model",            // calls functions of a program in the machine
	"internal/ehframe":              "",                                                            // functions and call frames of stripped ELF files
	"internal/hlpc":                 "cpu ehframe exec expr guest interp ir kernel mem nativeboot", // calibration and tracing; never changes a state
	"internal/high":                 "cpu exec hlpc kernel mem",                                    // paths of the interpreted program
	"internal/state":                "cpu device exec expr high kernel mem testcase",
	"internal/search":               "", // sees candidates, no engine package
	"internal/explore":              "device exec expr high interp kernel mem search solver state testcase timeline",
	"internal/testreport":           "", // a tool: what go test says
	"internal/timeline":             "", // what goes on when
	"internal/disk":                 "", // files of symchef's own on the host
	"internal/rundir":               "disk testcase",
	"internal/replay":               "disk guest rundir testcase timeline", // its temporary folders
	"internal/report":               "high rundir testcase",                // a page; session tells how inputs are shown
	"internal/distributions":        "",                                    // tests only: interpreters of Debian releases
	"internal/emit":                 "guest interp testcase",               // formats stand in the languages' folders
	"internal/complete":             "",                                    // tests only
	"internal/pace":                 "",                                    // tests only: more time on a busy host
	"internal/seed":                 "",                                    // tests only: what random tests start from
	"internal/mutate":               "mutate/image smtlib",                 // a tool: faults for the tests to find
	"internal/mutate/image":         "expr ir lift smtlib",                 // what packages make, to be compared
	"internal/conformance/cpython":  "session",                             // other people's tests
	"internal/conformance/report":   "",                                    // tables in docs
	"internal/conformance/upstream": "",                                    // other people's tests
	"internal/session":              "*",                                   // wires a run
	"cmd/symchef":                   "*",                                   // flags
}

// TestLayers fails on an import that layers does not allow, and on a package it does not know.
func TestLayers(t *testing.T) {
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		dir := filepath.ToSlash(filepath.Dir(path))
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		allowed, known := layers[dir]
		if !known {
			t.Errorf("%s: package %s has no row in layers", path, dir)
			return nil
		}
		if allowed == "*" {
			return nil
		}
		ok := map[string]bool{}
		for _, a := range strings.Fields(allowed) {
			ok[a] = true
		}
		for _, im := range f.Imports {
			p := strings.Trim(im.Path.Value, `"`)
			if !strings.HasPrefix(p, "symchef/") {
				continue
			}
			p = strings.TrimPrefix(strings.TrimPrefix(p, "symchef/"), "internal/")
			if !ok[p] {
				t.Errorf("%s imports %s, which %s may not", path, p, dir)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestSeeds fails on a test that is random in another way than by internal/seed.
func TestSeeds(t *testing.T) {
	global := regexp.MustCompile(`\brand\.([A-MO-Z]\w*|N)\(|crypto/rand|\brand\.New\w*\(.*time\.Now`)
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") || path == "deps_test.go" {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range global.FindAllString(string(text), -1) {
			t.Errorf("%s: %s is not repeatable", path, m)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestSkips fails on a test, or what tests share, that skips without a reason that testreport counts.
func TestSkips(t *testing.T) {
	call := regexp.MustCompile(`\b(?:t|b|tb)\.Skip(f|Now)?\((.?(skipped)?[^\n]*)`)
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || path == "deps_test.go" {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range call.FindAllStringSubmatch(string(text), -1) {
			if m[3] == "" {
				t.Errorf("%s: %s: say \"skipped: REASON\"", path, m[0])
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
