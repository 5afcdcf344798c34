package session

import (
	"bytes"
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"symchef/internal/kernel"
	"symchef/internal/mem"
)

// snapshotVersion changes whenever the content of a snapshot does.
const snapshotVersion = 1

// snapshot is a boot snapshot: the system where the test begins, and all that
// the boot asked of the host.
type snapshot struct {
	Version   int
	Consulted []kernel.Consulted
	System    []byte
	Sum       [sha256.Size]byte // of System
}

// snapshotPath is the cache file for starting cfg; "" when there is no cache.
func (r *run) snapshotPath(cfg *kernel.Config) string {
	if r.o.NoCache {
		return ""
	}
	dir := r.o.CacheDir
	if dir == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return ""
		}
		dir = filepath.Join(user, "symchef")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return ""
	}
	h := sha256.New()
	fmt.Fprintf(h, "%d %d %s %d %d %d %q %q %q %q", snapshotVersion, mem.GranuleBits, engineID(), cfg.Seed, cfg.UID, cfg.GID, cfg.Path, cfg.Argv, cfg.Env, cfg.Cwd)
	return filepath.Join(dir, hex.EncodeToString(h.Sum(nil)[:16])+".snap")
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

// loadSnapshot returns the cached system, or nil if there is none that is valid now.
// Whatever is wrong with a cache entry, the boot is simply made again.
func (r *run) loadSnapshot(cfg kernel.Config) *kernel.System {
	r.cfg = cfg
	path := r.snapshotPath(&cfg)
	if path == "" {
		return nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	var s snapshot
	if gob.NewDecoder(bytes.NewReader(data)).Decode(&s) != nil || s.Version != snapshotVersion || sha256.Sum256(s.System) != s.Sum {
		os.Remove(path)
		return nil
	}
	if kernel.Revalidate(s.Consulted) != nil {
		return nil
	}
	sys, err := kernel.Unmarshal(s.System, cfg)
	if err != nil {
		return nil
	}
	return sys
}

// saveSnapshot caches sys. Failing to is no error: the next run boots again.
func (r *run) saveSnapshot(sys *kernel.System) {
	path := r.snapshotPath(&r.cfg)
	if path == "" {
		return
	}
	data, err := sys.Marshal()
	if err != nil {
		return
	}
	var buf bytes.Buffer
	s := snapshot{Version: snapshotVersion, Consulted: sys.Consulted(), System: data, Sum: sha256.Sum256(data)}
	if gob.NewEncoder(&buf).Encode(s) != nil {
		return
	}
	f, err := os.CreateTemp(filepath.Dir(path), "new-*")
	if err != nil {
		return
	}
	_, werr := f.Write(buf.Bytes())
	if errors.Join(werr, f.Close()) != nil || os.Rename(f.Name(), path) != nil {
		os.Remove(f.Name())
	}
}
