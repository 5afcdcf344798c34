package session

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/gob"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"symchef/internal/disk"
	"symchef/internal/kernel"
	"symchef/internal/mem"
	"symchef/languages"
)

// snapshotVersion changes whenever the content of a snapshot does.
const snapshotVersion = 5

// The cache folder holds so many files, of so many bytes together: those of the latest boots.
const (
	keepSnapshots = 100
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
	System    []byte
}

// seal is the gob encoding of v with a checksum, which is also of what is to stand behind it.
func seal(v any, more ...[]byte) ([]byte, error) {
	out, err := unsealed(v)
	return sealed(out, more...), err
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
func sealed(out []byte, more ...[]byte) []byte {
	sum := sha256.New()
	sum.Write(out[sha256.Size:])
	for _, part := range more {
		sum.Write(part)
	}
	sum.Sum(out[:0])
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

// encodeSnapshot is the content of a cache file, up to s.System, which is the rest: there may be much of it.
func encodeSnapshot(s snapshot) ([]byte, error) {
	system := s.System
	s.Version, s.System = snapshotVersion, nil
	return seal(s, system)
}

// decodeSnapshot reads a cache file; false if it is not, whole, the snapshot of key.
func decodeSnapshot(data []byte, key string) (s snapshot, ok bool) {
	s.System, ok = unseal(data, &s)
	return s, ok && s.Version == snapshotVersion && s.Key == key
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
	fmt.Fprintf(h, "%q %d %d %s %q %d %+v %d %d %q %q %q %q", r.t.tc.Models, snapshotVersion, mem.GranuleBits, engineID(), hostCPU(), cfg.Seed, cfg.World, cfg.UID, cfg.GID, cfg.Path, cfg.Argv, cfg.Env, cfg.Cwd)
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

// snapshot returns the system where the test begins, of this run or a cached
// one; nil if there is none.
func (r *run) snapshot(cfg kernel.Config) *kernel.System {
	if r.image == nil {
		data, sys, test := r.loadSnapshot(cfg)
		if sys != nil {
			r.hadBegin, r.image, r.sum.Target.Name = true, data, test
			r.filesAtBegin(sys)
		}
		return sys
	}
	sys, err := kernel.Unmarshal(r.image, cfg)
	if err != nil {
		return nil
	}
	return sys
}

// loadSnapshot returns the cached system and the name of its test, or nil if
// there is none that is valid now.
func (r *run) loadSnapshot(cfg kernel.Config) ([]byte, *kernel.System, string) {
	r.cfg = cfg
	s, sys := r.loadFrom(r.snapshotPath(&cfg), &cfg)
	return s.System, sys, s.Test
}

// loadHead returns the cached system behind the head of the test, or nil if there is none that is valid now. cfg gets its host.
func (r *run) loadHead(cfg *kernel.Config) *kernel.System {
	_, sys := r.loadFrom(headPath(r.snapshotPath(cfg)), cfg)
	r.sum.FromHead = sys != nil
	return sys
}

// loadFrom loads a snapshot for cfg, which gets its host. Whatever is wrong with a cache entry, the
// boot is simply made again.
func (r *run) loadFrom(path string, cfg *kernel.Config) (s snapshot, sys *kernel.System) {
	if path == "" {
		return s, nil
	}
	data, err := disk.Read(path)
	if errors.Is(err, disk.ErrNotRegular) {
		os.Remove(path)
	}
	if err != nil {
		return s, nil
	}
	s, ok := decodeSnapshot(data, r.snapshotKey(cfg))
	if !ok {
		os.Remove(path)
		return s, nil
	}
	h, _ := cfg.Virtual[headRoot].(*head)
	host := kernel.HostOf(r.record) // of a snapshot that is not used nothing was asked
	if h == nil || s.Head != h.digest(s.Asked) || host.Revalidate(s.Consulted) != nil {
		return s, nil
	}
	now := *cfg
	now.Host = host
	if sys, err = kernel.Unmarshal(s.System, now); err != nil {
		return s, nil
	}
	for i, n := range s.Asked {
		h.ask(i+1, n)
	}
	r.host, cfg.Host = host, host
	used := time.Now()
	os.Chtimes(path, used, used) // evict removes what is not used
	return s, sys
}

// saveSnapshot keeps sys for further workers and caches it for further runs. Failing to
// is no error: they boot again.
func (r *run) saveSnapshot(sys *kernel.System) {
	data, err := sys.Marshal()
	if err != nil {
		return
	}
	r.image = data
	path := r.snapshotPath(&r.cfg)
	if path == "" {
		return
	}
	r.save(path, snapshot{Key: r.snapshotKey(&r.cfg), Test: r.sum.Target.Name, Consulted: sys.Consulted(), System: data}, &r.cfg)
}

// saveHead caches sys, which was started as cfg says and has looked at nothing of the test but its head.
func (r *run) saveHead(sys *kernel.System, cfg *kernel.Config) {
	path := headPath(r.snapshotPath(cfg))
	if path == "" {
		return
	}
	if data, err := sys.Marshal(); err == nil {
		r.save(path, snapshot{Key: r.snapshotKey(cfg), Consulted: sys.Consulted(), System: data}, cfg)
	}
}

// save writes a cache file, while the run goes on.
func (r *run) save(path string, s snapshot, cfg *kernel.Config) {
	if h, ok := cfg.Virtual[headRoot].(*head); ok {
		s.Asked = h.known()
		s.Head = h.digest(s.Asked)
	}
	r.saving.Go(func() {
		data, err := encodeSnapshot(s)
		if err != nil {
			return
		}
		saveFile(path, data, s.System)
		evict(filepath.Dir(path))
	})
}

// evict removes all but the latest files of the cache folder, at least one, leftovers of killed runs among them.
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
	size := int64(0)
	for i, f := range files {
		if size += f.Size(); i > 0 && (i >= keepSnapshots || size > keepBytes) {
			os.Remove(filepath.Join(dir, f.Name()))
		}
	}
}
