package interp

import "testing"

// FuzzCalibration reads damaged descriptions of calibrations.
func FuzzCalibration(f *testing.F) {
	for _, c := range []string{"python", "lua"} {
		if b, err := calibrations.ReadFile("calibrate/" + c + ".desc"); err == nil {
			f.Add(string(b))
		}
	}
	f.Add("(calibration x)")
	f.Fuzz(func(t *testing.T, src string) { ParseCalibration(src) })
}
