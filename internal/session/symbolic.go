package session

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"symchef/internal/explore"
	"symchef/internal/expr"
	"symchef/internal/ir"
	"symchef/internal/mem"
	"symchef/internal/smtlib"
	"symchef/internal/state"
	"symchef/internal/testcase"
)

// symbolicBytes returns variables NAME[0], NAME[1], ... with values p.
func symbolicBytes(ctx *expr.Ctx, name string, p []byte) mem.Bytes {
	b := mem.Bytes{Data: p, Sym: make([]expr.Ref, len(p))}
	for i := range p {
		b.Sym[i] = ctx.Var(fmt.Sprintf("%s[%d]", name, i), 8)
	}
	return b
}

// addModel gives symbolic bytes their values.
func addModel(model expr.Assignment, ctx *expr.Ctx, b mem.Bytes) expr.Assignment {
	for i, v := range b.Sym {
		id := int(ctx.VarOf(v))
		for len(model) <= id {
			model = append(model, 0)
		}
		model[id] = uint64(b.Data[i])
	}
	return model
}

// symbolicArgv makes the last ArgvCount arguments on the initial stack
// symbolic. Their bytes may be NUL, so shorter arguments are included.
func (w *worker) symbolicArgv(s *state.State) error {
	space := s.Sys.CurrentProcess().Mem
	sp := s.Sys.Current().CPU.R[ir.RSP]
	argc, err := space.ReadU(sp, 8)
	if err != nil {
		return err
	}
	for i := 0; i < w.r.o.ArgvCount; i++ {
		n := int(argc) - w.r.o.ArgvCount + i
		at, err := space.ReadU(sp+8+8*uint64(n), 8)
		if err != nil {
			return err
		}
		name := fmt.Sprintf("argv%d", n)
		b := symbolicBytes(w.ctx, name, bytes.Repeat([]byte{'a'}, w.r.o.ArgvLen))
		s.Model = addModel(s.Model, w.ctx, b)
		if err := space.WriteSym(at, b); err != nil {
			return err
		}
	}
	return nil
}

// symbolicFiles are the Files by absolute path.
func (w *worker) symbolicFiles() map[string]mem.Bytes {
	files := map[string]mem.Bytes{}
	for _, f := range w.r.o.Files {
		files[filepath.Join(w.r.t.tc.Cwd, f.Name)] = symbolicBytes(w.ctx, explore.NamedInput(testcase.TypeFile, f.Name), make([]byte, f.Len))
	}
	return files
}

// symbolicEnv makes the values of the variables Env on the initial stack symbolic.
func (w *worker) symbolicEnv(s *state.State) error {
	space := s.Sys.CurrentProcess().Mem
	sp := s.Sys.Current().CPU.R[ir.RSP]
	argc, err := space.ReadU(sp, 8)
	if err != nil {
		return err
	}
	for _, v := range w.r.o.Env {
		n := slices.IndexFunc(w.r.t.tc.Env, func(e string) bool { return strings.HasPrefix(e, v.Name+"=") })
		at, err := space.ReadU(sp+8*(argc+2+uint64(n)), 8)
		if err != nil {
			return err
		}
		b := symbolicBytes(w.ctx, explore.NamedInput(testcase.TypeEnv, v.Name), bytes.Repeat([]byte{'a'}, v.Len))
		s.Model = addModel(s.Model, w.ctx, b)
		if err := space.WriteSym(at+uint64(len(v.Name))+1, b); err != nil {
			return err
		}
	}
	return nil
}

// pathText is the path condition and the symbolic output of s as SMT-LIB2:
// symbolic bytes of the output are variables output[i] with their definitions.
func pathText(ctx *expr.Ctx, s *state.State, out mem.Bytes) string {
	name := "output"
	for v := 0; v < ctx.NumVars(); v++ {
		if strings.HasPrefix(ctx.VarName(expr.VarID(v)), name+"[") { // an input is called so
			name, v = "_"+name, -1
		}
	}
	var output []smtlib.Definition
	for i, r := range out.Sym {
		if r != 0 {
			output = append(output, smtlib.Definition{Name: fmt.Sprintf("%s[%d]", name, i), Value: r})
		}
	}
	return smtlib.Print(ctx, s.Conjuncts(ctx), output...)
}
