package hlpc

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"math/rand/v2"
	"os"
	osexec "os/exec"
	"path/filepath"
	"testing"

	"symchef/internal/cpu"
	"symchef/internal/exec"
	"symchef/internal/expr"
	"symchef/internal/interp"
	"symchef/internal/ir"
	"symchef/internal/kernel"
	"symchef/internal/mem"
	"symchef/internal/seed"
)

// performer dispatches what its list of events says: frame, program counter, and a word that is written before, by a system
// call if its address is odd. Where shared is not 0, objects has a second view.
const performer = `
	.text
	.globl _start
	.cfi_startproc
_start:	cmpq $0, shared(%rip)
	je begin
	lea name(%rip), %rdi
	xor %esi, %esi
	mov $319, %eax			# memfd_create
	syscall
	mov %rax, %r8
	mov %rax, %rdi
	mov $4096, %esi
	mov $77, %eax			# ftruncate
	syscall
	lea objects(%rip), %rdi
	mov $3, %edx
	mov $0x11, %r10d		# MAP_SHARED | MAP_FIXED
	xor %r9d, %r9d
	mov $9, %eax			# mmap
	syscall
	lea second(%rip), %rdi
	mov $9, %eax
	syscall
begin:	lea events(%rip), %r12
	lea ends(%rip), %r13
again:	cmp %r13, %r12
	jae done
	lea again(%rip), %rax
	mov %r12, %rsi
	mov (%rsi), %rbx
	mov 8(%rsi), %rbp
	mov 16(%rsi), %rcx
	mov 24(%rsi), %rdx
	add $32, %r12
	test $1, %cl
	jnz call
	mov %rdx, (%rcx)
	jmp site
call:	mov %rcx, %r14
	mov %rdx, %rsi
	mov $0x1002, %edi		# ARCH_SET_FS
	mov $158, %eax			# arch_prctl
	syscall
	lea -1(%r14), %rsi
	mov $0x1003, %edi		# ARCH_GET_FS
	mov $158, %eax
	syscall
	lea again(%rip), %rax
site:	jmp *%rax
done:	mov $60, %eax
	xor %edi, %edi
	syscall
	.cfi_endproc
name:	.asciz "objects"
	.data
	.balign 4096
shared:	.quad 0
events:	.space 32 * 20000
ends:
	.bss
	.balign 4096
objects: .space 4096
second:	.space 4096
frames:	.space 16 * 200
`

const (
	performerFrames, performerObjects = 200, 12
	performerEvents                   = 20000
	frameSize, objectSize             = 16, 200 // bytes; some objects cross granules
)

// TestWindow: whatever calls, returns and writes follow one another, compiled code tells of the steps that the evaluator tells of.
func TestWindow(t *testing.T) {
	if _, err := osexec.LookPath("gcc"); err != nil {
		t.Skip("skipped: gcc is not installed")
	}
	seed := seed.Of(t)
	path := filepath.Join(t.TempDir(), "performer")
	cmd := osexec.Command("gcc", "-x", "assembler", "-nostdlib", "-static", "-o", path, "-")
	cmd.Stdin = bytes.NewReader([]byte(performer))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("gcc: %s", out)
	}
	file, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	symbols, err := file.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]uint64{}
	for _, s := range symbols {
		at[s.Name] = s.Value
	}
	data := file.Section(".data")
	program, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	cal, err := interp.ParseCalibration(`(calibration x (interpreters "x") (argv script) (script "a")
		(code y (object p (load8 frame 8)) (start (load8 p 0)) (size (load8 p 8)) (identity ((add p 0x18) 8) ((add p 0x28) 100))))`)
	if err != nil {
		t.Fatal(err)
	}
	result := &Result{
		Function: Function{Module: path, BuildID: BuildID(path), Offset: at["_start"], End: at["done"]}, Kind: "jump", Sites: []uint64{at["site"]},
		Location: Loc{Reg: ir.RBP}, Delta: 4, Frame: Loc{Reg: ir.RBX}, FrameKnown: true, Code: "y", rule: &cal.Codes[0],
	}
	dispatches, exits := uint64(0), uint64(0)
	for round := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, round))
		result.Redispatch = round%2 == 1
		shared := round%3 == 2
		flag := &program[data.Offset+at["shared"]-data.Addr]
		if *flag = 0; shared {
			*flag = 1
		}
		copy(program[data.Offset+at["events"]-data.Addr:], events(r, at, shared))
		if err := os.WriteFile(path, program, 0o755); err != nil {
			t.Fatal(err)
		}
		// run runs two copies, in turn or, with new machines every now and then, one after the other.
		run := func(compileAfter int, chunk uint64, renew bool) (steps [2][]Step, left uint64) {
			sys, err := kernel.Boot(kernel.Config{Path: path, Argv: []string{path}, Cwd: "/"})
			if err != nil {
				t.Fatal(err)
			}
			now := 0
			tracer := &Tracer{Result: result, OnStep: func(_ *kernel.System, s *Step) { steps[now] = append(steps[now], *s) }}
			machine := func() *exec.Machine {
				m := exec.New(expr.New())
				m.CompileAfter = compileAfter
				tracer.Attach(m)
				watch := m.Watch
				m.Watch = func(s *mem.Space, site uint64) exec.Watcher {
					w := watch(s, site)
					if w == nil {
						return nil
					}
					return func(sys *kernel.System, s *mem.Space, c *cpu.CPU, target uint64) {
						left++
						w(sys, s, c, target)
					}
				}
				return m
			}
			m := machine()
			copies := [2]*kernel.System{sys, sys.Fork()}
			cursors := [2]*Cursor{{}, {}}
			for ended := 0; ended < 2; {
				tracer.Cursor = cursors[now]
				exited := m.Run(copies[now], &exec.Facts{}, chunk).Kind == exec.Exited
				if exited {
					ended++
				}
				if exited || !renew {
					now = 1 - now
				} else if ended == 0 {
					m = machine()
				}
			}
			return steps, left
		}
		want, all := run(0, 1e10, false)
		for _, chunk := range []uint64{1e10, 5003, 50021} {
			got, left := run(1, chunk, chunk == 50021)
			for k, got := range got {
				want := want[0]
				for i := range min(len(got), len(want)) {
					if got[i] != want[i] {
						t.Fatalf("round %d, in chunks of %d, copy %d, step %d: %+v, want %+v", round, chunk, k, i, got[i], want[i])
					}
				}
				if len(got) != len(want) || len(got) < performerEvents/3 {
					t.Fatalf("round %d, in chunks of %d, copy %d: %d steps, want %d", round, chunk, k, len(got), len(want))
				}
			}
			if !shared && chunk == 1e10 {
				dispatches += all
				exits += left
			}
		}
	}
	t.Logf("%d of %d dispatches left compiled code", exits, dispatches)
	if exits != dispatches && exits > dispatches/4 { // all, where the host allows no machine code
		t.Error("compiled code leaves at calls that it should know")
	}
}

// events are random: calls and returns, most of them as frames are used again, in code objects that change now and then.
func events(r *rand.Rand, at map[string]uint64, shared bool) (list []byte) {
	frame := func(i int) uint64 { return at["frames"] + uint64(i)*frameSize }
	object := func(i int) uint64 { return at["objects"] + uint64(i)*objectSize }
	word := map[uint64]uint64{} // what memory holds
	event := func(frame, value, where, what uint64) {
		word[where] = what
		if off := where - at["objects"]; shared && off < 4096 && r.IntN(2) == 0 {
			where = at["second"] + off
		}
		if r.IntN(1500) == 0 {
			where++
		}
		for _, v := range []uint64{frame, value, where, what} {
			list = binary.LittleEndian.AppendUint64(list, v)
		}
	}
	calm := 20 + r.IntN(400) // how seldom something changes
	stack := []int{0}
	changes := func() (where, what uint64) {
		o := object(r.IntN(performerObjects))
		switch r.IntN(6) {
		case 0:
			return frame(r.IntN(performerFrames)) + 8, o
		case 1:
			return o, 0x1000 * (1 + r.Uint64N(3))
		case 2:
			return o + 8, 16 * (1 + r.Uint64N(3))
		case 3:
			return o + 0x18, r.Uint64N(2)
		case 4:
			return o + 0x28 + 8*r.Uint64N(12), r.Uint64N(2)
		}
		return frame(stack[len(stack)-1]) + 8, o
	}
	// First everything has a place.
	for i := range performerObjects {
		event(frame(0), 0, object(i), 0x1000*(1+r.Uint64N(3)))
		event(frame(0), 0, object(i)+8, 16*(1+r.Uint64N(3)))
	}
	for i := range performerFrames {
		event(frame(0), 0, frame(i)+8, object(r.IntN(performerObjects)))
	}
	for len(list) < 32*performerEvents {
		top := len(stack) - 1
		deeper := 6 * (1 - len(list)/32/1000%2*2) // so that it goes down deep, and back
		switch n := r.IntN(100); {
		case n < 25+deeper && top < performerFrames-1:
			next := (stack[top] + 1) % performerFrames
			if r.IntN(200) == 0 {
				next = r.IntN(performerFrames)
			}
			stack = append(stack, next)
		case n < 50 && top > 0:
			stack = stack[:top]
		case n < 51 && top > 0 && r.IntN(5) == 0:
			stack = stack[:1+r.IntN(top)]
		case n < 52 && r.IntN(5) == 0: // replaced
			stack[top] = r.IntN(performerFrames)
		}
		f := frame(stack[len(stack)-1])
		where, what := object(r.IntN(performerObjects))+0x10, uint64(r.Uint32()) // beside what tells objects apart
		if r.IntN(calm) == 0 {
			where, what = changes()
		}
		o := word[f+8]
		if where == f+8 {
			o = what
		}
		value := word[o] + r.Uint64N(17)
		if r.IntN(3) == 0 {
			value = word[o]
		}
		if n := len(list); r.IntN(50) == 0 {
			value = binary.LittleEndian.Uint64(list[n-24:]) + 4
		}
		event(f, value-4, where, what)
	}
	return list[:32*performerEvents]
}
