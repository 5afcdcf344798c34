package hlpc_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"symchef/internal/hlpc"
	"symchef/internal/interp"
	"symchef/internal/kernel"
	"symchef/internal/testcase"
)

// config starts an interpreter on its calibration script.
func config(path string, cal *interp.Calibration) kernel.Config {
	return kernel.Config{Path: path, Argv: cal.Argv(path), Env: testcase.PinEnv(cal.Environ([]string{"PATH=/usr/bin:/bin"})), Cwd: "/"}
}

// calibrated holds the results of calibrate: several tests use one.
var calibrated = map[string]*hlpc.Result{}

// calibrate calibrates an installed interpreter, or skips the test.
func calibrate(t *testing.T, path string) (*hlpc.Result, *interp.Calibration) {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		t.Skipf("skipped: %s is not installed", path)
	}
	cal, ok := interp.CalibrationFor(path)
	if !ok {
		t.Fatalf("no calibration script for %s", path)
	}
	if r := calibrated[path]; r != nil {
		return r, cal
	}
	r, err := hlpc.Calibrate(config(path, cal), cal, true)
	if err != nil {
		t.Fatal(err)
	}
	calibrated[path] = r
	return r, cal
}

// An interpreter that started natively is found the same program counter.
func TestNative(t *testing.T) {
	for _, path := range []string{"/usr/bin/lua5.4", "/usr/bin/perl", "/usr/bin/ruby3.1", "/usr/bin/mujs"} {
		t.Run(filepath.Base(path), func(t *testing.T) {
			native, cal := calibrate(t, path)
			emulated, err := hlpc.Calibrate(config(path, cal), cal, false)
			if err != nil {
				t.Fatal(err)
			}
			n, err1 := json.Marshal(native)
			e, err2 := json.Marshal(emulated)
			if err1 != nil || err2 != nil || string(n) != string(e) {
				t.Errorf("%v %v: native\n%s\nemulated\n%s", err1, err2, n, e)
			}
		})
	}
}

// TestStock calibrates stock interpreters. What must hold of every build: the dispatch and the frame are
// verified, and a statement of the script has as many operations as the language's compiler makes of it. For
// Debian 12's builds the place is also compared with what was read in their disassembly.
func TestStock(t *testing.T) {
	for _, c := range []struct {
		path   string
		per    float64
		linear bool
		level  hlpc.Level
		code   string // the rule that must hold
		build  string // where the rest was read
		at     string
	}{
		{"/usr/bin/lua5.4", 1, true, hlpc.Table, "lua-54", "1061f95d5cf9242924aac24fb75ecdcab7eac0e6", "lua5.4+0x1b3a0 jump r13 -0x4"},
		{"/usr/bin/lua5.3", 1, true, hlpc.Table, "lua-53", "5a385d648fc81692de824e6caab1695b92711cc8", "lua5.3+0x19240 jump [rbp+0x28] -0x4"},
		{"/usr/bin/lua5.2", 1, true, hlpc.Table, "lua-52", "6e0b55d0415ba05e40764fe6aa797fd99c768712", "lua5.2+0x17960 jump [r13+0x38] -0x4"},
		{"/usr/bin/lua5.1", 1, true, hlpc.Table, "lua-51", "97c1063cf4058d17818dfa6325429bb6cdca9080", "lua5.1+0x16720 jump r14 +0x0"},
		{"/usr/bin/luajit", 1, true, hlpc.Table, "luajit-21", "79b0b8114f05a2726860c3141195279ceb0f6e29", "luajit+0x704e0 jump rbx -0x4"},
		{"/usr/bin/python3.11", 4, true, hlpc.Table, "cpython-311", "c561f3aa7232f2bd6ac6d56bd475f1c154a00486", "python3.11+0x501f40 (_PyEval_EvalFrameDefault) jump r15 +0x0"},
		{"/usr/bin/ruby3.1", 4, true, hlpc.Direct, "ruby-31", "803542d97ea70c8f19d5fb7f9fd3b828e3e9ada4", "libruby-3.1.so.3.1.2+0x24e160 jump r14 +0x0"},
		{"/usr/bin/php8.2", 2, true, hlpc.Direct, "php-82", "f401dc5a73a43fa8d1514aa22a13d9ea03965d52", "php8.2+0x36cbe0 (execute_ex) jump r15 +0x0"},
		{"/usr/bin/perl", 4, false, hlpc.Direct, "perl-536", "1fe33ad875fa0cb11cd1fe798112b559290b4fc6", "perl+0x11a0d0 (Perl_runops_standard) call rax +0x0"},
		{"/usr/bin/mujs", 5, true, hlpc.Table, "mujs-13", "cf39dd59ff7f586c12aa0974ff80e0e4561e9cbf", "mujs+0x130c0 jump rbx +0x2"},
		{"/usr/bin/mruby", 1, true, hlpc.Table, "mruby-31", "f65604bf9d2c4bf512efd8fede1e16f941a9d04a", "mruby+0x3ffa0 jump rbx +0x0"},
		{"/usr/bin/tclsh8.6", 2, true, hlpc.Table, "tcl-86", "563b9048c335ba1acabed5affb5fc9149741e310", "libtcl8.6.so+0xcd760 jump [rsp+0x8] +0x0"},
		{"/usr/bin/mawk", 6, true, hlpc.Table, "", "dedddd637101a030c06821de15b8b565ff126240", "mawk+0xa480 jump r12 +0x0"},
		{"/usr/bin/gawk", 3, false, hlpc.Table, "", "0585c99dab453c12da422f6dc7423b6e315c6f06", "gawk+0x4415e0 jump rbx +0x0"},
		{"/usr/bin/R", 5, true, hlpc.Direct, "gnu-r", "ec1970cd82835ac65e5b537e151a430a144030a3", "libR.so+0x136de0 jump [rsp] -0x8"},
	} {
		t.Run(filepath.Base(c.path), func(t *testing.T) {
			r, _ := calibrate(t, c.path)
			var b strings.Builder
			r.Write(&b)
			t.Logf("\n%s", b.String())
			frameless := strings.HasPrefix(filepath.Base(c.path), "mruby") || strings.HasPrefix(filepath.Base(c.path), "gawk") // it takes two loads
			if r.FrameKnown == frameless || (r.Confidence == "high") == frameless || r.Dispatch.Level != c.level || r.Linear != c.linear || r.Code != c.code ||
				r.PerStatement < c.per-0.1 || r.PerStatement > c.per+0.1 || len(r.Sites) == 0 || len(r.Sites) > r.Branches {
				t.Errorf("unexpected: %+v", r)
			}
			if at := r.At(); c.build == r.Function.BuildID && at != c.at {
				t.Errorf("found %s, want %s", at, c.at)
			}
		})
	}
}
