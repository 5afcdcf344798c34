package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// contains lists the files below dir that hold text.
func contains(t *testing.T, dir, text string) (files []string) {
	t.Helper()
	err := filepath.Walk(dir, func(path string, st os.FileInfo, err error) error {
		if err != nil || !st.Mode().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if bytes.Contains(b, []byte(text)) {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// What a run does not take from the environment is nowhere: not in the guest, nor in what is written.
func TestSecret(t *testing.T) {
	const secret = "hunter2-correct-horse"
	for _, c := range []struct {
		name, need, file, source string
		run                      []string
	}{
		{"python", python, "test_e.py", "import os, symchef\ndef test_e(x: symchef.Bool()):\n    print(x, os.environ.get('API_TOKEN'), os.environ.get('SHOWN'), sorted(k for k in os.environ if k[:8] != 'SYMCHEF_'))\n", []string{"test_e.py"}},
		{"lua", "lua5.4", "test_e.lua", "local symchef = require(\"symchef\")\nfunction test_e()\n  local x = symchef.boolean(\"x\")\n  print(x, os.getenv(\"API_TOKEN\"), os.getenv(\"SHOWN\"))\nend\n", []string{"test_e.lua"}},
		{"program", "gcc", "e.c", "#include <stdio.h>\n#include <stdlib.h>\nint main() { if (getchar() == 'x') puts(\"x\"); printf(\"%s %s\\n\", getenv(\"API_TOKEN\"), getenv(\"SHOWN\")); return 0; }\n", []string{"--stdin", "1", "--", "./e"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := exec.LookPath(c.need); err != nil {
				t.Skipf("skipped: %s is not installed", c.need)
			}
			t.Parallel()
			b := newBox(t)
			b.env[2] = "XDG_CACHE_HOME=" + b.path("cache")
			b.env = append(b.env, "API_TOKEN="+secret, "SHOWN=shown-value")
			if c.name == "program" {
				b.compile("e", c.source)
			} else {
				b.write(c.file, c.source)
			}
			run := func(flags ...string) result {
				return b.run(append(append([]string{"run", "--out", "out"}, flags...), c.run...)...)
			}
			run().want(0, " 0 diverged")
			if c.name != "program" {
				b.run("emit", "-o", "emitted", "out").want(0)
			}
			if files := contains(t, b.dir, secret); len(files) > 0 {
				t.Errorf("the secret is in %v", files)
			}
			run("--pass", "SHOWN", "--pass", "GIVEN=given-value").want(0, " 0 diverged")
			sum, tests := b.load("out")
			if env := strings.Join(sum.Target.Env, "\n"); !strings.Contains(env, "SHOWN=shown-value\n") || !strings.Contains(env, "GIVEN=given-value\n") {
				t.Errorf("environment %s", env)
			}
			if out := b.output("out", tests[0]); !strings.Contains(out, "shown-value") {
				t.Errorf("output %q", out)
			}
			if files := contains(t, b.dir, secret); len(files) > 0 {
				t.Errorf("the secret is in %v", files)
			}
			run("--pass", "NOWHERE").oneLine(2, "--pass NOWHERE: it is not in the environment")
		})
	}
}
