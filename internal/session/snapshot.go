package session

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/gob"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"symchef/internal/kernel"
	"symchef/internal/mem"
)

// snapshotVersion changes whenever the content of a snapshot does.
const snapshotVersion = 4

// keepSnapshots is how many files the cache folder holds: those of the latest boots.
const keepSnapshots = 100

// snapshot is a boot snapshot: the system where the test begins, and all that
// the boot asked of the host.
type snapshot struct {
	Version   int
	Key       string // of what was booted: an entry under another's name is none
	Test      string // name of the test in its file
	Consulted []kernel.Consulted
	System    []byte
}

// seal is the gob encoding of v, and more behind it, with a checksum. More is not encoded: there may be much of it.
func seal(v any, more []byte) ([]byte, error) {
	var buf bytes.Buffer // of a frontier it may take gigabytes: there is one copy
	buf.Write(make([]byte, sealHeader))
	err := gob.NewEncoder(&buf).Encode(v)
	n := buf.Len() - sealHeader
	buf.Write(more)
	out := buf.Bytes()
	binary.LittleEndian.PutUint64(out[sha256.Size:], uint64(n))
	sum := sha256.Sum256(out[sha256.Size:])
	copy(out, sum[:])
	return out, err
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

// encodeSnapshot is the content of a cache file.
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

// snapshotPath is the cache file for starting cfg; "" when there is no cache.
func (r *run) snapshotPath(cfg *kernel.Config) string {
	if r.o.NoCache {
		return ""
	}
	dir := CacheDir(r.o.CacheDir)
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, r.snapshotKey(cfg)+".snap")
}

// snapshotKey is a digest of all that a boot depends on but the host's files.
func (r *run) snapshotKey(cfg *kernel.Config) string {
	h := sha256.New()
	fmt.Fprintf(h, "%q %d %d %s %q %d %d %d %q %q %q %q", r.t.tc.Models, snapshotVersion, mem.GranuleBits, engineID(), hostCPU(), cfg.Seed, cfg.UID, cfg.GID, cfg.Path, cfg.Argv, cfg.Env, cfg.Cwd)
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
// there is none that is valid now. Whatever is wrong with a cache entry, the
// boot is simply made again.
func (r *run) loadSnapshot(cfg kernel.Config) ([]byte, *kernel.System, string) {
	r.cfg = cfg
	path := r.snapshotPath(&cfg)
	if path == "" {
		return nil, nil, ""
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, ""
	}
	s, ok := decodeSnapshot(data, r.snapshotKey(&cfg))
	if !ok {
		os.Remove(path)
		return nil, nil, ""
	}
	if kernel.Revalidate(s.Consulted) != nil {
		return nil, nil, ""
	}
	sys, err := kernel.Unmarshal(s.System, cfg)
	if err != nil {
		return nil, nil, ""
	}
	now := time.Now()
	os.Chtimes(path, now, now) // evict removes what is not used
	return s.System, sys, s.Test
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
	key, test, consulted := r.snapshotKey(&r.cfg), r.sum.Target.Name, sys.Consulted()
	r.saving.Go(func() { // the test need not wait for the disk
		data, err := encodeSnapshot(snapshot{Key: key, Test: test, Consulted: consulted, System: data})
		if err != nil {
			return
		}
		saveFile(path, data)
		evict(filepath.Dir(path))
	})
}

// evict removes all but the latest files of the cache folder, leftovers of killed runs among them.
func evict(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) <= keepSnapshots {
		return
	}
	var files []fs.FileInfo
	for _, e := range entries {
		if st, err := e.Info(); err == nil {
			files = append(files, st)
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	for _, f := range files[min(keepSnapshots, len(files)):] {
		os.Remove(filepath.Join(dir, f.Name()))
	}
}
