package rundir

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"symchef/internal/testcase"
)

func schema(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	s, err := jsonschema.NewCompiler().Compile(filepath.Join("..", "..", "docs", name))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func validate(t *testing.T, s *jsonschema.Schema, text []byte) error {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(v)
}

func TestSummarySchema(t *testing.T) {
	s := schema(t, "summary.schema.json")
	dir := t.TempDir()
	for _, sum := range []Summary{sampleSummary(), {Target: testcase.Target{Kind: testcase.Program}}} {
		w, err := Create(dir, sum, nil)
		if err != nil {
			t.Fatal(err)
		}
		w.Close()
		b, err := os.ReadFile(filepath.Join(dir, summaryName))
		if err != nil {
			t.Fatal(err)
		}
		if err := validate(t, s, b); err != nil {
			t.Error(err)
		}
		for _, edit := range [][2]string{
			{`"seed"`, `"sed"`},
			{`"low": 0`, `"low": -1`},
			{`"crash"`, `"crush"`},
			{`"schema_version": 2`, `"schema_version": 1`},
		} {
			bad := strings.Replace(string(b), edit[0], edit[1], 1)
			if bad == string(b) || validate(t, s, []byte(bad)) == nil {
				t.Errorf("accepted with %s for %s", edit[1], edit[0])
			}
		}
	}
}

func TestTestcaseSchema(t *testing.T) {
	s := schema(t, "testcase.schema.json")
	for _, k := range testcase.Kinds {
		c := sampleTest("a")
		c.Outcome.Kind, c.EndedBy, c.Log = k, "time", []string{"x"}
		b, err := newShortener().shorten(c).encode()
		if err != nil {
			t.Fatal(err)
		}
		if err := validate(t, s, b); err != nil {
			t.Errorf("%s: %v", k, err)
		}
		for _, edit := range [][2]string{
			{`"path_id"`, `"path"`},
			{`"value":-1`, `"value":"-1"`},
			{`"SIGSEGV"`, `"11"`},
			{`"type":"bytes"`, `"type":"bytes","value":1`},
			{`"label":"P(True)",`, ``},
			{`"type":"str"`, `"parts":[],"type":"str"`},
			{`{"name":"P","of":"m"}`, `-1`},
		} {
			bad := strings.Replace(string(b), edit[0], edit[1], 1)
			if bad == string(b) || validate(t, s, []byte(bad)) == nil {
				t.Errorf("accepted with %s for %s", edit[1], edit[0])
			}
		}
	}
}
