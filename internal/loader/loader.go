// Package loader turns an ELF program into a guest address space and the
// registers it starts with, as Linux's binfmt_elf.c and binfmt_script.c do.
//
//	img, err := loader.Load(loader.Program{
//		Path: "/usr/bin/vm", Argv: []string{"vm"}, Open: open,
//	})
//	img.Space, img.CPU, img.Brk // what the first task starts with
//
// Addresses are those of a native run without randomisation (setarch -R):
// a position-independent program at PIEBase, its interpreter below MmapTop, the
// stack below StackTop. Nothing in the image depends on the host but the files.
package loader

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sys/unix"

	"symchef/internal/cpu"
	"symchef/internal/guest"
	"symchef/internal/ir"
	"symchef/internal/mem"
)

// The address-space layout (Linux arch/x86/mm/mmap.c and arch/x86/include/asm/elf.h,
// with ADDR_NO_RANDOMIZE).
const (
	StackTop  = uint64(0x7ffffffff000)
	StackSize = uint64(8 << 20)            // bytes, RLIMIT_STACK
	MmapTop   = StackTop - uint64(128<<20) // mmap_base: the least gap below the stack
	PIEBase   = uint64(0x555555554000)     // ELF_ET_DYN_BASE rounded to a page
	HWCap     = uint64(0x07888111)         // CPUID.1:EDX: FPU TSC CX8 CMOV CLFSH MMX FXSR SSE SSE2
	maxScript = 4                          // nesting of #! interpreters (binfmt: -ELOOP beyond)
	maxArgs   = uint64(2 << 20)            // bytes of strings, a quarter of the stack (execve(2))
)

// Program says what to load. Open returns the content of a guest path; its
// errors may wrap a unix.Errno.
type Program struct {
	Path      string // becomes AT_EXECFN
	Argv, Env []string
	UID, GID  int
	Random    [16]byte // behind AT_RANDOM
	Open      func(path string) (*mem.Backing, error)
	// Moved is how many bytes higher a position-independent program is, and how many lower its interpreter and the stack: a multiple of 16.
	// Only what is on the stack moves by less than a page.
	Moved uint64
	// HWCap and HWCap2 are what AT_HWCAP and AT_HWCAP2 say beside what the machine's processor has.
	HWCap, HWCap2 uint64
	// VDSO: the kernel has a shared object of its own in each process.
	VDSO bool
	// MinSignalStack is what AT_MINSIGSTKSZ says, unless it is 0.
	MinSignalStack uint64
}

// Image is a loaded program.
type Image struct {
	Space *mem.Space
	CPU   cpu.CPU
	Brk   uint64 // start of the heap, page-aligned
	Path  string // the ELF file: the program or, of a script, its interpreter
	Entry uint64 // the program's own entry point, not the dynamic linker's
	Base  uint64 // added to the program's link addresses
}

// Error says why a file cannot be executed; Errno is what execve(2) returns for it.
type Error struct {
	Path, Reason string
	Errno        unix.Errno
}

func (e *Error) Error() string { return e.Path + ": " + e.Reason }

// Unwrap makes errors.Is(err, unix.ENOEXEC) and the like work.
func (e *Error) Unwrap() error { return e.Errno }

func bad(path, format string, args ...any) error {
	return &Error{path, fmt.Sprintf(format, args...), unix.ENOEXEC}
}

// Load builds the image.
func Load(p Program) (*Image, error) {
	path, argv := p.Path, p.Argv
	var file *mem.Backing
	for depth := 0; ; depth++ {
		var err error
		if file, err = open(p, path); err != nil {
			return nil, err
		}
		if !bytes.HasPrefix(file.Data, []byte("#!")) {
			break
		}
		if depth == maxScript {
			return nil, &Error{path, "too many levels of #! interpreters", unix.ELOOP}
		}
		if path, argv, err = script(file, path, argv); err != nil {
			return nil, err
		}
	}
	exe, err := parse(path, file)
	if err != nil {
		return nil, err
	}
	img := &Image{Space: mem.NewSpace(), Path: path}
	if exe.dyn {
		img.Base = PIEBase + guest.PageDown(p.Moved) - guest.PageDown(exe.lo)
	}
	if err := exe.mapInto(img.Space, img.Base); err != nil {
		return nil, err
	}
	img.Entry = exe.entry + img.Base
	img.Brk = guest.PageUp(exe.hi + img.Base)
	start, interpBase := img.Entry, uint64(0)
	if exe.interp != "" {
		f, err := open(p, exe.interp)
		if err != nil {
			return nil, err
		}
		ld, err := parse(exe.interp, f)
		if err != nil {
			return nil, err
		}
		if ld.dyn {
			span := guest.PageUp(ld.hi) - guest.PageDown(ld.lo)
			at := img.Space.FindGap(span, MmapTop-guest.PageDown(p.Moved))
			interpBase = at - guest.PageDown(ld.lo)
		}
		if err := ld.mapInto(img.Space, interpBase); err != nil {
			return nil, err
		}
		start = ld.entry + interpBase
	}
	auxv, err := p.auxiliary(img, exe, interpBase)
	if err != nil {
		return nil, err
	}
	sp, err := stack(img.Space, p, argv, auxv)
	if err != nil {
		return nil, err
	}
	c := &img.CPU
	c.PC = start
	c.Set(ir.RSP, sp)
	c.Set(ir.MXCSR, 0x1f80)
	c.Set(ir.FCW, 0x37f)
	c.Set(ir.CCOp, uint64(ir.MakeCC(ir.CCFlags, 64)))
	return img, nil
}

// auxiliary is the vector that the kernel gives to a program, getauxval(3); what the kernel maps beside it is mapped.
func (p *Program) auxiliary(img *Image, exe *object, interpBase uint64) ([]aux, error) {
	auxv := []aux{
		{atHWCap, HWCap | p.HWCap},
		{atPagesz, guest.PageSize},
		{atClktck, 100},
		{atPhdr, exe.phdr + img.Base},
		{atPhent, phdrSize},
		{atPhnum, uint64(len(exe.segs))},
		{atBase, interpBase},
		{atFlags, 0},
		{atEntry, img.Entry},
		{atUID, uint64(p.UID)},
		{atEUID, uint64(p.UID)},
		{atGID, uint64(p.GID)},
		{atEGID, uint64(p.GID)},
		{atSecure, 0},
		{atHWCap2, p.HWCap2},
	}
	if p.VDSO {
		at, err := mapVDSO(img.Space, MmapTop-guest.PageDown(p.Moved))
		if err != nil {
			return nil, err
		}
		auxv = inPlace(auxv, atFlags, aux{atVDSO, at})
	}
	if p.MinSignalStack != 0 {
		auxv = inPlace(auxv, atFlags, aux{atMinSignalStack, p.MinSignalStack})
	}
	return auxv, nil
}

func open(p Program, path string) (*mem.Backing, error) {
	f, err := p.Open(path)
	if err == nil {
		return f, nil
	}
	errno := unix.ENOENT
	errors.As(err, &errno)
	if errno == unix.ENOENT {
		return nil, &Error{path, "not found", errno}
	}
	return nil, &Error{path, errno.Error(), errno}
}

// script reads a "#!interpreter [argument]" line (execve(2), "Interpreter scripts").
func script(f *mem.Backing, path string, argv []string) (string, []string, error) {
	line := f.Data[2:min(len(f.Data), 256)]
	if i := bytes.IndexByte(line, '\n'); i >= 0 {
		line = line[:i]
	}
	name, arg, _ := strings.Cut(strings.Trim(string(line), " \t"), " ")
	if i := strings.IndexByte(name, '\t'); i >= 0 {
		name, arg = name[:i], name[i+1:]+arg
	}
	if name == "" {
		return "", nil, bad(path, "no interpreter after #!")
	}
	out := []string{name}
	if arg = strings.Trim(arg, " \t"); arg != "" {
		out = append(out, arg)
	}
	out = append(out, path)
	if len(argv) > 1 {
		out = append(out, argv[1:]...)
	}
	return name, out, nil
}
