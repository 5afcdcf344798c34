package kernel

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"symchef/internal/mem"
)

// show is a file in one line; "" : there is none.
func (f *File) show() string {
	if f == nil {
		return ""
	}
	return fmt.Sprintf("%o %q %.40q of %d", f.Mode, f.Target, f.Content.All().Data, f.Content.Size)
}

// nativeFile is what a name of the host stands for.
func nativeFile(t *testing.T, p string) *File {
	t.Helper()
	var st unix.Stat_t
	if unix.Lstat(p, &st) != nil {
		return nil
	}
	f := &File{Mode: st.Mode}
	var err error
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		var b []byte
		b, err = os.ReadFile(p)
		f.Content = ContentOf(mem.Concrete(b))
		if os.IsPermission(err) {
			t.Fatal(err)
		}
	case unix.S_IFLNK:
		f.Target, err = os.Readlink(p)
	}
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// nativeEffects compares the trees before and after: each name with what it stands for now, "" if there is none.
func nativeEffects(t *testing.T, before, after string) map[string]string {
	t.Helper()
	out := map[string]string{}
	see := func(root string) {
		err := filepath.WalkDir(root, func(p string, d os.DirEntry, err error) error {
			rel, _ := filepath.Rel(root, p)
			was, is := nativeFile(t, filepath.Join(before, rel)), nativeFile(t, filepath.Join(after, rel))
			if was.show() != is.show() && rel != "." {
				out[rel] = is.show()
			}
			if d.IsDir() && (is == nil || is.Mode&unix.S_IFMT != unix.S_IFDIR) {
				return filepath.SkipDir // it stands for all that was in it
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	see(before)
	see(after)
	return out
}

// sameEffects compares what the model says has changed with what has changed natively.
func (b *both) sameEffects() {
	b.t.Helper()
	want := nativeEffects(b.t, b.dirs[0], b.dirs[1])
	for _, e := range b.Effects(1000) {
		rel, ok := strings.CutPrefix(e.Path, b.dirs[0]+"/")
		is, changed := want[rel]
		delete(want, rel)
		if was := nativeFile(b.t, e.Path); !ok || !changed || is != e.Is.show() || (was == nil) != (e.Was == nil) {
			b.t.Errorf("%s is %s, natively %s\nbefore:\n%s", e.Path, e.Is.show(), is, strings.Join(b.log[max(0, len(b.log)-25):], "\n"))
		}
	}
	if len(want) > 0 {
		b.t.Errorf("not told: %q\nbefore:\n%s", want, strings.Join(b.log[max(0, len(b.log)-25):], "\n"))
	}
}

func TestEffectsAgainstLinux(t *testing.T) {
	b := newBoth(t)
	b.sameEffects()
	open := func(name local, flags, mode int) fdPair {
		f, errno, _ := b.do(2, true, name, flags, mode)
		if errno != 0 {
			t.Fatal(name, errno)
		}
		return f
	}
	write := func(f fdPair, text string) { b.do(1, false, f, []byte(text), len(text)) }
	for _, step := range []func(){
		func() { b.do(3, false, open("a", unix.O_WRONLY, 0)) }, // opened, and nothing done
		func() { write(open("new", unix.O_CREAT|unix.O_WRONLY, 0o640), "text") },
		func() { write(open("a", unix.O_WRONLY, 0), "FIRST") },
		func() { write(open("b", unix.O_WRONLY|unix.O_TRUNC, 0), strings.Repeat("0123456789", 1000)) }, // as it was
		func() { b.do(90, false, local("d/x"), 0o600) },
		func() { b.do(87, false, local("d/e/y")) },
		func() { b.do(84, false, local("d/e")) },
		func() { b.do(83, false, local("d/e"), 0o700) },                    // made anew
		func() { b.do(83, false, local("m"), 0o755) },                      //
		func() { b.do(88, false, "somewhere", local("m/link")) },           // symlink
		func() { b.do(82, false, local("l"), local("m/l")) },               // rename
		func() { b.do(86, false, local("a"), local("m/hard")) },            // link
		func() { b.do(82, false, local("d"), local("m/d")) },               // a directory of the lower layer
		func() { write(open("d", unix.O_CREAT|unix.O_WRONLY, 0o644), "") }, // a file where the directory was
		func() { b.do(133, false, local("p"), unix.S_IFIFO|0o600, 0) },
		func() { b.do(87, false, local("new")) }, // made and removed: nothing
		func() { b.do(90, false, local("a"), 0o4711) },
	} {
		step()
		b.sameEffects()
	}
}

// What is preloaded was there, and what the kernel shows is nobody's.
func TestEffectsOfInputs(t *testing.T) {
	dir := t.TempDir()
	at := filepath.Join(dir, "in")
	m := boot(t, Config{Cwd: dir, Files: map[string]mem.Bytes{at: mem.Concrete([]byte("abc"))}})
	if err := m.preload(m.CurrentProcess(), at, mem.Concrete([]byte("abc"))); err != nil {
		t.Fatal(err)
	}
	show := func() (out []string) {
		for _, e := range m.Effects(10) {
			out = append(out, fmt.Sprint(strings.TrimPrefix(e.Path, dir), " ", e.Was.show(), " ", e.Is.show()))
		}
		return out
	}
	is := func(want ...string) {
		t.Helper()
		if got := show(); !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	is()
	fd, _ := m.call(2, m.str("/dev/shm/x"), unix.O_CREAT|unix.O_WRONLY, 0o644)
	m.call(1, fd, m.data([]byte("x")), 1)
	is()
	fd, _ = m.call(2, m.str("in"), unix.O_WRONLY, 0)
	m.call(1, fd, m.data([]byte("x")), 1)
	is(`/in 100644 "" "abc" of 3 100644 "" "xbc" of 3`)
	m.call(87, m.str("in"))
	is(`/in 100644 "" "abc" of 3 `)
	for i := range 20 {
		m.call(83, m.str(fmt.Sprintf("d%02d", i)), 0o755)
	}
	if got := show(); len(got) != 10 || !strings.HasPrefix(got[0], "/d00 ") {
		t.Errorf("%q", got)
	}
}
