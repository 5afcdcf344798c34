package session

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"symchef/internal/testcase"
)

// progress shows how a run goes: one live line on a terminal, plain lines on
// request, nothing otherwise.
type progress struct {
	w     io.Writer
	live  io.Writer // the terminal of the live line
	tty   int       // descriptor of the terminal with the live line; -1: none
	plain bool
	last  time.Time
	insns uint64
	shown bool
}

func newProgress(mode string, w io.Writer) *progress {
	p := &progress{w: w, tty: -1, last: time.Now(), plain: mode == "plain"}
	under := w
	if s, ok := w.(*terminal); ok {
		under = s.w
	}
	if f, ok := under.(*os.File); ok && mode == "auto" {
		if _, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS); err == nil {
			p.tty, p.live = int(f.Fd()), f
		}
	}
	return p
}

// due reports whether it is time to show something.
func (p *progress) due(now time.Time) bool {
	return p.tty >= 0 && now.Sub(p.last) > 200*time.Millisecond || p.plain && now.Sub(p.last) > time.Second
}

// show says where the exploration of r is, if it is time to.
func (p *progress) show(now time.Time, r *run) {
	if !p.due(now) {
		return
	}
	insns := r.sum.Instructions.Boot + r.sum.Instructions.Total
	mips := float64(insns-p.insns) / now.Sub(p.last).Seconds() / 1e6
	p.last, p.insns = now, insns
	if !r.hadBegin {
		p.line("%6.1fs  starting the interpreter  %.0f MIPS", time.Since(r.started).Seconds(), mips)
		return
	}
	s := &r.sum
	p.line("%6.1fs  %d/%d paths  %d pending  %d tests  %d findings  %d code bytes  solver %.0f%%  %.0f MIPS",
		s.ElapsedS, s.Paths.High, s.Paths.Low, s.Paths.Pending, s.Tests.Total(), s.Tests.Failing(), s.CodeBytes,
		100*s.Solver.TimeS/max(s.ElapsedS, 1e-9), mips)
}

// say tells what the user must know, whatever the mode.
func (p *progress) say(format string, args ...any) {
	p.done()
	fmt.Fprintf(p.w, "symchef: "+format+"\n", args...)
}

// note shows a phase of the run.
func (p *progress) note(format string, args ...any) {
	if p.tty >= 0 || p.plain {
		p.line(format, args...)
	}
}

// line shows a line; a live one in place of the one before, cut to the terminal's width.
func (p *progress) line(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if p.tty < 0 {
		fmt.Fprintln(p.w, text)
		return
	}
	if size, err := unix.IoctlGetWinsize(p.tty, unix.TIOCGWINSZ); err == nil && size.Col > 0 {
		text = text[:min(len(text), int(size.Col)-1)]
	}
	fmt.Fprint(p.live, "\r\x1b[K", testcase.Visible(text))
	p.shown = true
}

// done clears the live line.
func (p *progress) done() {
	if p.shown {
		fmt.Fprint(p.live, "\r\x1b[K")
		p.shown = false
	}
}
