package session

import (
	"os/signal"
	"strings"
	"syscall"
	"testing"
)

// TestSignalNames guards that machine and replay call each signal that kills by one name, real-time signals too, whatever the caller ignores.
func TestSignalNames(t *testing.T) {
	// nohup ignores the first, a shell's "&" the next two; a child would inherit that.
	signal.Ignore(syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGUSR1)
	defer signal.Reset()
	prog := compile(t, writeFile(t, "die.c", `
#include <signal.h>
#include <unistd.h>
int main(void) {
	unsigned char n = 0;
	read(0, &n, 1);
	if (n >= 1 && n <= 64 && !(n >= SIGCONT && n <= SIGTTOU)) kill(getpid(), n);
	return 0;
}
`))
	e := runIt(t, Options{Program: []string{prog}, AllPaths: true, StdinLen: 1})
	if !e.summary.Exhausted {
		t.Errorf("not exhausted: %q", e.summary.WhyNotExhausted)
	}
	names := map[string]bool{}
	for _, c := range e.tests {
		if c.Outcome.Signal != "" {
			names[c.Outcome.Signal] = true
		}
	}
	for _, want := range strings.Fields("SIGSTKFLT SIGVTALRM SIGPROF SIGIO SIGPWR SIGTRAP SIG34 SIG64") {
		if !names[want] {
			t.Errorf("nothing dies of %s: %v", want, names)
		}
	}
}
