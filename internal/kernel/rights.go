package kernel

import "golang.org/x/sys/unix"

// Who may do what: path_resolution(7), capabilities(7). There is one user, Config.UID. As the superuser he passes over the modes and owners of files,
// ports below 1024 and priorities; what would change the host he is refused. World.OtherRights turns both round.

// super reports whether the guest's user has the rights of the superuser over files, ports and priorities.
func (s *System) super() bool { return s.cfg.UID == 0 && !s.cfg.World.OtherRights }

// refused is the answer to what needs a right of the superuser that nobody has here.
func (s *System) refused() error {
	if s.cfg.UID == 0 && s.cfg.World.OtherRights {
		return nil
	}
	return unix.EPERM
}

// owns reports whether the guest's user may do what only an owner may.
func (s *System) owns(uid uint32) bool { return s.super() || uint32(s.cfg.UID) == uid }

// known returns why an id cannot be given to a file or process: the sandbox of an ordinary user's replay knows no other than his (user_namespaces(7)).
func (s *System) known(id uint32, own int) error {
	if s.cfg.World.Sandbox && s.cfg.UID != 0 && id != uint32(own) && id != ^uint32(0) {
		return unix.EINVAL
	}
	return nil
}

// may reports whether the guest's user has the access rights mask (4 read, 2 write, 1 execute).
func (s *System) may(st stat, mask uint32) bool {
	m := st.Mode
	switch {
	case s.super():
		return mask&1 == 0 || st.dir() || m&0o111 != 0
	case uint32(s.cfg.UID) == st.UID:
		m >>= 6
	case uint32(s.cfg.GID) == st.GID:
		m >>= 3
	}
	return m&mask == mask
}

// search reports whether names may be looked up in directory v. Of the host's the host has said so when it was asked for the name, but for what its
// superuser may.
func (s *System) search(v vnode) bool {
	return v.node == 0 && s.cfg.UID != 0 || v.node == rootNode || s.may(v.st, 1)
}

// mayRemove returns why the name of v, in directory d, may not be taken away: inode(7), "The sticky bit".
func (s *System) mayRemove(d, v stat) error {
	if d.Mode&unix.S_ISVTX != 0 && !s.owns(d.UID) && !s.owns(v.UID) {
		return unix.EPERM
	}
	return nil
}

// mayLink returns why v may not have another name: proc_sys_fs(5), protected_hardlinks.
func (s *System) mayLink(v stat) error {
	safe := v.regular() && v.Mode&unix.S_ISUID == 0 && v.Mode&(unix.S_ISGID|0o10) != unix.S_ISGID|0o10 && s.may(v, 6)
	if !safe && !s.owns(v.UID) {
		return unix.EPERM
	}
	return nil
}

// nobody is the owner that an ordinary user's replay shows where it is not the user.
const nobody = 65534

// boxed is st, of a file of the host, as the sandbox of an ordinary user's replay shows it: files of others are nobody's, or, where they may be
// written, copies that are the user's.
func (s *System) boxed(st stat) stat {
	uid, gid := uint32(s.cfg.UID), uint32(s.cfg.GID)
	w := &s.cfg.World
	switch foreign := st.UID != uid || st.GID != gid; {
	case s.cfg.UID == 0 || !foreign || !w.Sandbox && !w.Owned:
	case w.Owned && st.regular() && s.may(st, 6):
		st.UID, st.GID = uid, gid
	default:
		if st.UID != uid {
			st.UID = nobody
		}
		if st.GID != gid {
			st.GID = nobody
		}
	}
	return st
}

// unboxed returns why the sandbox cannot make a copy of a file of the host: it would have to belong to somebody whom the sandbox does not know.
func (s *System) unboxed(st stat) error {
	if s.cfg.World.Sandbox && s.cfg.UID != 0 && st.regular() && (st.UID == nobody || st.GID == nobody) {
		return unix.EOVERFLOW
	}
	return nil
}
