package testcase

import (
	"fmt"
	"regexp"
	"strings"
)

// Kind is how a path ended.
type Kind string

// The kinds of outcome.
const (
	OK          Kind = "ok"          // ended normally
	Exception   Kind = "exception"   // an uncaught exception the test did not expect
	Expected    Kind = "expected"    // an exception the test declared with expect
	Assertion   Kind = "assertion"   // AssertionError, or assert(3) of a program
	Crash       Kind = "crash"       // death by a signal
	Hang        Kind = "hang"        // never ended: a limit of time or a deadlock
	Exit        Kind = "exit"        // exit(2) without an outcome, or with a status other than 0, or the test asked for it
	Unsupported Kind = "unsupported" // the machine met what it cannot execute
)

// Kinds lists every kind, in the order of summary.json.
var Kinds = []Kind{OK, Exception, Assertion, Crash, Hang, Exit, Unsupported, Expected}

// Known reports whether k is one of Kinds.
func (k Kind) Known() bool {
	for _, have := range Kinds {
		if k == have {
			return true
		}
	}
	return false
}

// An Outcome says how a path, or a native run, ended. The zero value of a
// field means that it does not apply to the kind.
type Outcome struct {
	Kind Kind `json:"kind"`
	// Type is the qualified name of the exception's type; kinds exception,
	// expected and assertion, and exit where an exception asked for it.
	Type string `json:"type,omitempty"`
	// Message is the exception's text, or why a path is unsupported.
	Message string `json:"message,omitempty"`
	// Signal is the name of the deadly signal, "SIGSEGV"; kinds crash and
	// assertion.
	Signal string `json:"signal,omitempty"`
	// ExitStatus is the status, 0..255, of kind exit; of kinds exception, expected and assertion that of a process that ended with
	// another than 0 after that, see Then.
	ExitStatus int `json:"exit_status,omitempty"`
}

// Proved begins the message of a hang that is known never to end: the machine was twice in the same state, with nothing decided in between.
// Any other hang is a path that took too long.
const Proved = "proved: "

// Beyond begins the message of a hang that is none for sure: the path went beyond a number of instructions.
const Beyond = "more than "

// LongOnly reports whether the outcome is such a hang: natively it may end.
func (o Outcome) LongOnly() bool { return o.Kind == Hang && strings.HasPrefix(o.Message, Beyond) }

// ProvedHang reports whether the outcome is such a hang.
func (o Outcome) ProvedHang() bool { return o.Kind == Hang && strings.HasPrefix(o.Message, Proved) }

// Failing reports whether the outcome is a finding: `symchef run` ends with
// status 1 if any test has one.
func (o Outcome) Failing() bool {
	switch o.Kind {
	case Assertion, Crash, Hang, Exception:
		return true
	}
	return false
}

// String is the outcome in one short line: "exception ValueError: bad digit".
func (o Outcome) String() string {
	var b strings.Builder
	b.WriteString(string(o.Kind))
	if o.Type != "" && o.Kind != Exit {
		b.WriteString(" " + o.Type)
	}
	if o.Signal != "" {
		b.WriteString(" " + o.Signal)
	}
	if o.Kind == Exit {
		fmt.Fprintf(&b, " %d", o.ExitStatus)
	}
	if o.Message != "" {
		b.WriteString(": " + o.Message)
	}
	if o.Kind != Exit && o.ExitStatus != 0 {
		fmt.Fprintf(&b, ", then exit %d", o.ExitStatus)
	}
	return b.String()
}

// Then is the outcome of a test that ended as o says and whose process ended afterwards, when what was to be done at its end had run, with status or
// by signal: a signal is a crash whatever was before, and a status is what is left of a test that ended well.
func (o Outcome) Then(status int, signal string) Outcome {
	switch {
	case signal != "":
		return Outcome{Kind: Crash, Signal: signal}
	case status != 0 && o.Kind == OK:
		return Outcome{Kind: Exit, ExitStatus: status}
	}
	o.ExitStatus = status
	return o
}

// Same reports whether two outcomes, one of the machine and one of a native
// run, or two of native runs, agree.
//
// The message counts for exceptions only; a crash is told by its signal, and
// assert(3) and abort(3), which differ only in the text on standard error, by
// their signal too.
func (o Outcome) Same(p Outcome) bool {
	if o.Signal != "" || p.Signal != "" {
		return o.Signal == p.Signal
	}
	if o.Kind != p.Kind {
		return false
	}
	switch o.Kind {
	case Exception, Expected, Assertion:
		return o.Type == p.Type && sameText(o.Message, p.Message) && o.ExitStatus == p.ExitStatus
	case Exit:
		return o.ExitStatus == p.ExitStatus
	}
	return true
}

// assertLine is what assert(3) of glibc and musl print before they abort.
var assertLine = regexp.MustCompile("(?m)Assertion [`'](.*)' failed|Assertion failed: (.*)")

// ProgramOutcome is the one rule from how a program (Target.Kind "program")
// ended to its outcome; the machine and replay both use it. signal is empty
// if the program exited, with status. stderr is the beginning of its standard
// error.
func ProgramOutcome(status int, signal string, stderr []byte) Outcome {
	switch {
	case signal == "SIGXCPU":
		return Outcome{Kind: Hang}
	case signal == "SIGABRT":
		if m := assertLine.FindSubmatch(stderr); m != nil {
			return Outcome{Kind: Assertion, Signal: signal, Message: string(m[1]) + string(m[2])}
		}
		return Outcome{Kind: Crash, Signal: signal}
	case signal != "":
		return Outcome{Kind: Crash, Signal: signal}
	case status == 0:
		return Outcome{Kind: OK}
	}
	return Outcome{Kind: Exit, ExitStatus: status}
}
