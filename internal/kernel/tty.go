package kernel

import (
	"bytes"
	"encoding/binary"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"symchef/internal/mem"
)

// Pseudoterminals, pty(7): a master (fileMaster, from /dev/ptmx) and the terminal /dev/pts/N (fileTTY) with the
// line discipline N_TTY between them (termios(3)). Bytes are concrete: what a terminal does depends on each.

// A tty is a terminal and its line discipline.
type tty struct {
	Term           termios
	Window         [8]byte  // struct winsize
	In             [][]byte // typed and not yet read: lines in canonical mode (empty: end of file), else pieces
	Line           []byte   // the line being edited
	Out            []byte   // written and not yet read by the master
	Master         bool     // the master is open
	Refs, Slaves   int      // open files, and those of them that are the terminal and have not been hung up
	Used           bool     // the terminal has been open
	Era            uint64   // how often it was hung up; file.Count is what it was at the open
	Locked         bool     // TIOCSPTLCK
	Session, Group int      // whose controlling terminal it is, and the group in the foreground; 0: none
	Wakes          int      // see activity
}

// termios is the kernel's struct termios (include/uapi/asm-generic/termbits.h).
type termios struct {
	Iflag, Oflag, Cflag, Lflag uint32
	Discipline                 byte
	CC                         [19]byte
}

// ttyBuffer is how much of either direction is kept, in bytes (N_TTY_BUF_SIZE).
const ttyBuffer = 4096

// ioctl requests that golang.org/x/sys/unix lacks or that are clearer beside the others (tty_ioctl(4)).
const (
	tcGets, tcSets, tcSetsW, tcSetsF = 0x5401, 0x5402, 0x5403, 0x5404
	tcSbrk, tcXonc, tcFlush, tcSbrkP = 0x5409, 0x540a, 0x540b, 0x5425
	tiocSCTTY, tiocNoTTY             = 0x540e, 0x5422
	tiocGPgrp, tiocSPgrp, tiocGSID   = 0x540f, 0x5410, 0x5429
	tiocGWinsz, tiocSWinsz           = 0x5413, 0x5414
	tiocGPtN, tiocSPtLck, tiocGPtLck = 0x80045430, 0x40045431, 0x80045439
	tiocGPtPeer                      = 0x5441
)

//lint:ignore U1000 called through cloner
func (t *tty) clone() *tty {
	c := *t
	c.In = append([][]byte(nil), t.In...)
	return &c
}

func (s *System) tty(i int) *tty { return edit[tty](&s.ttys, s.owner, i) }

// newTerm is what a new terminal has (tty_std_termios).
var newTerm = termios{
	Iflag: unix.ICRNL | unix.IXON, Oflag: unix.OPOST | unix.ONLCR, Cflag: unix.B38400 | unix.CS8 | unix.CREAD,
	Lflag: unix.ISIG | unix.ICANON | unix.ECHO | unix.ECHOE | unix.ECHOK | unix.ECHOCTL | unix.ECHOKE | unix.IEXTEN,
	CC:    [19]byte{3, 28, 127, 21, 4, 0, 1, 0, 17, 19, 26, 0, 18, 15, 23, 22},
}

// ttyPath is the name of terminal i.
func ttyPath(i int) string { return "/dev/pts/" + strconv.Itoa(i) }

// ttyOf returns the number of the terminal called name, /dev/tty being p's own.
func (s *System) ttyOf(p *Process, name string) (int, bool) {
	if name == "/dev/tty" {
		for i := range s.ttys.rows {
			if t := s.ttys.get(i); t != nil && p != nil && t.Session == p.Session {
				return i, true
			}
		}
		return 0, false
	}
	n, ok := strings.CutPrefix(name, "/dev/pts/")
	i, err := strconv.Atoi(n)
	if !ok || err != nil || s.ttys.get(i) == nil || strconv.Itoa(i) != n {
		return 0, false
	}
	return i, true
}

// openMaster opens /dev/ptmx, which makes a terminal.
func (c *call) openMaster(f *file, cloexec bool) (uint64, error) {
	f.Kind = fileMaster
	f.In = c.s.ttys.add(c.s.owner, &tty{Term: newTerm, Master: true, Refs: 1, Locked: true})
	fd, err := c.open(f, cloexec)
	if err != nil {
		c.s.ttys.del(f.In)
	}
	return fd, err
}

// openTTY opens terminal i. A session leader without a controlling terminal gets it as that.
func (c *call) openTTY(i int, f *file, noctty, cloexec bool) (uint64, error) {
	t := c.s.ttys.get(i)
	if !t.Master || t.Locked {
		return 0, unix.EIO
	}
	f.Kind, f.In, f.Count = fileTTY, i, t.Era
	fd, err := c.open(f, cloexec)
	if err != nil {
		return 0, err
	}
	t = c.s.tty(i)
	t.Refs++
	t.Slaves++
	t.Used = true
	if _, has := c.s.ttyOf(c.p, "/dev/tty"); !noctty && !has && c.p.Session == c.p.PID && t.Session == 0 {
		t.Session, t.Group = c.p.Session, c.p.Group
	}
	return fd, nil
}

// closeTTY gives up f, an open file of a terminal. With the master the terminal hangs up.
func (s *System) closeTTY(f *file) {
	t := s.tty(f.In)
	t.Wakes++
	switch {
	case f.Kind == fileMaster:
		t.Master = false
		if leader := s.process(t.Session); leader != nil && t.Session != 0 {
			s.post(nil, leader, siginfo{Sig: int(unix.SIGHUP), Code: 0x80})
			s.post(nil, leader, siginfo{Sig: int(unix.SIGCONT), Code: 0x80})
		}
		t.hangUp()
	case f.Count == t.Era:
		t.Slaves--
	}
	if t.Refs--; t.Refs == 0 {
		s.ttys.del(f.In)
	}
}

// hangUp makes all open files of the terminal useless (__tty_hangup in drivers/tty/tty_io.c).
func (t *tty) hangUp() {
	t.Era++
	t.Wakes++
	t.Slaves, t.Session, t.Group = 0, 0, 0
}

// hung reports whether f is a terminal that has been hung up.
func (s *System) hung(f *file) bool {
	return f.Kind == fileTTY && s.ttys.get(f.In).Era != f.Count
}

// leaveTTY is what happens to the terminal of a session whose leader p ends or gives it up (disassociate_ctty).
func (s *System) leaveTTY(p *Process, ends bool) {
	i, ok := s.ttyOf(p, "/dev/tty")
	if !ok || p.Session != p.PID {
		return
	}
	t := s.tty(i)
	s.signalGroup(t.Group, unix.SIGHUP)
	if ends {
		t.hangUp()
		return
	}
	s.signalGroup(t.Group, unix.SIGCONT)
	t.Session, t.Group = 0, 0
}

// signalGroup sends a signal to a process group; 0 is none.
func (s *System) signalGroup(group int, sig unix.Signal) {
	for _, p := range s.procs {
		if group != 0 && p.Group == group {
			s.post(nil, p, siginfo{Sig: int(sig), Code: 0x80})
		}
	}
}

// emit appends output of the terminal's side, processed as OPOST says.
func (t *tty) emit(b ...byte) {
	out := append([]byte(nil), t.Out...)
	for _, x := range b {
		switch o := t.Term.Oflag; {
		case o&unix.OPOST != 0 && x == '\n' && o&unix.ONLCR != 0:
			out = append(out, '\r', '\n')
		case o&unix.OPOST != 0 && x == '\r' && o&unix.OCRNL != 0:
			out = append(out, '\n')
		default:
			out = append(out, x)
		}
	}
	t.Out = out
}

// echo shows a typed byte.
func (t *tty) echo(x byte) {
	l := t.Term.Lflag
	switch {
	case l&unix.ECHO == 0:
		if x == '\n' && l&unix.ECHONL != 0 && l&unix.ICANON != 0 {
			t.emit(x)
		}
	case l&unix.ECHOCTL != 0 && (x < 32 && x != '\t' && x != '\n' || x == 127):
		t.emit('^', x^64)
	default:
		t.emit(x)
	}
}

// erase takes the last byte off the line, and off the screen.
func (t *tty) erase() {
	x := t.Line[len(t.Line)-1]
	t.Line = t.Line[:len(t.Line)-1]
	if l := t.Term.Lflag; l&unix.ECHO != 0 {
		if l&unix.ECHOE == 0 {
			t.echo(t.Term.CC[unix.VERASE])
			return
		}
		t.emit([]byte("\b \b")...)
		if l&unix.ECHOCTL != 0 && (x < 32 || x == 127) {
			t.emit([]byte("\b \b")...)
		}
	}
}

// control reports whether x is the control character in slot i of CC; 0 is none.
func (t *tty) control(x byte, i int) bool { return x != 0 && x == t.Term.CC[i] }

// typed takes a byte that is typed at the terminal: that the master writes.
func (s *System) typed(t *tty, x byte) {
	term := &t.Term
	switch {
	case x == '\r' && term.Iflag&unix.IGNCR != 0:
		return
	case x == '\r' && term.Iflag&unix.ICRNL != 0:
		x = '\n'
	case x == '\n' && term.Iflag&unix.INLCR != 0:
		x = '\r'
	}
	if term.Iflag&unix.IXON != 0 && (t.control(x, unix.VSTART) || t.control(x, unix.VSTOP)) {
		return // output is never held back here
	}
	if term.Lflag&unix.ISIG != 0 {
		for _, k := range []struct {
			at  int
			sig unix.Signal
		}{{unix.VINTR, unix.SIGINT}, {unix.VQUIT, unix.SIGQUIT}, {unix.VSUSP, unix.SIGTSTP}} {
			if t.control(x, k.at) {
				if term.Lflag&unix.NOFLSH == 0 {
					t.In, t.Line, t.Out = nil, nil, nil
				}
				t.echo(x)
				s.signalGroup(t.Group, k.sig)
				return
			}
		}
	}
	if term.Lflag&unix.ICANON == 0 {
		t.echo(x)
		t.In = append(t.In, []byte{x})
		return
	}
	extended := term.Lflag&unix.IEXTEN != 0
	switch {
	case t.control(x, unix.VERASE):
		if len(t.Line) > 0 {
			t.erase()
		}
	case t.control(x, unix.VKILL) && term.Lflag&unix.ECHO != 0 && term.Lflag&unix.ECHOK != 0 && term.Lflag&unix.ECHOKE != 0 && term.Lflag&unix.ECHOE != 0:
		for len(t.Line) > 0 {
			t.erase()
		}
	case t.control(x, unix.VKILL):
		t.Line = nil
		if t.echo(x); term.Lflag&unix.ECHOK != 0 && term.Lflag&unix.ECHO != 0 {
			t.emit('\n')
		}
	case extended && t.control(x, unix.VWERASE):
		for word := false; len(t.Line) > 0; {
			last := t.Line[len(t.Line)-1]
			letter := last == '_' || last >= '0' && last <= '9' || last|32 >= 'a' && last|32 <= 'z'
			if word && !letter {
				break
			}
			word = word || letter
			t.erase()
		}
	case t.control(x, unix.VEOF):
		t.In, t.Line = append(t.In, t.Line), nil
	case x == '\n' || t.control(x, unix.VEOL) || extended && t.control(x, unix.VEOL2):
		t.echo(x)
		t.In, t.Line = append(t.In, append(t.Line[:len(t.Line):len(t.Line)], x)), nil
	default:
		if len(t.Line) < ttyBuffer-1 {
			t.echo(x)
			t.Line = append(t.Line[:len(t.Line):len(t.Line)], x)
		}
	}
}

// held is how many bytes a terminal's reader could have.
func (t *tty) held() int {
	n := 0
	for _, b := range t.In {
		n += len(b)
	}
	return n
}

// writeTTY is write(2) on either side.
func (c *call) writeTTY(i int, f *file, b mem.Bytes) (uint64, error) {
	done, data := c.was.Done, b.Data
	if !b.IsConcrete() { // write(2) has asked for concrete bytes, sendfile(2) has not
		return 0, unsupported("symbolic bytes for a terminal")
	}
	if c.s.hung(f) {
		return 0, unix.EIO
	}
	if c.s.ttys.get(f.In).Term.Lflag&unix.TOSTOP != 0 {
		if err := c.foreground(f, unix.SIGTTOU); err != nil {
			return 0, err
		}
	}
	for done < len(data) && c.s.ttyRoom(f) {
		t := c.s.tty(f.In)
		t.Wakes++
		if f.Kind == fileMaster {
			c.s.typed(t, data[done])
			done++
			continue
		}
		k := min(len(data), done+ttyBuffer-len(t.Out))
		t.emit(data[done:k]...)
		done = k
	}
	switch {
	case done == len(data) || done > 0 && f.Flags&unix.O_NONBLOCK != 0:
		return uint64(done), nil
	case f.Flags&unix.O_NONBLOCK != 0:
		return 0, unix.EAGAIN
	}
	return 0, blocked{Kind: waitFiles, Fds: []waitFd{{i, unix.POLLOUT | unix.POLLERR | unix.POLLHUP}}, Restart: true, Done: done}
}

// ttyRoom reports whether a byte can be written to f. Terminals that no one reads take lines until they are full.
func (s *System) ttyRoom(f *file) bool {
	t := s.ttys.get(f.In)
	if f.Kind == fileTTY {
		return len(t.Out) < ttyBuffer
	}
	return t.held()+len(t.Line) < ttyBuffer || t.Term.Lflag&unix.ICANON != 0 && len(t.In) == 0
}

// readTTY is read(2) on either side of at most n bytes.
func (c *call) readTTY(i int, f *file, n int) (mem.Bytes, error) {
	none := mem.Bytes{}
	t := c.s.ttys.get(f.In)
	if f.Kind == fileMaster {
		if len(t.Out) > 0 {
			k := min(n, len(t.Out))
			b := t.Out[:k]
			w := c.s.tty(f.In)
			w.Out = t.Out[k:]
			w.Wakes++
			return mem.Concrete(b), nil
		}
		if t.Used && t.Slaves == 0 {
			return none, unix.EIO
		}
		if f.Flags&unix.O_NONBLOCK != 0 {
			return none, unix.EAGAIN
		}
		return none, c.waitFile(i, unix.POLLIN)
	}
	canonical := t.Term.Lflag&unix.ICANON != 0
	least := int(t.Term.CC[unix.VMIN])
	switch {
	case c.s.hung(f) || n == 0:
		return none, nil
	}
	if err := c.foreground(f, unix.SIGTTIN); err != nil {
		return none, err
	}
	switch {
	case canonical && len(t.In) > 0:
		w := c.s.tty(f.In)
		w.Wakes++
		b := w.In[0]
		if len(b) > n {
			w.In[0] = b[n:]
			return mem.Concrete(b[:n]), nil
		}
		w.In = w.In[1:]
		return mem.Concrete(b), nil
	case !canonical && t.held() > 0 && (t.held() >= min(least, n) || f.Flags&unix.O_NONBLOCK != 0):
		w := c.s.tty(f.In)
		w.Wakes++
		all := bytes.Join(w.In, nil)
		k := min(n, len(all))
		if w.In = nil; k < len(all) {
			w.In = [][]byte{all[k:]}
		}
		return mem.Concrete(all[:k]), nil
	case f.Flags&unix.O_NONBLOCK != 0:
		return none, unix.EAGAIN
	case !canonical && least == 0:
		d := Time(t.Term.CC[unix.VTIME]) * 1e8
		if d == 0 || c.timedOut() {
			return none, nil
		}
		return none, blocked{Kind: waitFiles, Fds: []waitFd{{i, unix.POLLIN | unix.POLLHUP}}, Restart: true, Deadline: c.deadline(d, false)}
	}
	return none, c.waitFile(i, unix.POLLIN)
}

// foreground is nil if the process may use its terminal f as sig says: SIGTTIN to read, SIGTTOU to change it. One in the
// background is stopped by the signal, unless it blocks or ignores it (__tty_check_change in drivers/tty/tty_jobctrl.c).
func (c *call) foreground(f *file, sig unix.Signal) error {
	t := c.s.ttys.get(f.In)
	if f.Kind != fileTTY || t.Session == 0 || t.Session != c.p.Session || t.Group == 0 || t.Group == c.p.Group {
		return nil
	}
	switch {
	case c.p.Actions[sig].Handler == sigIgn || c.t.Mask&bit(int(sig)) != 0:
		if sig == unix.SIGTTOU {
			return nil
		}
		return unix.EIO
	case c.s.orphaned(c.p.Group, c.p.Session):
		return unix.EIO
	}
	c.s.signalGroup(c.p.Group, sig)
	return blocked{Kind: waitAgain, Restart: true}
}

// ttyReady is ready for either side.
func (s *System) ttyReady(f *file) uint32 {
	t := s.ttys.get(f.In)
	var r uint32
	if f.Kind == fileMaster {
		if len(t.Out) > 0 {
			r |= unix.POLLIN
		}
		if t.Used && t.Slaves == 0 {
			r |= unix.POLLHUP
		}
	} else {
		least := 1
		if t.Term.Lflag&unix.ICANON == 0 && t.Term.CC[unix.VTIME] == 0 {
			least = max(1, int(t.Term.CC[unix.VMIN]))
		}
		if s.hung(f) {
			return unix.POLLIN | unix.POLLOUT | unix.POLLERR | unix.POLLHUP
		}
		if t.Term.Lflag&unix.ICANON != 0 && len(t.In) > 0 || t.Term.Lflag&unix.ICANON == 0 && t.held() >= least {
			r |= unix.POLLIN
		}
	}
	if s.ttyRoom(f) {
		r |= unix.POLLOUT
	}
	return r
}

// ttyIoctl is ioctl(2) on either side, tty_ioctl(4).
func (c *call) ttyIoctl(f *file) (uint64, error) {
	t, at := c.s.ttys.get(f.In), c.a[2]
	master := f.Kind == fileMaster
	switch c.a[1] {
	case tiocGPtN, tiocSPtLck, tiocGPtLck, tiocGPtPeer:
		if !master {
			return 0, unix.ENOTTY
		}
	}
	if c.s.hung(f) {
		return 0, unix.EIO
	}
	switch c.a[1] {
	case tcSets, tcSetsW, tcSetsF, tcSbrk, tcSbrkP, tcXonc, tcFlush, tiocSPgrp:
		if err := c.foreground(f, unix.SIGTTOU); err != nil {
			return 0, err
		}
	}
	switch c.a[1] {
	case tcGets:
		b, _ := binary.Append(nil, binary.LittleEndian, t.Term)
		return 0, c.put(at, b)
	case tcSets, tcSetsW, tcSetsF:
		b, err := c.bytes(at, 36)
		if err != nil {
			return 0, err
		}
		w := c.s.tty(f.In)
		was := w.Term.Lflag & unix.ICANON
		_, _ = binary.Decode(b, binary.LittleEndian, &w.Term)
		if c.a[1] == tcSetsF {
			w.In, w.Line = nil, nil
		}
		if was != 0 && w.Term.Lflag&unix.ICANON == 0 && len(w.Line) > 0 {
			w.In, w.Line = append(w.In, w.Line), nil
		}
		w.Wakes++
		return 0, nil
	case tcSbrk, tcSbrkP, tcXonc:
		return 0, nil
	case tcFlush:
		w := c.s.tty(f.In)
		w.Wakes++
		if at > 2 {
			return 0, unix.EINVAL
		}
		if in := at != unix.TCOFLUSH; in != master || at == unix.TCIOFLUSH {
			w.In, w.Line = nil, nil
		}
		if out := at != unix.TCIFLUSH; out != master || at == unix.TCIOFLUSH {
			w.Out = nil
		}
		return 0, nil
	case tiocGWinsz:
		return 0, c.put(at, t.Window[:])
	case tiocSWinsz:
		b, err := c.bytes(at, 8)
		if err != nil {
			return 0, err
		}
		if w := c.s.tty(f.In); !bytes.Equal(b, w.Window[:]) {
			copy(w.Window[:], b)
			c.s.signalGroup(w.Group, unix.SIGWINCH)
		}
		return 0, nil
	case tiocGPtN:
		return 0, c.put32(at, uint32(f.In))
	case tiocSPtLck:
		v, err := c.u32(at)
		if err == nil {
			c.s.tty(f.In).Locked = v != 0
		}
		return 0, err
	case tiocGPtLck:
		v := uint32(0)
		if t.Locked {
			v = 1
		}
		return 0, c.put32(at, v)
	case tiocGPtPeer:
		st, err := c.s.synthStat(c.p, ttyPath(f.In))
		if err != nil {
			return 0, err
		}
		flags := int(at)
		peer := &file{Flags: flags &^ (unix.O_CLOEXEC | unix.O_NOCTTY), Path: ttyPath(f.In), Low: ttyPath(f.In), Out: -1, St: st}
		return c.openTTY(f.In, peer, flags&unix.O_NOCTTY != 0, flags&unix.O_CLOEXEC != 0)
	case unix.TIOCINQ:
		n := t.held()
		if master {
			n = len(t.Out)
		}
		return 0, c.put32(at, uint32(n))
	case unix.TIOCOUTQ:
		return 0, c.put32(at, 0)
	}
	mine := t.Session != 0 && t.Session == c.p.Session
	switch c.a[1] {
	case tiocSCTTY:
		_, has := c.s.ttyOf(c.p, "/dev/tty")
		switch {
		case mine && c.p.Session == c.p.PID:
			return 0, nil
		case c.p.Session != c.p.PID || has || t.Session != 0:
			return 0, unix.EPERM
		}
		w := c.s.tty(f.In)
		w.Session, w.Group = c.p.Session, c.p.Group
		return 0, nil
	case tiocNoTTY:
		if !mine {
			return 0, unix.ENOTTY
		}
		c.s.leaveTTY(c.p, false)
		return 0, nil
	case tiocGPgrp, tiocGSID:
		if !master && !mine || c.a[1] == tiocGSID && t.Session == 0 {
			return 0, unix.ENOTTY
		}
		if c.a[1] == tiocGSID {
			return 0, c.put32(at, uint32(t.Session))
		}
		return 0, c.put32(at, uint32(t.Group))
	case tiocSPgrp:
		v, err := c.u32(at)
		if err != nil {
			return 0, err
		}
		if !mine {
			return 0, unix.ENOTTY
		}
		if int32(v) < 0 {
			return 0, unix.EINVAL
		}
		for _, p := range c.s.procs {
			if p.Group == int(v) {
				if p.Session != c.p.Session {
					return 0, unix.EPERM
				}
				c.s.tty(f.In).Group = int(v)
				return 0, nil
			}
		}
		return 0, unix.ESRCH
	}
	return 0, unix.ENOTTY
}
