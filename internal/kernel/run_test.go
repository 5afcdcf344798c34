package kernel_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	machine "symchef/internal/exec"
	"symchef/internal/expr"
	"symchef/internal/kernel"
	"symchef/internal/mem"
)

// finish runs sys to its end.
func finish(t *testing.T, sys *kernel.System) {
	t.Helper()
	m := machine.New(expr.New())
	if stop := m.Run(sys, &machine.Facts{}, 1<<32); stop.Kind != machine.Exited {
		t.Fatalf("stopped: %+v", stop)
	}
}

func lua(t *testing.T, script string) kernel.Config {
	t.Helper()
	path, err := exec.LookPath("lua5.4")
	if err != nil {
		t.Skip("skipped: no lua5.4")
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		t.Fatal(err)
	}
	return kernel.Config{
		Path: path, Argv: []string{"lua5.4", "-e", script, "-"}, Env: []string{"HOME=/root"},
		Cwd: t.TempDir(), Seed: 7, Stdin: mem.Concrete([]byte("print('from stdin')\n")),
	}
}

const script = `
local f = assert(io.open("new", "w")); f:write(("x"):rep(5000)); f:close()
local t = {}
for i = 1, 2000 do t[i] = tostring(i) end
print(#table.concat(t), #io.open("new"):read("a"), os.clock() >= 0, os.time())
local p = io.popen("cat new | wc -c"); print(p:read("a")); print(p:close())
print(os.execute("kill -9 $$"))
os.exit(9)`

// TestSnapshotBehavesAlike: wherever the run is cut, the restored system ends as the original.
func TestSnapshotBehavesAlike(t *testing.T) {
	cfg := lua(t, script)
	whole, err := kernel.Boot(cfg)
	if err != nil {
		t.Fatal(err)
	}
	finish(t, whole)
	if whole.ExitStatus().Code != 9 {
		t.Fatalf("status %+v, stderr %s", whole.ExitStatus(), whole.Stderr().Data)
	}
	for _, cut := range []uint64{0, 50_000, 500_000, 900_000, 1_400_000, 2_000_000, 2_600_000} {
		sys, err := kernel.Boot(cfg)
		if err != nil {
			t.Fatal(err)
		}
		m := machine.New(expr.New())
		if stop := m.Run(sys, &machine.Facts{}, cut); stop.Kind == machine.Exited {
			t.Logf("ended before %d", cut)
			break
		}
		if err := kernel.NewHost().Revalidate(sys.Consulted()); err != nil {
			t.Errorf("cut %d: %v", cut, err)
		}
		data, err := sys.Marshal()
		if err != nil {
			t.Fatalf("cut %d: %v", cut, err)
		}
		fresh := cfg
		fresh.Host = nil
		back, err := kernel.Unmarshal(data, fresh)
		if err != nil {
			t.Fatalf("cut %d: %v", cut, err)
		}
		again, err := back.Marshal()
		if err != nil || !bytes.Equal(data, again) {
			t.Errorf("cut %d: marshalled again, %d and %d bytes differ (%v)", cut, len(data), len(again), err)
		}
		finish(t, back)
		if back.Retired != whole.Retired || !bytes.Equal(back.Stdout().Data, whole.Stdout().Data) || back.ExitStatus() != whole.ExitStatus() {
			t.Errorf("cut %d: %d instructions, %+v, want %d; output\n%s\nwant\n%s", cut, back.Retired, back.ExitStatus(), whole.Retired, back.Stdout().Data, whole.Stdout().Data)
		}
	}
	if _, err := os.Stat(filepath.Join(cfg.Cwd, "new")); err == nil {
		t.Error("a file was written to the host")
	}
}

// TestForkBehavesAlike: a fork and its original end alike, whichever runs first.
func TestForkBehavesAlike(t *testing.T) {
	sys, err := kernel.Boot(lua(t, script))
	if err != nil {
		t.Fatal(err)
	}
	m := machine.New(expr.New())
	m.Run(sys, &machine.Facts{}, 700_000)
	fork := sys.Fork()
	finish(t, sys)
	finish(t, fork)
	if fork.Retired != sys.Retired || !bytes.Equal(fork.Stdout().Data, sys.Stdout().Data) || fork.ExitStatus() != sys.ExitStatus() {
		t.Errorf("%d and %d instructions\n%s\n%s", fork.Retired, sys.Retired, fork.Stdout().Data, sys.Stdout().Data)
	}
}

func TestCorruptSnapshots(t *testing.T) {
	cfg := lua(t, "")
	sys, err := kernel.Boot(cfg)
	if err != nil {
		t.Fatal(err)
	}
	data, err := sys.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(data); i += 1 + len(data)/500 {
		bad := bytes.Clone(data)
		bad[i] ^= 0x41
		if _, err := kernel.Unmarshal(bad, cfg); err == nil {
			t.Fatalf("byte %d changed and accepted", i)
		}
		if _, err := kernel.Unmarshal(data[:i], cfg); err == nil {
			t.Fatalf("%d bytes accepted", i)
		}
	}
}

func TestRevalidate(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "prog")
	if err := os.WriteFile(file, []byte("#!/nonexistent/interp\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	host := kernel.NewHost()
	_, err := kernel.Boot(kernel.Config{Path: file, Argv: []string{"prog"}, Host: host})
	if err == nil || err.Error() != "/nonexistent/interp: not found" {
		t.Errorf("got %v", err)
	}
	list := host.Consulted()
	if err := kernel.NewHost().Revalidate(list); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(file, []byte("#!/nonexistent/interpreter\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if kernel.NewHost().Revalidate(list) == nil {
		t.Error("a changed file was not noticed")
	}
}

// What a system has of another snapshot's memory need not be stored again, and is the same when it is loaded.
func TestSnapshotOnAnother(t *testing.T) {
	cfg := lua(t, script)
	whole, err := kernel.Boot(cfg)
	if err != nil {
		t.Fatal(err)
	}
	m := machine.New(expr.New())
	m.Run(whole, &machine.Facts{}, 700_000)
	open := func(data []byte, err error) *kernel.Stored {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		st, err := kernel.Open(data)
		if err != nil {
			t.Fatal(err)
		}
		return st
	}
	load := func(st, base *kernel.Stored) *kernel.System {
		t.Helper()
		sys, err := st.System(base, cfg)
		if err != nil {
			t.Fatal(err)
		}
		return sys
	}
	base := open(whole.Marshal())
	sys := load(base, nil)
	for _, more := range []uint64{0, 1000, 200_000} {
		if more > 0 {
			m.Run(sys, &machine.Facts{}, more)
		}
		st, full := open(sys.MarshalOn(base)), open(sys.Marshal())
		small, large := len(st.Memory().Data), len(full.Memory().Data)
		if more == 0 && small > 0 || small*2 > large {
			t.Errorf("after %d instructions %d bytes of %d are stored", more, small, large)
		}
		if _, err := st.System(nil, cfg); err == nil {
			t.Error("loaded without its base")
		}
		if _, err := st.System(full, cfg); more > 0 && err == nil {
			t.Error("loaded on another base")
		}
		back := load(st, base)
		again, err1 := back.MarshalOn(base)
		before, err2 := sys.MarshalOn(base)
		if err := errors.Join(err1, err2); err != nil || !bytes.Equal(again, before) {
			t.Errorf("after %d instructions: stored again, %d and %d bytes differ (%v)", more, len(again), len(before), err)
		}
		if at, differs := back.CurrentProcess().Mem.Differs(sys.CurrentProcess().Mem); differs {
			t.Errorf("after %d instructions: another byte at %#x", more, at)
		}
		sys = back
	}
	finish(t, sys)
	finish(t, whole)
	if sys.Retired != whole.Retired || !bytes.Equal(sys.Stdout().Data, whole.Stdout().Data) || sys.ExitStatus() != whole.ExitStatus() {
		t.Errorf("%d and %d instructions\n%s\n%s", sys.Retired, whole.Retired, sys.Stdout().Data, whole.Stdout().Data)
	}
}
