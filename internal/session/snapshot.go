package session

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/gob"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"symchef/internal/disk"
	"symchef/internal/guest"
	"symchef/internal/kernel"
	"symchef/internal/mem"
	"symchef/languages"
)

// snapshotVersion changes whenever the content of a snapshot does.
const snapshotVersion = 7

// The cache folder holds so many snapshots, those of the latest boots, so many facts about interpreters, and so many bytes together.
const (
	keepSnapshots = 100
	keepFacts     = 1000
	keepBytes     = 2 << 30
)

// snapshot is a boot snapshot: the system where the test begins, and all that
// the boot asked of the host.
type snapshot struct {
	Version   int
	Key       string // of what was booted: an entry under another's name is none
	Test      string // name of the test in its file; "" behind its head
	Asked     asked  // what of the head the system has asked for
	Head      string // its digest
	Consulted []kernel.Consulted
	Base      string // ID of the snapshot behind the head that System is stored on; "": there is none
	Size      int    // of System
	System    []byte // has a checksum of its own (kernel.Open)
}

// seal is the gob encoding of v with a checksum.
func seal(v any) ([]byte, error) {
	out, err := unsealed(v)
	return sealed(out), err
}

// unsealed is seal without the checksum: more can be appended.
func unsealed(v any) ([]byte, error) {
	var buf bytes.Buffer
	buf.Write(make([]byte, sealHeader))
	err := gob.NewEncoder(&buf).Encode(v)
	out := buf.Bytes()
	binary.LittleEndian.PutUint64(out[sha256.Size:], uint64(len(out)-sealHeader))
	return out, err
}

// sealed fills in the checksum.
func sealed(out []byte) []byte {
	sum := sha256.Sum256(out[sha256.Size:])
	copy(out, sum[:])
	return out
}

// sealHeader is the size of a checksum, and of the length of the encoding.
const sealHeader = sha256.Size + 8

// unseal is the reverse; false if data is damaged.
func unseal(data []byte, v any) (more []byte, ok bool) {
	if len(data) < sealHeader || sha256.Sum256(data[sha256.Size:]) != [sha256.Size]byte(data) {
		return nil, false
	}
	n, rest := binary.LittleEndian.Uint64(data[sha256.Size:]), data[sealHeader:]
	if n > uint64(len(rest)) || gob.NewDecoder(bytes.NewReader(rest[:n])).Decode(v) != nil {
		return nil, false
	}
	return rest[n:], true
}

// encodeSnapshot is the content of a cache file, up to s.System, which is the rest, from a page's beginning on: there may be much of it.
func encodeSnapshot(s snapshot) ([]byte, error) {
	s.Version, s.Size, s.System = snapshotVersion, len(s.System), nil
	head, err := seal(s)
	return append(head, make([]byte, padding(len(head)))...), err
}

// padding is how many bytes stand between a head of n bytes and what begins with the next page.
func padding(n int) int { return -n & (guest.PageSize - 1) }

// decodeSnapshot reads a cache file of size bytes, up to s.System, which need not be read if the rest is of no use, and returns where that stands; false if
// it is not the snapshot of key.
func decodeSnapshot(r io.Reader, size int64, key string) (s snapshot, at int64, ok bool) {
	head := make([]byte, sealHeader)
	if _, err := io.ReadFull(r, head); err != nil {
		return s, 0, false
	}
	n := binary.LittleEndian.Uint64(head[sha256.Size:])
	if n > uint64(size) {
		return s, 0, false
	}
	head = append(head, make([]byte, n)...)
	pad := make([]byte, padding(len(head)))
	if _, err := io.ReadFull(r, head[sealHeader:]); err != nil {
		return s, 0, false
	}
	if _, err := io.ReadFull(r, pad); err != nil || len(bytes.Trim(pad, "\x00")) > 0 {
		return s, 0, false
	}
	at = int64(len(head) + len(pad))
	_, ok = unseal(head, &s)
	return s, at, ok && s.Version == snapshotVersion && s.Key == key && at+int64(s.Size) == size
}

// CacheDir makes the folder of boot snapshots, by default in the user's cache:
// mode 0700 and the user's own, since whoever writes there decides what a run
// begins with; "" if there can be none.
func CacheDir(dir string) string {
	if dir == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return ""
		}
		if os.Getenv("XDG_CACHE_HOME") == "" { // a home that is not there is not made
			if st, err := os.Stat(os.Getenv("HOME")); err != nil || !st.IsDir() {
				return ""
			}
		}
		dir = filepath.Join(user, "symchef")
	}
	if os.MkdirAll(dir, 0o700) != nil {
		return ""
	}
	st, err := os.Lstat(dir)
	if err != nil || !st.IsDir() || st.Sys().(*syscall.Stat_t).Uid != uint32(os.Geteuid()) {
		return ""
	}
	if st.Mode().Perm()&0o077 != 0 && os.Chmod(dir, 0o700) != nil {
		return ""
	}
	return dir
}

// cache is the folder of what is kept between runs; "" where nothing is.
func (o *Options) cache() string {
	if o.NoCache {
		return ""
	}
	return CacheDir(o.CacheDir)
}

// snapshotPath is the cache file for starting cfg; "" when there is no cache.
func (r *run) snapshotPath(cfg *kernel.Config) string {
	dir := r.o.cache()
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, r.snapshotKey(cfg)+".snap")
}

// headPath is that of the snapshot behind the head of the test.
func headPath(path string) string {
	if path == "" {
		return ""
	}
	return strings.TrimSuffix(path, ".snap") + ".head"
}

// snapshotKey is a digest of all that a boot depends on but the host's files.
func (r *run) snapshotKey(cfg *kernel.Config) string {
	h := sha256.New()
	fmt.Fprintf(h, "%q %d %d %s %q %d %+v %d %d %q %q %q %q %d", r.t.tc.Models, snapshotVersion, mem.GranuleBits, engineID(), hostCPU(), cfg.Seed, cfg.World, cfg.UID, cfg.GID, cfg.Path, cfg.Argv, cfg.Env, cfg.Cwd, cfg.Processor)
	fmt.Fprint(h, languages.Outside()) // those of the binary are the engine's
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// hostCPU names the model of this machine's processor, whose x87 unit computes the transcendental functions of guests:
// the last bit differs between vendors (package lift).
func hostCPU() string {
	b, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	var model []string
	for _, line := range strings.Split(string(b), "\n") {
		key, value, _ := strings.Cut(line, ":")
		switch strings.TrimSpace(key) {
		case "vendor_id", "cpu family", "model", "stepping":
			model = append(model, strings.TrimSpace(value))
		case "": // the end of the first processor
			return strings.Join(model, " ")
		}
	}
	return strings.Join(model, " ")
}

// engineID identifies this build of symchef: a snapshot of another one is not used.
func engineID() string {
	exe, err := os.Executable()
	if err != nil {
		return ""
	}
	st, err := os.Stat(exe)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%d.%d", st.Size(), st.ModTime().UnixNano())
}

// image is a system that can be made again: what is stored of it, and of the snapshot behind the head that it is stored on, if any.
type image struct{ whole, base *kernel.Stored }

// snapshot returns the system where the test begins, of this run or a cached
// one; nil if there is none.
func (r *run) snapshot(cfg kernel.Config) *kernel.System {
	if r.image == nil {
		image, sys, test := r.loadSnapshot(cfg)
		if sys != nil {
			r.hadBegin, r.image, r.sum.Target.Name = true, image, test
			r.filesAtBegin(sys)
		}
		return sys
	}
	sys, err := r.image.whole.System(r.image.base, cfg)
	if err != nil {
		return nil
	}
	return sys
}

// loadSnapshot returns the cached system and the name of its test, or nil if
// there is none that is valid now.
func (r *run) loadSnapshot(cfg kernel.Config) (*image, *kernel.System, string) {
	r.cfg = cfg
	image, sys, test := r.loadFrom(r.snapshotPath(&cfg), &cfg)
	return image, sys, test
}

// loadHead returns the cached system behind the head of the test, or nil if there is none that is valid now. cfg gets its host.
func (r *run) loadHead(cfg *kernel.Config) *kernel.System {
	im, sys, _ := r.loadFrom(headPath(r.snapshotPath(cfg)), cfg)
	if r.sum.FromHead = sys != nil; sys != nil {
		r.behind = im.whole
	}
	return sys
}

// loadFrom loads the snapshot of cfg at path, which gets its host. Whatever is wrong with a cache entry, the
// boot is simply made again.
func (r *run) loadFrom(path string, cfg *kernel.Config) (im *image, sys *kernel.System, test string) {
	if path == "" {
		return nil, nil, ""
	}
	f := openCached(path)
	if f == nil {
		return nil, nil, ""
	}
	defer f.Close()
	key := r.snapshotKey(cfg)
	s, at, size, ok := snapshotIn(f, key)
	if !ok {
		os.Remove(path)
		return nil, nil, ""
	}
	h, _ := cfg.Virtual[headRoot].(*head)
	host := kernel.HostOf(r.record) // of a snapshot that is not used nothing was asked
	if h == nil || s.Head != h.digest(s.Asked) || host.Revalidate(s.Consulted) != nil {
		return nil, nil, ""
	}
	now := *cfg
	now.Host = host
	im = &image{}
	if s.Base != "" {
		if im.base = storedAt(headPath(path), key, s.Base); im.base == nil {
			os.Remove(path)
			return nil, nil, ""
		}
	}
	if im.whole = storedIn(f, at, size); im.whole != nil {
		sys, _ = im.whole.System(im.base, now)
	}
	if sys == nil {
		os.Remove(path)
		return nil, nil, ""
	}
	for i, n := range s.Asked {
		h.ask(i+1, n)
	}
	r.host, cfg.Host = host, host
	used := time.Now()
	os.Chtimes(path, used, used) // evict removes what is not used
	if im.base != nil {
		os.Chtimes(headPath(path), used, used)
	}
	return im, sys, s.Test
}

// openCached opens a cache file; nil if there is none.
func openCached(path string) *os.File {
	f, err := disk.Open(path)
	if errors.Is(err, disk.ErrNotRegular) {
		os.Remove(path)
	}
	if err != nil {
		return nil
	}
	return f
}

// snapshotIn reads the cache file f, of size bytes, up to its system, which begins at the offset at.
func snapshotIn(f *os.File, key string) (s snapshot, at, size int64, ok bool) {
	st, err := f.Stat()
	if err != nil {
		return s, 0, 0, false
	}
	s, at, ok = decodeSnapshot(f, st.Size(), key)
	return s, at, st.Size(), ok
}

// storedIn returns the system that stands in f, of size bytes, from at on; nil if it is damaged. It is mapped: most of it is never looked at again. A cache file
// is never written to, only replaced by another.
func storedIn(f *os.File, at, size int64) *kernel.Stored {
	data, release, err := disk.Map(f, size)
	if err != nil {
		return nil
	}
	st, err := kernel.Open(data[at:])
	if err != nil {
		release()
		return nil
	}
	m := st.Memory()
	unix.Madvise(data, unix.MADV_DONTNEED) // what the checksum has brought in counts as memory of this process
	if own, err := os.Open(fmt.Sprintf("/proc/self/fd/%d", f.Fd())); err == nil {
		m.StandsIn(own, uint64(size)-uint64(len(m.Data)))
	}
	runtime.AddCleanup(m, func(release func()) { release() }, release)
	return st
}

// storedAt returns the snapshot of that ID in the cache file at path; nil if it is not there.
func storedAt(path, key, id string) *kernel.Stored {
	f := openCached(path)
	if f == nil {
		return nil
	}
	defer f.Close()
	if _, at, size, ok := snapshotIn(f, key); ok {
		if st := storedIn(f, at, size); st != nil && (id == "" || st.ID() == id) {
			return st
		}
	}
	return nil
}

// saveSnapshot keeps sys for further workers and caches it for further runs. Failing to
// is no error: they boot again.
func (r *run) saveSnapshot(sys *kernel.System) {
	data, err := sys.MarshalOn(r.behind)
	if err != nil {
		return
	}
	whole, err := kernel.Open(data)
	if err != nil {
		return
	}
	r.image = &image{whole, r.behind}
	path := r.snapshotPath(&r.cfg)
	if path == "" {
		return
	}
	s := r.about(snapshot{Key: r.snapshotKey(&r.cfg), Test: r.sum.Target.Name, Base: r.behind.ID(), Consulted: sys.Consulted(), System: data}, &r.cfg)
	r.saving.Go(func() { // while the run goes on
		save(path, s)
	})
}

// saveHead caches sys, which was started as cfg says and has looked at nothing of the test but its head, and returns it as it is loaded from there: what a
// native run does not change then need not be looked at. Where it cannot be kept that is sys.
func (r *run) saveHead(sys *kernel.System, cfg *kernel.Config) *kernel.System {
	path := headPath(r.snapshotPath(cfg))
	if path == "" {
		return sys
	}
	data, err := sys.Marshal()
	if err != nil {
		return sys
	}
	key := r.snapshotKey(cfg)
	save(path, r.about(snapshot{Key: key, Consulted: sys.Consulted(), System: data}, cfg))
	st := storedAt(path, key, "")
	if st == nil {
		return sys
	}
	back, err := st.System(nil, *cfg)
	if err != nil {
		return sys
	}
	r.behind = st
	return back
}

// about adds to s what of the head of cfg has been asked for.
func (r *run) about(s snapshot, cfg *kernel.Config) snapshot {
	if h, ok := cfg.Virtual[headRoot].(*head); ok {
		s.Asked = h.known()
		s.Head = h.digest(s.Asked)
	}
	return s
}

// save writes a cache file.
func save(path string, s snapshot) {
	data, err := encodeSnapshot(s)
	if err != nil {
		return
	}
	saveFile(path, data, s.System)
	evict(filepath.Dir(path))
}

// facts are the suffixes of files that say what was found about an interpreter: small ones, which take longer to find than a snapshot does.
var facts = []string{".hlpc", ".facts", ".places", ".answer"}

// evict removes all but the latest files of the cache folder, at least one, leftovers of killed runs among them. Snapshots do not drive facts out.
func evict(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	var files []fs.FileInfo
	for _, e := range entries {
		if st, err := e.Info(); err == nil {
			files = append(files, st)
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	size, snapshots, small := int64(0), 0, 0
	for i, f := range files {
		size += f.Size()
		n, most := &snapshots, keepSnapshots
		if slices.Contains(facts, filepath.Ext(f.Name())) {
			n, most = &small, keepFacts
		}
		if *n++; i > 0 && (*n > most || size > keepBytes) {
			os.Remove(filepath.Join(dir, f.Name()))
		}
	}
}
