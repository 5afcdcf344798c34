package loader

import (
	"encoding/binary"

	"golang.org/x/sys/unix"

	"symchef/internal/guest"
	"symchef/internal/mem"
)

// Auxiliary vector tags, getauxval(3) and <elf.h>.
const (
	atNull           = 0
	atPhdr           = 3
	atPhent          = 4
	atPhnum          = 5
	atPagesz         = 6
	atBase           = 7
	atFlags          = 8
	atEntry          = 9
	atUID            = 11
	atEUID           = 12
	atGID            = 13
	atEGID           = 14
	atPlatform       = 15
	atHWCap          = 16
	atClktck         = 17
	atSecure         = 23
	atRandom         = 25
	atHWCap2         = 26
	atVDSO           = 33
	atMinSignalStack = 51
	atExecfn         = 31
)

type aux struct{ tag, value uint64 }

// inPlace puts a in the place of tag, whose value is that of where there is none, so that the stack lies where it did.
func inPlace(auxv []aux, tag uint64, a aux) []aux {
	for i := range auxv {
		if auxv[i].tag == tag {
			auxv[i] = a
			return auxv
		}
	}
	return append(auxv, a)
}

// stack maps the stack, fills it as the System V ABI (x86-64 psABI, 3.4.1)
// says and returns the stack pointer: argc, argv, envp, auxv, then the strings.
func stack(s *mem.Space, p Program, argv []string, auxv []aux) (uint64, error) {
	total := uint64(0)
	for _, l := range [2][]string{argv, p.Env} {
		for _, a := range l {
			total += uint64(len(a)) + 9
		}
	}
	if total > maxArgs {
		return 0, &Error{p.Path, "argument list too long", unix.E2BIG}
	}
	top := StackTop - guest.PageDown(p.Moved)
	err := s.MapArea(mem.Area{
		Start: top - StackSize, End: top, Prot: guest.ProtRead | guest.ProtWrite, Name: "[stack]",
	})
	if err != nil {
		return 0, err
	}
	sp := top - p.Moved%guest.PageSize - 8 // a zero word ends the stack
	push := func(b []byte) uint64 {
		sp -= uint64(len(b))
		if err == nil {
			err = s.Poke(sp, b)
		}
		return sp
	}
	str := func(t string) uint64 { return push(append([]byte(t), 0)) }
	list := func(l []string) []uint64 {
		at := make([]uint64, len(l))
		for i := len(l) - 1; i >= 0; i-- {
			at[i] = str(l[i])
		}
		return at
	}
	execfn := str(p.Path)
	envp := list(p.Env)
	args := list(argv)
	sp &^= 15
	platform := str("x86_64")
	random := push(p.Random[:])
	auxv = append(auxv, aux{atRandom, random}, aux{atExecfn, execfn}, aux{atPlatform, platform}, aux{atNull, 0})

	words := append([]uint64{uint64(len(args))}, args...)
	words = append(append(append(words, 0), envp...), 0)
	for _, a := range auxv {
		words = append(words, a.tag, a.value)
	}
	b := make([]byte, 8*len(words))
	for i, w := range words {
		binary.LittleEndian.PutUint64(b[8*i:], w)
	}
	sp = (sp-uint64(len(b)))&^15 + uint64(len(b))
	push(b)
	return sp, err
}
