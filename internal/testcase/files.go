package testcase

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strings"
)

// A FileEffect is a name that stands for something else after a path than before it. Times and owners do not count, nor what is in /dev,
// /proc, /sys and /run, nor the guest library's own files.
type FileEffect struct {
	Path   Text   `json:"path"` // absolute
	Change Change `json:"change"`
	// What the name stands for now; zero where it was removed.
	Kind   FileKind `json:"kind,omitempty"`
	Mode   string   `json:"mode,omitempty"`   // permissions, octal: "0644"; "" of symbolic links
	Size   int64    `json:"size,omitempty"`   // bytes of a regular file
	SHA256 string   `json:"sha256,omitempty"` // of a regular file's content, lower-case hex; "" if it was not looked at, see MostContent
	Target Text     `json:"target,omitempty"` // of a symbolic link
}

// Change says how the file came to be as it is.
type Change string

// The changes. A directory that is gone, or something else now, stands for all that was in it.
const (
	Made    Change = "made"
	Changed Change = "changed"
	Removed Change = "removed"
)

// FileKind is a kind of file.
type FileKind string

// The kinds, as inode(7) has them.
const (
	RegularFile FileKind = "file"
	Directory   FileKind = "directory"
	Symlink     FileKind = "symlink"
	FIFO        FileKind = "fifo"
	Socket      FileKind = "socket"
	Device      FileKind = "device"
)

// MaxFiles bounds the file effects that a test case lists; there may be one more, to tell that there are others. MostFiles bounds those that are looked at.
const (
	MaxFiles  = 100
	MostFiles = 10_000
)

// MostContent bounds how many bytes of the contents of files are looked at after a path, all together: a program makes a file of a gigabyte by one call. A
// file for which nothing is left has no digest.
const MostContent = 256 << 20

// ContentRoom is what is left of MostContent; its zero value is all.
type ContentRoom struct{ taken int64 }

// Take reports whether size bytes more may be looked at. Those who ask in the same order are told the same.
func (r *ContentRoom) Take(size int64) bool {
	if size > MostContent-r.taken {
		return false
	}
	r.taken += size
	return true
}

// unlooked reports whether e is a file with a content that was not looked at.
func (e FileEffect) unlooked() bool { return e.Kind == RegularFile && e.SHA256 == "" }

// Unlooked says what of the effects on files was too much to be looked at; "" if all was.
func (o Observation) Unlooked() string {
	switch {
	case slices.ContainsFunc(o.Files, FileEffect.unlooked):
		return fmt.Sprintf("more than %d MiB of files", MostContent>>20)
	case len(o.Files) > MaxFiles && o.FilesSHA256 == "":
		return fmt.Sprintf("more than %d effects on files, or %d MiB of them", MostFiles, MostContent>>20)
	}
	return ""
}

// SetFiles sets Files to effects, all there are, sorted by path; if they are cut off, or a content was not looked at, no digest of them is known.
func (o *Observation) SetFiles(effects []FileEffect, cut bool) {
	o.Files, o.FilesTotal, o.FilesSHA256 = effects, 0, ""
	if len(effects) <= MaxFiles {
		return
	}
	o.Files, o.FilesTotal = effects[:MaxFiles+1], len(effects)
	if cut || len(effects) > MostFiles || slices.ContainsFunc(effects, FileEffect.unlooked) {
		return
	}
	h := sha256.New()
	for _, e := range effects {
		fmt.Fprintf(h, "%q %v %s %s %d %s %q\n", e.Path, e.Change == Removed, e.Kind, e.Mode, e.Size, e.SHA256, e.Target)
	}
	o.FilesSHA256 = hex.EncodeToString(h.Sum(nil))
}

// String is the effect in one line.
func (e FileEffect) String() string {
	s := string(e.Change) + " " + quoted(string(e.Path))
	switch e.Kind {
	case "":
		return s
	case RegularFile:
		return fmt.Sprintf("%s (%s, %d bytes)", s, e.Mode, e.Size)
	case Symlink:
		return fmt.Sprintf("%s (to %s)", s, quoted(string(e.Target)))
	}
	return strings.TrimSpace(fmt.Sprintf("%s (%s %s", s, e.Kind, e.Mode)) + ")"
}

// Like reports whether e and f are the same to a user but perhaps for a random part of the name. Whether a file was made or changed
// does not count: where a run is kept from writing to the host's folders it finds empty ones instead.
func (e FileEffect) Like(f FileEffect) bool {
	return (e.Change == Removed) == (f.Change == Removed) && e.Kind == f.Kind && e.Mode == f.Mode && e.Size == f.Size && e.SHA256 == f.SHA256 &&
		SamePath(string(e.Path), string(f.Path)) && SamePath(string(e.Target), string(f.Target))
}

// SamePath reports whether two paths are the same but for names that are made up at random, as those of mkstemp(3): their parts
// are as long, begin and end alike, and between have at least four letters, digits or _ each.
func SamePath(a, b string) bool {
	if a == b {
		return true
	}
	x, y := strings.Split(a, "/"), strings.Split(b, "/")
	return len(x) == len(y) && slices.EqualFunc(x, y, sameName)
}

// leastRandom is how long the random part of a name is at least; mkstemp(3) takes six characters, of which some may be the same by chance.
const leastRandom = 4

func sameName(a, b string) bool {
	if a == b || len(a) != len(b) {
		return a == b
	}
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	a, b = a[n:], b[n:]
	for a != "" && b != "" && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	word := func(s string) bool {
		return len(s) >= leastRandom && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
	}
	return word(a) && word(b)
}

// unlike returns the first of a that b has none like, and of b that a has none like, each of the other's at most once. Paths that are equal
// belong together before such that are alike. Require: both are sorted by path.
func unlike(a, b []FileEffect) (onlyA, onlyB *FileEffect) {
	exact := map[Text]int{}
	for i, f := range b {
		exact[f.Path] = i
	}
	taken := make([]bool, len(b))
	var rest []FileEffect
	for _, e := range a {
		if i, ok := exact[e.Path]; ok && e.Like(b[i]) {
			taken[i] = true
			continue
		}
		rest = append(rest, e)
	}
	for i, e := range rest {
		j := slices.IndexFunc(b, e.Like)
		for j >= 0 && taken[j] {
			next := slices.IndexFunc(b[j+1:], e.Like)
			if j += next + 1; next < 0 {
				j = -1
			}
		}
		if j >= 0 {
			taken[j] = true
		} else if onlyA == nil {
			onlyA = &rest[i]
		}
	}
	if i := slices.Index(taken, false); i >= 0 {
		onlyB = &b[i]
	}
	return onlyA, onlyB
}

// Within returns the effects in folders; nil folders mean everywhere.
func Within(effects []FileEffect, folders []string) []FileEffect {
	if folders == nil {
		return effects
	}
	return slices.DeleteFunc(slices.Clone(effects), func(e FileEffect) bool {
		return !slices.ContainsFunc(folders, func(dir string) bool { return InFolder(string(e.Path), dir) })
	})
}

// InFolder reports whether path p is in the folder dir.
func InFolder(p, dir string) bool {
	return strings.HasPrefix(p, strings.TrimSuffix(dir, "/")+"/") && p != dir
}

// Since returns the effects of a path without those that were there when its test began, before: these are the interpreter's. A
// folder that it made then in temp, where temporary files are, is its own, with all that comes into it later, and is mostly gone
// with the process.
func Since(before, after []FileEffect, temp string) []FileEffect {
	own := func(p string) bool {
		return slices.ContainsFunc(before, func(e FileEffect) bool {
			if e.Kind != Directory || e.Change != Made || path.Dir(string(e.Path)) != path.Clean(temp) {
				return false
			}
			rest, ok := strings.CutPrefix(p, strings.TrimSuffix(path.Clean(temp), "/")+"/")
			name, _, _ := strings.Cut(rest, "/")
			return ok && sameName(name, path.Base(string(e.Path)))
		})
	}
	return slices.DeleteFunc(slices.Clone(after), func(e FileEffect) bool {
		return own(string(e.Path)) || slices.ContainsFunc(before, e.Like)
	})
}
