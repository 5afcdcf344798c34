package rundir

import (
	"os"
	"path/filepath"
	"testing"
)

// FuzzOpen reads a damaged run directory.
func FuzzOpen(f *testing.F) {
	f.Add([]byte(`{"schema_version":2,"test":"t","target":{"kind":"program","path":"/p","argv":["p"]}}`), []byte("{}\n{"), []byte(`{"id":"t000001"}`))
	f.Add([]byte(`{"schema_version":2}`), []byte("\n\n"), []byte("["))
	f.Add([]byte(`{"schema_version":2}`), []byte(`{"id":"a","outcome":{"kind":"ok"},"decisions":{"like":"a","same":9,"then":[4294967295]}}`+"\n"), []byte("["))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, summary, tests, replay []byte) {
		for name, b := range map[string][]byte{summaryName: summary, testsName: tests, replayName: replay, treeName: tests, outputsName: replay} {
			if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		r, err := Open(dir)
		if err != nil {
			return
		}
		r.Tests()
		r.Test("t000001")
		r.PathCondition("../x")
		r.Output("x")
		r.Verdicts()
		var v any
		r.Tree(&v)
	})
}
