package session

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"symchef/internal/disk"
	"symchef/internal/hlpc"
	"symchef/internal/interp"
	"symchef/internal/kernel"
	"symchef/internal/testcase"
)

// CalibrateOptions are the settings of a calibration.
type CalibrateOptions struct {
	Interpreter string   // path, or name on PATH
	Language    string   // "" to tell from the interpreter's name
	Description string   // file with a (calibration ...) of the user's own; "" for the embedded ones
	Env         []string // the interpreter's environment, NAME=VALUE; nil: that of this process
	Boot        string   // of Boots; "" is BootAuto
	NoCache     bool     // neither read nor write results
	CacheDir    string   // of results; "" is the user's cache folder
}

// Calibrate finds where an interpreter keeps its high-level program counter. Results are cached; one is
// valid for the build of the module that it names.
func Calibrate(o CalibrateOptions) (*hlpc.Result, error) {
	path, err := lookProgram(o.Interpreter)
	if err != nil {
		return nil, err
	}
	cal, err := o.calibration(path)
	if err != nil {
		return nil, err
	}
	file := o.cachePath(path, cal)
	if r := loadCalibration(file, cal); r != nil {
		return r, nil
	}
	env := o.Env
	if env == nil {
		env = os.Environ()
	}
	r, err := hlpc.Calibrate(kernel.Config{
		Path: path, Argv: cal.Argv(path), Env: testcase.PinEnv(cal.Environ(env)), Cwd: "/",
		UID: os.Getuid(), GID: os.Getgid(),
	}, cal, o.Boot != BootEmulated)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if b, err := json.MarshalIndent(r, "", "  "); err == nil && file != "" && r.Function.BuildID != "" {
		saveFile(file, append(b, '\n'))
	}
	return r, nil
}

// calibration is the description for the interpreter at path.
func (o *CalibrateOptions) calibration(path string) (*interp.Calibration, error) {
	if o.Description != "" {
		src, err := os.ReadFile(o.Description)
		if err != nil {
			return nil, &usageError{err.Error()}
		}
		c, err := interp.ParseCalibration(string(src))
		if err != nil {
			return nil, &usageError{o.Description + ":" + err.Error()}
		}
		return c, nil
	}
	var known []string
	for _, c := range interp.Calibrations() {
		if c.Language == o.Language {
			return c, nil
		}
		known = append(known, c.Language)
	}
	if o.Language == "" {
		if c, ok := interp.CalibrationFor(path); ok {
			return c, nil
		}
	}
	if o.Language != "" {
		return nil, &usageError{fmt.Sprintf("%s: no calibration of the language %s is known; there is %s", path, o.Language, strings.Join(known, ", "))}
	}
	return nil, &usageError{fmt.Sprintf("%s: which language it speaks is not known: give --language (%s) or --description", path, strings.Join(known, ", "))}
}

// cachePath is the cache file for the interpreter at path; "" when there is no cache.
func (o *CalibrateOptions) cachePath(path string, cal *interp.Calibration) string {
	if o.NoCache {
		return ""
	}
	dir := CacheDir(o.CacheDir)
	if dir == "" {
		return ""
	}
	h := sha256.Sum256(fmt.Appendf(nil, "%d %q %q", hlpc.Version, path, cal.Text))
	return filepath.Join(dir, hex.EncodeToString(h[:16])+".hlpc")
}

// loadCalibration returns the cached result, or nil if there is none for the builds of now.
func loadCalibration(file string, cal *interp.Calibration) *hlpc.Result {
	b, err := disk.Read(file)
	if err != nil {
		return nil
	}
	var r hlpc.Result
	if json.Unmarshal(b, &r) != nil || r.Bind(cal) != nil || r.Function.BuildID == "" || hlpc.BuildID(r.Function.Module) != r.Function.BuildID {
		return nil
	}
	return &r
}

// saveFile replaces a cache file at once. Failing to is no error. What would take more than half of the room that is left is not kept: others write there, too.
func saveFile(path string, parts ...[]byte) {
	need := 0
	for _, part := range parts {
		need += len(part)
	}
	if uint64(need) > disk.Room(filepath.Dir(path))/2 {
		return
	}
	f, err := os.CreateTemp(filepath.Dir(path), "new-*") // mode 0600
	if err != nil {
		return
	}
	var werr error
	for _, part := range parts {
		if werr == nil {
			_, werr = f.Write(part)
		}
	}
	if errors.Join(werr, f.Close()) != nil || os.Rename(f.Name(), path) != nil {
		os.Remove(f.Name())
	}
}

// UsageError reports whether err is the user's mistake.
func UsageError(err error) bool { return errors.As(err, new(*usageError)) }
