package session

import (
	"encoding/binary"
	"hash/fnv"
	"path/filepath"
	"strings"

	"symchef/internal/exec"
	"symchef/internal/state"
)

// Branches of native code that depend on the input show what a parser in C does where nobody can see it from outside. All of them stand in
// the decision logs, so that to find a path that takes a new one costs a look at its log.

// clibrary are the beginnings of the names of the C library's parts: what they do for a program is not its own.
var clibrary = []string{"ld-linux", "ld-musl", "libc.", "libc-", "libdl.", "libm.", "libpthread.", "librt."}

// nativeEdges are the branches that the path of s has taken in native code outside the interpreter and the C library; of a program, outside
// the C library. Each is told by its place in its file and the way it went. Branches that were merged are none.
func (w *worker) nativeEdges(s *state.State) []uint64 {
	if !w.r.o.Coverage {
		return nil
	}
	l := s.Sys.Processes()
	if len(l) == 0 {
		return nil
	}
	space := l[0].Mem // others have their own programs
	counts := map[string]bool{}
	var out []uint64
	for e := s.Log; e != nil; e = e.Parent {
		if e.Kind != exec.Branch && e.Kind != exec.Target {
			continue
		}
		a := space.Find(e.PC)
		if a == nil || a.Back == nil {
			continue
		}
		file := a.Back.Name
		own, known := counts[file]
		if !known {
			own = w.r.ownCode(file)
			counts[file] = own
		}
		if !own {
			continue
		}
		to := e.Value
		if e.Kind == exec.Target { // where that is in the file, if it is
			to -= a.Start - a.Off
		}
		h := fnv.New64a()
		h.Write([]byte(file))
		var b [17]byte
		b[0] = byte(e.Kind)
		binary.LittleEndian.PutUint64(b[1:], e.PC-a.Start+a.Off)
		binary.LittleEndian.PutUint64(b[9:], to)
		h.Write(b[:])
		out = append(out, h.Sum64())
	}
	return out
}

// ownCode reports whether the code of file is that of extension modules, or of the program under test.
func (r *run) ownCode(file string) bool {
	if r.t.found != nil && (file == r.t.found.Image.Path || file == r.t.tc.Interpreter) {
		return false
	}
	name := filepath.Base(file)
	for _, begin := range clibrary {
		if strings.HasPrefix(name, begin) {
			return false
		}
	}
	return true
}

// newEdges reports whether some of edges are in no test case yet; r.mu is held.
func (r *run) newEdges(edges []uint64) bool {
	for _, e := range edges {
		if !r.edges[e] {
			return true
		}
	}
	return false
}

// reached notes that a test case takes edges; r.mu is held.
func (r *run) reached(edges []uint64) {
	for _, e := range edges {
		r.edges[e] = true
	}
}
