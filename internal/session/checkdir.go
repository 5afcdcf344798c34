package session

import (
	"encoding/json"
	"path/filepath"
	"strings"

	"symchef/internal/disk"
	"symchef/internal/interp"
	"symchef/internal/rundir"
)

// CheckedRun is the run of a function in a check directory.
type CheckedRun struct {
	Dir  string
	File string // what a test file of it is called
}

// CheckedRuns are those of a check directory; nil if dir is none.
func CheckedRuns(dir string) (runs []CheckedRun) {
	b, err := disk.Read(filepath.Join(dir, checkName))
	var r report
	if err != nil || json.Unmarshal(b, &r) != nil || r.SchemaVersion != checkVersion {
		return nil
	}
	runs = []CheckedRun{}
	for _, row := range r.Functions {
		run := filepath.Join(dir, string(row.Dir))
		d, err := rundir.Open(run)
		if row.Dir == "" || err != nil {
			continue
		}
		suffix := ""
		if l, known := interp.ByName(string(d.Summary.Target.Kind)); known {
			suffix = l.Suffixes[0]
		}
		runs = append(runs, CheckedRun{run, "test_" + strings.NewReplacer(".", "_", " ", "_").Replace(string(row.Dir)) + suffix})
	}
	return runs
}
