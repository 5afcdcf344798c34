package interp

import (
	"io/fs"
	"testing"

	"symchef/languages"
)

// FuzzCalibration reads damaged descriptions of calibrations.
func FuzzCalibration(f *testing.F) {
	for _, l := range languages.All() {
		if b, err := fs.ReadFile(l.Files, languages.Calibration); err == nil {
			f.Add(string(b))
		}
	}
	f.Add("(calibration x)")
	f.Fuzz(func(t *testing.T, src string) { ParseCalibration(src) })
}
