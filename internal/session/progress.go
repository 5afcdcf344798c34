package session

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// progress shows how a run goes: one live line on a terminal, plain lines on
// request, nothing otherwise.
type progress struct {
	w     io.Writer
	live  bool
	plain bool
	last  time.Time
	insns uint64
	shown bool
}

func newProgress(mode string, w io.Writer) *progress {
	p := &progress{w: w, last: time.Now()}
	switch mode {
	case "plain":
		p.plain = true
	case "none":
	default:
		if f, ok := w.(*os.File); ok {
			_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
			p.live = err == nil
		}
	}
	return p
}

// due reports whether it is time to show something.
func (p *progress) due(now time.Time) bool {
	return p.live && now.Sub(p.last) > 200*time.Millisecond || p.plain && now.Sub(p.last) > 2*time.Second
}

func (p *progress) show(now time.Time, r *run) {
	if !p.due(now) {
		return
	}
	mips := float64(r.sum.Instructions.Total-p.insns) / now.Sub(p.last).Seconds() / 1e6
	p.last, p.insns = now, r.sum.Instructions.Total
	line := fmt.Sprintf("%6.1fs  %d paths  %d pending  %d tests  %d findings  solver %.0f%%  %.0f MIPS",
		r.sum.ElapsedS, r.sum.Paths.Low, r.sum.Paths.Pending, r.sum.Tests.Total(), r.sum.Tests.Failing(),
		100*r.sum.Solver.TimeS/max(r.sum.ElapsedS, 1e-9), mips)
	if !r.hadBegin {
		line = fmt.Sprintf("%6.1fs  starting the interpreter  %.0f MIPS", time.Since(r.started).Seconds(), mips)
	}
	if p.live {
		fmt.Fprintf(p.w, "\r\x1b[K%s", line)
		p.shown = true
	} else {
		fmt.Fprintln(p.w, line)
	}
}

// note shows a phase.
func (p *progress) note(format string, args ...any) {
	if p.live {
		fmt.Fprintf(p.w, "\r\x1b[K"+format, args...)
		p.shown = true
	} else if p.plain {
		fmt.Fprintf(p.w, format+"\n", args...)
	}
}

// done clears the live line.
func (p *progress) done() {
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
