package interp

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Everything is listed once, in the order of the descriptions; what is no program is not.
func TestInstalled(t *testing.T) {
	dir := t.TempDir()
	make := func(names ...string) {
		for _, name := range names {
			p := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(p, nil, 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	make("active/bin/python", "project/.venv/pyvenv.cfg", "project/.venv/bin/python", "project/venv/bin/python", "conda/bin/python",
		"bin/python3", "bin/python3.12", "bin/python3-config", "bin/python3.12-config", "root/versions/3.9.1/bin/python", "home/.pyenv/versions/3.8.2/bin/python",
		"home/miniconda3/bin/python", "home/anaconda3/envs/e/bin/python", "bin/lua5.3", "bin/luac5.3", "r/bin/R")
	if err := os.WriteFile(filepath.Join(dir, "bin/python"), nil, 0o644); err != nil { // not executable
		t.Fatal(err)
	}
	env := environment(map[string]string{"VIRTUAL_ENV": dir + "/active", "CONDA_PREFIX": dir + "/conda", "PATH": dir + "/nowhere:" + dir + "/bin:relative", "PYENV_ROOT": dir + "/root",
		"HOME": dir + "/home", "R_HOME": dir + "/r"})
	for language, want := range map[string]string{
		"python": "$VIRTUAL_ENV active/bin/python, .venv project/.venv/bin/python, $CONDA_PREFIX conda/bin/python, PATH bin/python3, PATH bin/python3.12, " +
			"pyenv root/versions/3.9.1/bin/python, pyenv home/.pyenv/versions/3.8.2/bin/python, conda home/miniconda3/bin/python, conda home/anaconda3/envs/e/bin/python",
		"lua": "PATH bin/lua5.3", "r": "R_HOME r/bin/R",
	} {
		d, _ := ByName(language)
		var got []string
		for _, in := range d.Installed(filepath.Join(dir, "project"), env) {
			if at, ok := strings.CutPrefix(in.Path, dir+"/"); ok { // others are this machine's
				got = append(got, in.From+" "+at)
			}
		}
		if all := strings.Join(got, ", "); all != want {
			t.Errorf("%s: %s, want %s", language, all, want)
		}
	}
}

// What a program says is kept for its build, and asked again of another one.
func TestAnswerKept(t *testing.T) {
	dir := t.TempDir()
	shell, err := filepath.EvalSymlinks("/bin/sh")
	if err != nil || !IsELF(shell) {
		t.Skip("skipped: no shell that is an ELF file")
	}
	b, err := os.ReadFile(shell)
	if err != nil {
		t.Fatal(err)
	}
	d := &Desc{ask: []string{"-c", fmt.Sprintf("echo asked >>%s/count; echo impl; echo 1.2; echo %s/sh", dir, dir)}}
	for n, want := range []int{1, 1, 2} {
		if n != 1 { // installed anew
			if err := os.WriteFile(dir+"/sh", b, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		lines, err := d.answer(candidate{path: dir + "/sh"}, "", dir)
		count, _ := os.ReadFile(dir + "/count")
		if asked := strings.Count(string(count), "asked"); err != nil || asked != want || !slices.Equal(lines, []string{"impl", "1.2", dir + "/sh"}) {
			t.Errorf("look %d: asked %d times, want %d; %q, %v", n, asked, want, lines, err)
		}
	}
}
