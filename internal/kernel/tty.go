package kernel

import (
	"bytes"
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
	Era            uint64   // how often it was hung up; file.Since is what it was at the open
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
	f.Kind, f.In, f.Since = fileTTY, i, t.Era
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

// ttyFile is a terminal, masterFile the other side of one. With the master the terminal hangs up.
type (
	ttyFile    struct{ terminalKind }
	masterFile struct{ terminalKind }
)

type terminalKind struct{ plainKind }

func (terminalKind) traits() trait { return literal }

func (terminalKind) activity(s *System, f *file) int { return s.ttys.get(f.In).Wakes }

func (terminalKind) sound(s *System, f *file) bool { return s.ttys.get(f.In) != nil }

func (terminalKind) step(c *call, x fileCall) {
	c.s.order.write(c.t.strand, "terminal", c.step(x.name, "a terminal"))
	c.s.order.shows(c.t.strand)
}

func (ttyFile) closed(s *System, f *file) {
	if t := s.tty(f.In); f.Since == t.Era {
		t.Slaves--
	}
	s.leftTTY(f.In)
}

func (masterFile) closed(s *System, f *file) {
	t := s.tty(f.In)
	t.Master = false
	if leader := s.process(t.Session); leader != nil && t.Session != 0 {
		s.post(nil, leader, siginfo{Sig: int(unix.SIGHUP), Code: 0x80})
		s.post(nil, leader, siginfo{Sig: int(unix.SIGCONT), Code: 0x80})
	}
	t.hangUp()
	s.leftTTY(f.In)
}

// leftTTY takes away an open file of terminal i.
func (s *System) leftTTY(i int) {
	t := s.tty(i)
	t.Wakes++
	if t.Refs--; t.Refs == 0 {
		s.ttys.del(i)
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
	return f.Kind == fileTTY && s.ttys.get(f.In).Era != f.Since
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
	t.edit(x)
}

// edit takes a byte for the line that is being edited.
func (t *tty) edit(x byte) {
	local := t.Term.Lflag
	has := func(flags uint32) bool { return local&flags == flags }
	switch {
	case t.control(x, unix.VERASE):
		if len(t.Line) > 0 {
			t.erase()
		}
	case t.control(x, unix.VKILL) && has(unix.ECHO|unix.ECHOK|unix.ECHOKE|unix.ECHOE):
		for len(t.Line) > 0 {
			t.erase()
		}
	case t.control(x, unix.VKILL):
		t.Line = nil
		if t.echo(x); has(unix.ECHOK | unix.ECHO) {
			t.emit('\n')
		}
	case has(unix.IEXTEN) && t.control(x, unix.VWERASE):
		t.eraseWord()
	case t.control(x, unix.VEOF):
		t.In, t.Line = append(t.In, t.Line), nil
	case x == '\n' || t.control(x, unix.VEOL) || has(unix.IEXTEN) && t.control(x, unix.VEOL2):
		t.echo(x)
		t.In, t.Line = append(t.In, append(t.Line[:len(t.Line):len(t.Line)], x)), nil
	case len(t.Line) < ttyBuffer-1:
		t.echo(x)
		t.Line = append(t.Line[:len(t.Line):len(t.Line)], x)
	}
}

// eraseWord erases up to a word, and what stands behind it.
func (t *tty) eraseWord() {
	for word := false; len(t.Line) > 0; {
		last := t.Line[len(t.Line)-1]
		letter := last == '_' || last >= '0' && last <= '9' || last|32 >= 'a' && last|32 <= 'z'
		if word && !letter {
			return
		}
		word = word || letter
		t.erase()
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

func (ttyFile) write(c *call, i int, f *file, _ int64, b mem.Bytes) (uint64, error) {
	if c.s.hung(f) {
		return 0, unix.EIO
	}
	return c.writeTTY(i, f, b, func(t *tty, data []byte) int {
		n := min(len(data), ttyBuffer-len(t.Out))
		t.emit(data[:n]...)
		return n
	})
}

func (masterFile) write(c *call, i int, f *file, _ int64, b mem.Bytes) (uint64, error) {
	return c.writeTTY(i, f, b, func(t *tty, data []byte) int {
		c.s.typed(t, data[0])
		return 1
	})
}

// writeTTY is write(2) on either side, which takes as many bytes at once as it says.
func (c *call) writeTTY(i int, f *file, b mem.Bytes, take func(*tty, []byte) int) (uint64, error) {
	done, data := c.was.Done, b.Data
	if !b.IsConcrete() { // write(2) has asked for concrete bytes, sendfile(2) has not
		return 0, unsupported("symbolic bytes for a terminal")
	}
	if c.s.ttys.get(f.In).Term.Lflag&unix.TOSTOP != 0 {
		if err := c.foreground(f, unix.SIGTTOU); err != nil {
			return 0, err
		}
	}
	for done < len(data) && c.s.ttyRoom(f) {
		t := c.s.tty(f.In)
		t.Wakes++
		done += take(t, data[done:])
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

func (masterFile) read(c *call, i int, f *file, _ int64, n int) (mem.Bytes, error) {
	t := c.s.ttys.get(f.In)
	switch {
	case len(t.Out) > 0:
		b := t.Out[:min(n, len(t.Out))]
		w := c.s.tty(f.In)
		w.Out = t.Out[len(b):]
		w.Wakes++
		return mem.Concrete(b), nil
	case t.Used && t.Slaves == 0:
		return mem.Bytes{}, unix.EIO
	case f.Flags&unix.O_NONBLOCK != 0:
		return mem.Bytes{}, unix.EAGAIN
	}
	return mem.Bytes{}, c.waitFile(i, unix.POLLIN)
}

func (ttyFile) read(c *call, i int, f *file, _ int64, n int) (mem.Bytes, error) {
	none := mem.Bytes{}
	t := c.s.ttys.get(f.In)
	canonical := t.Term.Lflag&unix.ICANON != 0
	least := int(t.Term.CC[unix.VMIN])
	if c.s.hung(f) || n == 0 {
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

func (masterFile) ready(s *System, f *file) (r uint32) {
	t := s.ttys.get(f.In)
	if len(t.Out) > 0 {
		r |= unix.POLLIN
	}
	if t.Used && t.Slaves == 0 {
		r |= unix.POLLHUP
	}
	if s.ttyRoom(f) {
		r |= unix.POLLOUT
	}
	return r
}

func (ttyFile) ready(s *System, f *file) (r uint32) {
	t := s.ttys.get(f.In)
	if s.hung(f) {
		return unix.POLLIN | unix.POLLOUT | unix.POLLERR | unix.POLLHUP
	}
	least := 1
	if t.Term.Lflag&unix.ICANON == 0 && t.Term.CC[unix.VTIME] == 0 {
		least = max(1, int(t.Term.CC[unix.VMIN]))
	}
	if t.Term.Lflag&unix.ICANON != 0 && len(t.In) > 0 || t.Term.Lflag&unix.ICANON == 0 && t.held() >= least {
		r |= unix.POLLIN
	}
	if s.ttyRoom(f) {
		r |= unix.POLLOUT
	}
	return r
}
