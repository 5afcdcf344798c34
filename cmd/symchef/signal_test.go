package main

import (
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Every command that may work for long ends at a signal, with status 130, and leaves no temporary folder.
func TestSignalled(t *testing.T) {
	b := newBox(t)
	b.write("tmp/x", "")
	b.env = append(b.env, "TMPDIR="+b.path("tmp"))
	b.compile("spins", "int main() { for (volatile unsigned i = 0;; i++); }")
	b.compile("waits", `#include <stdio.h>
#include <unistd.h>
int main() { if (getchar() == 'z') sleep(60); else putchar('x'); return 0; }`) // the machine's clock skips what nobody uses
	b.compile("long", `#include <stdio.h>
int main() { if (getchar() == 'z') return 3; for (volatile unsigned i = 0; i < 100000000; i++); return 0; }`)
	b.run("run", "--out", "slept", "--replay", "none", "--stdin", "1", "--", "./waits").want(0)
	b.run("run", "--out", "counted", "--replay", "none", "--stdin", "1", "--", "./long").want(0)
	_, tests := b.load("counted")
	last := tests[len(tests)-1].ID
	commands := [][]string{
		{"exec", "./spins"},
		{"replay", "slept"},
		{"rerun", "counted"},
		{"smt2", "counted", last},
		{"debug", "state", "--case", last, "counted"},
	}
	if python, err := exec.LookPath("python3"); err == nil {
		commands = append(commands, []string{"doctor"}, []string{"calibrate", "--no-cache", python}, []string{"language", "check", "python"})
	}
	for i, args := range commands {
		sig := []syscall.Signal{syscall.SIGTERM, syscall.SIGINT}[i%2]
		cmd := b.command(args...)
		wait := b.start(cmd)
		time.Sleep(300 * time.Millisecond)
		if args[0] == "replay" { // one case has its verdict by now
			time.Sleep(3 * time.Second)
		}
		cmd.Process.Signal(sig)
		began := time.Now()
		r := wait()
		if took := time.Since(began); took > slack {
			t.Errorf("%v: ended %v after the signal", args, took)
		}
		if r.status != 130 {
			t.Errorf("%v: status %d\n%s%s", args, r.status, r.stdout, r.stderr)
		}
		if l := b.temporary(); len(l) != 1 || !strings.HasSuffix(l[0], "/x") {
			t.Errorf("%v: left %v", args, l)
		}
	}
	sum, _ := b.load("slept")
	if sum.Replay.Agreed != 1 || sum.Replay.NotReplayed != 1 {
		t.Errorf("of the replay that was ended: %+v", sum.Replay)
	}
}
