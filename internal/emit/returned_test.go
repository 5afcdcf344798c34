package emit

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"symchef/internal/interp"
	"symchef/internal/testcase"
	"symchef/languages"
)

// A language has what was returned as code by rules of its own, or says that its code is our notation; else there is none, and not that of another language.
func TestReturnedWithoutRules(t *testing.T) {
	const list = testcase.Value("l2:T0:n0:")
	for _, c := range []struct {
		more, want string
	}{
		{"", ""}, {`{{define "literal"}}{{.}}{{end}}`, "[True, None]"}, {`{{define "literal"}}({{.}}){{end}}`, "([True, None])"},
		{`{{define "list"}}{{range .Values}}{{.}};{{end}}{{end}}{{define "truth"}}{{.}}{{end}}{{define "none"}}nil{{end}}{{define "untold"}}?{{end}}`, "true;nil;"},
	} {
		files := fstest.MapFS{"emit/values.tmpl": {Data: []byte(c.more + ` `)}}
		w, err := newWriter(&interp.Desc{Language: "x", Folder: languages.Folder{Name: "x", Files: files}})
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := w.returned(list); got != c.want || ok != (c.want != "") {
			t.Errorf("%s: %q, %v", c.more, got, ok)
		}
	}
}

// returnedRow is a value that a test returns: as the test writes it, as it is shown, and others that an emitted case must not take for it.
type returnedRow struct {
	code, shown string
	others      []string
}

var luaReturned = []returnedRow{
	{`nil`, `nil`, []string{`false`, `nil, nil`}}, {`true`, `true`, []string{`false`, `1`}}, {`-1`, `-1`, []string{`-1.0`, `1`, `"-1"`}}, {`math.mininteger`, `math.mininteger`, []string{`-math.huge`}},
	{`0.5`, `0.5`, []string{`0.25`}}, {`-0.0`, `-0.0`, []string{`0.0`, `0`}}, {`math.huge`, `math.huge`, []string{`-math.huge`}}, {`1e100`, `1e+100`, []string{`1e101`}}, {`0/0`, `0/0`, []string{`0.0`}},
	{`"it's \195\169\n"`, `"it's é\n"`, []string{`"it's"`}}, {`"\255\0"`, `"\255\000"`, []string{`"\254\0"`}}, {`{}`, `{}`, []string{`{ 1 }`, `{ a = 1 }`, `nil`}},
	{`{ 1, { "a" } }`, `{ 1, { "a" } }`, []string{`{ 1, { "b" } }`, `{ 1 }`, `{ 1, { "a" }, 2 }`, `{ 1, { "a", x = 1 } }`}}, {`false, nil, { x = false }`, `false, nil, { x = false }`, []string{`false, nil, { x = true }`, `false, nil`, `nil, nil, { x = false }`}},
	{`{ [true] = 1, ["a b"] = 2, [2] = 3, ["end"] = 4 }`, `{ [2] = 3, ["a b"] = 2, ["end"] = 4, [true] = 1 }`, []string{`{ [true] = 1, ["a b"] = 2, [2] = 3 }`}},
	{`{ print, 7 }`, `{ function(<print>), 7 }`, []string{`{ print, 8 }`}},
	{`setmetatable({ 1 }, { __eq = function() return true end })`, `table with __eq({ 1 })`, []string{`setmetatable({ 2 }, { __eq = function() return true end })`}},
}

var rReturned = []returnedRow{
	{`NULL`, `NULL`, []string{`list()`, `NA`}}, {`TRUE`, `TRUE`, []string{`FALSE`, `1L`}}, {`NA`, `NA`, []string{`FALSE`, `NA_integer_`}}, {`-1L`, `-1L`, []string{`-1`, `1L`}}, {`NA_integer_`, `NA_integer_`, []string{`0L`, `NA_real_`}},
	{`0.5`, `0.5`, []string{`0.25`, `c(0.5, 1)`}}, {`-0`, `-0`, []string{`0`}}, {`0.1 + 0.2`, `0.30000000000000004`, []string{`0.3`}}, {`NA_real_`, `NA_real_`, []string{`NaN`, `NA`}}, {`NaN`, `NaN`, []string{`NA_real_`}}, {`-Inf`, `-Inf`, []string{`Inf`}},
	{`"it's \u00e9\n"`, `"it's é\n"`, []string{`"it's"`, `list("it's \u00e9\n")`}}, {`as.raw(c(0, 255))`, `as.raw(c(0x00, 0xff))`, []string{`as.raw(255)`, `c(0, 255)`}}, {`list()`, `list()`, []string{`NULL`, `list(1)`}},
	{`c(1L, NA)`, `c(1L, NA_integer_)`, []string{`c(1L, 2L)`, `c(1, NA)`, `1L`}}, {`c("a", NA)`, `c("a", NA_character_)`, []string{`c("a", "NA")`}}, {`c(TRUE, FALSE, NA)`, `c(TRUE, FALSE, NA)`, []string{`c(TRUE, TRUE, NA)`, `c(1L, 0L, NA)`, `c(TRUE, FALSE, FALSE)`}},
	{`c(1L, 0L)`, `c(1L, 0L)`, []string{`c(TRUE, FALSE)`}}, {`logical()`, `logical()`, []string{`integer()`, `TRUE`}}, {`integer()`, `integer()`, []string{`logical()`, `list()`}}, {`list(c(TRUE, TRUE), 1L)`, `list(c(TRUE, TRUE), 1L)`, []string{`list(c(1L, 1L), 1L)`, `list(c(TRUE, TRUE), TRUE)`}},
	{`structure(c(TRUE, NA), class = "S")`, `structure(c(TRUE, NA), class = "S")`, []string{`structure(c(1L, NA), class = "S")`, `c(TRUE, NA)`}},
	{`list(TRUE, "a", list(1))`, `list(TRUE, "a", list(1))`, []string{`list(TRUE, "a", list(2))`, `list(TRUE, "a")`}}, {`list(a = 1L, "b")`, `list(a = 1L, "b")`, []string{`list(b = 1L, "b")`, `list(1L, "b")`}},
	{`structure(list(n = 1L), class = c("S", "T"))`, `structure(as.list(list(n = 1L)), class = "S")`, []string{`list(n = 1L)`, `structure(list(n = 1L), class = "T")`, `structure(list(n = 2L), class = "S")`}},
	{`factor("f")`, `structure(1L, class = "factor", levels = "f")`, []string{`1L`, `factor("g")`}}, {`as.Date("2020-01-02")`, `structure(18263, class = "Date")`, []string{`as.Date("2020-01-03")`, `18263`}}, {`list(sum, 7)`, `list(<builtin>, 7)`, []string{`list(sum, 8)`}},
	{`matrix(1:4, 2L)`, `structure(c(1L, 2L, 3L, 4L), dim = c(2L, 2L))`, []string{`1:4`, `matrix(1:4, 4L)`}}, {`NA_character_`, `NA_character_`, []string{`NA`, `"NA"`}}, {`list(1L, 2L)`, `as.list(c(1L, 2L))`, []string{`c(1L, 2L)`, `list(1L, 3L)`}},
	{`c(3L, 4L)`, `c(3L, 4L)`, []string{`list(3L, 4L)`}}, {`character()`, `character()`, []string{`list()`, `integer()`}}, {`new("numeric")`, `double()`, []string{`0`}}, {`new("C", x = 1)`, `structure(<S4>, class = "C", x = 1)`, []string{`new("C", x = 2)`}},
	{`quote(a + b)`, `str2lang("a + b")`, []string{`quote(a - b)`, `"a + b"`}}, {`y ~ x`, `structure(str2lang("y ~ x"), class = "formula")`, []string{`y ~ z`}}, {`quote(a)`, `as.name("a")`, []string{`"a"`, `quote(b)`}}, {`2i`, `as.complex(c(0, 2))`, []string{`1i`, `c(0, 2)`}},
	{`structure(1L, note = "p")`, `structure(1L, note = "p")`, []string{`1L`, `structure(1L, note = "q")`}}, {`data.frame(a = 1:2)`, `structure(list(a = c(1L, 2L)), class = "data.frame")`, []string{`data.frame(a = 2:1)`, `data.frame(a = 1:2, row.names = c("x", "y"))`}},
}

var pythonReturned = []returnedRow{
	{`1`, `1`, []string{`True`, `1.0`}}, {`-0.0`, `-0.0`, []string{`0.0`}}, {`[1, (2,)]`, `[1, (2,)]`, []string{`[1, [2]]`, `[True, (2,)]`}}, {`{"k": {1}}`, `{'k': {1}}`, []string{`{"k": {2}}`, `{"k": [1]}`, `{}`}},
	{`{1: "a"}`, `{1: 'a'}`, []string{`{True: "a"}`, `{1.0: "a"}`}}, {`bytearray(b"x")`, `bytearray(b'x')`, []string{`"x"`, `b"x"`}},
	{`b"x"`, `b'x'`, []string{`bytearray(b"x")`}}, {`{1}`, `{1}`, []string{`frozenset({1})`}}, {`[frozenset({1}), {frozenset()}]`, `[frozenset({1}), {frozenset(set())}]`, []string{`[{1}, {frozenset()}]`, `[frozenset({1}), frozenset({frozenset()})]`}},
}

// An emitted case is green while the test returns what it did, and red when it returns another value. What it returned is told by the guest library.
func TestReturnedValues(t *testing.T) {
	for _, l := range []returnedLanguage{
		{Busted, "lua", ".lua", "test", luaReturned, func(dir string) []string {
			return []string{"/usr/bin/lua5.4", filepath.Join(dir, "lua", "symchef.lua")}
		},
			[]string{"/usr/bin/lua5.4", "stub.lua"}, func(codes []string) string {
				text := "local symchef = require 'symchef'\nreturn function()\n  local n = symchef.integer('n', 0, 99)\n"
				for i, c := range codes {
					text += fmt.Sprintf("  if n == %d then return %s end\n", i, c)
				}
				return text + "end\n"
			}},
		{Testthat, "r", ".R", "run", rReturned, func(dir string) []string {
			return []string{"/usr/bin/R", "--no-echo", "--no-restore", "-f", filepath.Join(dir, "r", "symchef.R"), "--args"}
		}, []string{"/usr/bin/Rscript", "stub.R"}, func(codes []string) string {
			text := strings.Join(codes, ",\n")
			return "setClass('C', representation(x = 'numeric'))\nrun <- function() switch(symchef$integer('n', 0L, 99L) + 1L,\n" + text + ", list(" + text + "))\n"
		}},
		{Unittest, "python", ".py", "test_it", pythonReturned, func(string) []string { return []string{stock, "-m", "symchef"} },
			[]string{stock}, func(codes []string) string {
				return "import symchef\ndef test_it(n: symchef.Int(0, 99)): return (lambda: " + strings.Join(codes, ",\nlambda: ") + ")[n]()\n"
			}},
	} {
		t.Run(string(l.kind), func(t *testing.T) { l.check(t) })
	}
}

// returnedLanguage says how the rows of a language are made a test, and run.
type returnedLanguage struct {
	format       Format
	kind         testcase.TargetKind
	suffix, name string
	rows         []returnedRow
	guest        func(dir string) []string   // the command that runs a test natively
	runner       []string                    // runs an emitted file
	test         func(codes []string) string // returns that of the number n, in R beyond the last all in a list: it starts slowly
}

func (l *returnedLanguage) check(t *testing.T) {
	dir := t.TempDir()
	guest := l.guest(dir)
	if _, err := os.Stat(guest[0]); err != nil {
		t.Skipf("skipped: %s is not installed", guest[0])
	}
	if err := languages.Extract(dir); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("stub.lua", stub)
	write("stub.R", rStub)
	env := append(os.Environ(), "LC_ALL=C.UTF-8", "PYTHONDONTWRITEBYTECODE=1")
	codes := func(k int) (out []string, others int) { // the rows' own, or their k-th others
		for _, row := range l.rows {
			if out = append(out, row.code); k >= 0 && k < len(row.others) {
				out[len(out)-1], others = row.others[k], others+1
			}
		}
		return out, others
	}
	text, _ := codes(-1)
	path := write("value"+l.suffix, l.test(text))
	tell := func(i int) string {
		in, out := write("in.json", fmt.Sprintf(`{"version":1,"inputs":[{"name":"n","type":"int","value":%d}]}`, i)), filepath.Join(dir, "out.json")
		cmd := exec.Command(guest[0], append(guest[1:], path)...)
		cmd.Env = append(env, "SYMCHEF_REPLAY="+in, "SYMCHEF_OUTCOME="+out, "PYTHONPATH="+filepath.Join(dir, "python"))
		if b, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%d: %v: %s", i, err, b)
		}
		var told struct {
			Returned string `json:"returned_hex"`
		}
		b, err := os.ReadFile(out)
		if err == nil {
			err = json.Unmarshal(b, &told)
		}
		raw, _ := hex.DecodeString(told.Returned)
		if err != nil || len(raw) == 0 {
			t.Fatalf("%d: %s: %v", i, b, err)
		}
		return string(raw)
	}
	var all []string
	if l.kind == "r" {
		all = elements(tell(len(l.rows)))
	}
	var tests []testcase.Test
	for i, row := range l.rows {
		var value testcase.Value
		if all != nil {
			value = testcase.Value(all[i])
		} else {
			value = testcase.Value(tell(i))
		}
		if got := Shown(l.kind, value); got != row.shown {
			t.Errorf("%s is shown as %s, want %s", row.code, got, row.shown)
		}
		tests = append(tests, testcase.Test{ID: fmt.Sprint("t", i), Inputs: []testcase.Input{testcase.Int("n", int64(i))},
			Observation: testcase.Observation{Outcome: testcase.Outcome{Kind: testcase.OK}, Returned: value}})
	}
	var b strings.Builder
	emitted := filepath.Join(dir, "emitted"+l.suffix)
	if err := Write(&b, l.format, emitted, testcase.Target{Kind: l.kind, Path: path, Name: l.name}, tests, nil); err != nil {
		t.Fatal(err)
	}
	write("emitted"+l.suffix, b.String())
	for k := -1; ; k++ {
		text, others := codes(k)
		if k >= 0 && others == 0 {
			break
		}
		write("value"+l.suffix, l.test(text))
		cmd := exec.Command(l.runner[0], append(l.runner[1:], emitted)...)
		cmd.Dir, cmd.Env = dir, env
		out, err := cmd.CombinedOutput()
		if got := strings.Count(string(out), ": returned "); got != others || (err == nil) != (others == 0) {
			t.Errorf("%d cases are red, want %d: %v\n%s\n%s", got, others, err, out, text)
		}
	}
}

// elements are those of a list in tokens.
func elements(tokens string) (out []string) {
	at := 0
	head := func() (letter byte, n int) {
		end := at + strings.IndexByte(tokens[at:], ':')
		letter = tokens[at]
		n, _ = strconv.Atoi(tokens[at+1 : end])
		at = end + 1
		return letter, n
	}
	var skip func()
	skip = func() {
		switch letter, n := head(); letter {
		case 'l', '(', '<', '{':
			for range n * (1 + strings.Count("{", string(letter))) {
				skip()
			}
		default:
			at += n
		}
	}
	for _, n := head(); n > 0; n-- {
		from := at
		skip()
		out = append(out, tokens[from:at])
	}
	return out
}
