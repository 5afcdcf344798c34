package kernel

import (
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// What was there for a run must be there again. What was not, and is now, is another matter: a guest is told of it by a list of a folder, or by looking
// for it, and the start of an interpreter lists every folder that it loads modules from, so that anything that is new beside a test would count. So
//
//	looked for in vain    counts
//	listed by the test    counts: each name that is new or gone
//	listed by the start   what is new counts if a module that was loaded would be found there now
//	what is compiled      does not count: whoever runs the program natively makes it

// Naming is how an interpreter names files that it finds by itself. The zero value is that of a program: nothing is known of it.
type Naming struct {
	Modules  []string // files that hold a module, * being its name: "*.x", "*/main.x"
	Compiled []string // folders of what is compiled
}

// Changes are what of the host is not any more what a record says, in order of path: "/a/b has changed".
type Changes []string

// Error names the first.
func (c Changes) Error() string {
	if len(c) > 1 {
		return fmt.Sprintf("%s (and %d more)", c[0], len(c)-1)
	}
	return c[0]
}

// Check returns an error, Changes, that names what of the host is not any more what a record says. What does not count is not seen by whoever goes on with
// HostOf(record).
func Check(record []Answer, n Naming) error {
	loaded := n.loaded(record)
	var out Changes
	last := "" // what was named last: nothing more is said of it, nor of what is below
	for i := range record {
		a := &record[i]
		at, why := a.Path, ""
		switch {
		case a.Link != "":
			why = a.checkLink()
		case a.Folder:
			at, why = a.checkFolder(n, loaded)
		case a.Stat == nil:
			why = a.checkAbsent(n)
		default:
			why = a.checkFile()
		}
		if why == "" || last != "" && (at == last || strings.HasPrefix(at, last+"/")) {
			continue
		}
		last = at
		out = append(out, at+" "+why)
	}
	if out == nil {
		return nil
	}
	return out
}

// isNew is what Check says of what was not there.
const isNew = "is new"

func (a *Answer) checkLink() string {
	switch to, err := os.Readlink(a.Path); {
	case err != nil:
		return "is gone, or no link any more"
	case to != a.Link:
		return "leads elsewhere"
	}
	return ""
}

func (a *Answer) checkAbsent(n Naming) string {
	if _, err := hostStat(a.Path); err != nil || n.compiled(a.Path) {
		return ""
	}
	return isNew
}

// checkFolder says of which entry there is what to say; loaded are the names of modules. That the folder is there is another answer.
func (a *Answer) checkFolder(n Naming, loaded map[string]bool) (at, why string) {
	now, err := hostDir(a.Path)
	if err != nil {
		return a.Path, "cannot be listed any more"
	}
	was := map[string]byte{}
	for _, e := range a.Entries {
		was[e.Name] = e.Type
	}
	for _, e := range now {
		kind, known := was[e.Name]
		delete(was, e.Name)
		at := path.Join(a.Path, e.Name)
		switch {
		case n.compiled(at):
		case known && kind != e.Type && a.Late:
			return at, "is another kind of file"
		case !known && (a.Late || loaded[n.module(at)]):
			return at, isNew
		}
	}
	if !a.Late {
		return "", ""
	}
	for _, e := range a.Entries {
		at := path.Join(a.Path, e.Name)
		if _, gone := was[e.Name]; gone && !n.compiled(at) {
			return at, "is gone"
		}
	}
	return "", ""
}

// checkFile says how the host differs from a, which was a file.
func (a *Answer) checkFile() string {
	now, err := hostStat(a.Path)
	const kind = unix.S_IFMT
	switch {
	case err != nil:
		return "is gone"
	case now.Mode&kind != a.Stat.Mode&kind:
		return "is another kind of file"
	case now.Mode&kind == unix.S_IFDIR:
		return ""
	case now.Mode != a.Stat.Mode:
		return "has other permissions"
	case now.Mode&kind != unix.S_IFREG:
		return ""
	case a.SHA256 == changedSince:
		return a.SHA256
	case now.Size != a.Stat.Size || a.SHA256 != "" && fileDigest(a.Path, now.Size) != a.SHA256,
		a.SHA256 == "" && now.Mtime != a.Stat.Time:
		return "has changed"
	}
	return ""
}

// compiled reports whether at is a folder of what is compiled, or below one.
func (n Naming) compiled(at string) bool {
	return slices.ContainsFunc(strings.Split(at, "/"), func(part string) bool { return slices.Contains(n.Compiled, part) })
}

// loaded are the names of the modules that were found, or may have been.
func (n Naming) loaded(record []Answer) map[string]bool {
	out := map[string]bool{}
	for i := range record {
		if a := &record[i]; a.Stat != nil && a.Stat.Mode&unix.S_IFMT == unix.S_IFREG && !n.compiled(a.Path) {
			if name := n.of(a.Path); name != "" {
				out[name] = true
			}
		}
	}
	return out
}

// of is the name of the module in a file; "" if that holds none. Patterns with a folder come first: the file in it is no module of its own name.
func (n Naming) of(file string) string {
	dir, base := path.Split(file)
	for _, p := range n.Modules {
		if folder, rest, ok := strings.Cut(p, "/"); ok && rest == base {
			return stem(folder, path.Base(dir))
		}
	}
	for _, p := range n.Modules {
		if name := stem(p, base); name != "" {
			return name
		}
	}
	return ""
}

// stem is what name begins with, up to its first dot, if it is of the pattern.
func stem(pattern, name string) string {
	if ok, _ := path.Match(pattern, name); !ok {
		return ""
	}
	name, _, _ = strings.Cut(name, ".")
	return name
}

// module is the name of the module that the file or folder at holds; "" for none.
func (n Naming) module(at string) string {
	for _, p := range n.Modules {
		if _, rest, is := strings.Cut(p, "/"); is {
			if _, err := hostStat(path.Join(at, rest)); err == nil {
				return n.of(path.Join(at, rest))
			}
		}
	}
	return n.of(at)
}
