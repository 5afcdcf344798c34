package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A program that reads two bytes, adds the first 100 times to a sum in a loop that becomes hot, and ends with 1 where the second is an x.
const debugged = `
	.globl _start
_start:
	sub $16, %rsp
	xor %edi, %edi
	mov %rsp, %rsi
	mov $2, %edx
	xor %eax, %eax
	syscall
	mov $100, %ecx
again:
	add %rcx, %rbx
	dec %ecx
	jnz again
	xor %edi, %edi
	movzbl 1(%rsp), %eax
	add (%rsp), %al
	cmp $0x78, %al
	jne end
	inc %edi
end:
	mov $60, %eax
	syscall
`

// Each window shows the same text for the same path: golden files, written anew with `go test -run TestDebug ./cmd/symchef -args -update`.
func TestDebug(t *testing.T) {
	stack := regexp.MustCompile(`0x7fffffff[0-9a-f]{4}`) // the environment is on it, with the test's folder
	b := newBox(t)
	b.compile("p", "asm(\""+strings.NewReplacer("\n", "\\n", "\t", " ").Replace(debugged)+"\");", "-nostdlib", "-static", "-Wl,--build-id=none", "-Wl,-Ttext=0x401000")
	b.run("run", "--out", "d", "--stdin", "2", "--", "./p").want(0)
	for _, window := range []string{"blocks", "ir", "code", "expr", "solver", "tree", "state"} {
		got := strings.ReplaceAll(b.run("debug", window, "--case", "t000001", "d").want(0).stdout, b.dir, "DIR")
		got = stack.ReplaceAllString(got, "STACK")
		golden := filepath.Join("testdata", "debug", window+".txt")
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if want, err := os.ReadFile(golden); err != nil || got != string(want) {
			t.Errorf("%s: %v\n%s\nwant\n%s", window, err, got, want)
		}
	}
	b.run("debug", "ir", "--at", "nowhere", "d").want(2)
	b.run("debug", "window", "d").want(2)
	b.run("debug", "tree", "--case", "t000009", "d").want(2)
	b.run("debug", "tree", "nowhere").want(2)
}

// What a window shows of an interpreter is the same each time, too, though it starts natively at first and is loaded then.
func TestDebugInterpreter(t *testing.T) {
	b := pythonBox(t)
	b.write("test_t.py", "import symchef\n\ndef test_t(n: symchef.Int(0, 9)):\n    if n == 3:\n        raise KeyError(n)\n")
	b.run("run", "--out", "t", "test_t.py").want(1)
	for _, window := range []string{"blocks", "code", "tree", "state"} {
		one, two := b.run("debug", window, "t").want(0).stdout, b.run("debug", window, "t").want(0).stdout
		if one != two || len(one) < 50 {
			t.Errorf("%s: %d and %d bytes, not the same", window, len(one), len(two))
		}
	}
	b.run("debug", "tree", "t").want(0, "test_t.py:4 test_t")
}
