package replay

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"symchef/internal/disk"
	"symchef/internal/guest"
	"symchef/internal/testcase"
)

// keep is how many bytes of each output stream are kept for the reader.
const keep = 64 << 10

// A Native is one native run of a test case.
type Native struct {
	testcase.Observation
	// Exceeded is what it had too much of ("4096 MiB of memory"), Busy says that it ran for Limits.Busy; then it was ended. Reached is the limit at which
	// it was refused more, perhaps, and went on.
	Exceeded string
	Reached  string
	Busy     bool
	// Stdout and Stderr are the first 64 KiB of each stream.
	Stdout, Stderr []byte
	// Log is what the test logged (not programs).
	Log []string
}

// replayFile is what SYMCHEF_REPLAY names (docs/device-protocol.md).
type replayFile struct {
	Version int              `json:"version"`
	Inputs  []testcase.Input `json:"inputs"`
}

// unfit is the kind of a test that does not take its inputs, or cannot be loaded.
const unfit testcase.Kind = "usage"

// outcomeFile is what the guest library writes to SYMCHEF_OUTCOME.
type outcomeFile struct {
	Version int           `json:"version"`
	Kind    testcase.Kind `json:"kind"`
	Type    string        `json:"type"`
	Message string        `json:"message"`
	Log     []string      `json:"log"`
	// ReturnedHex are the bytes of a testcase.Value, Frames as in testcase.Observation; both optional.
	ReturnedHex string   `json:"returned_hex"`
	Frames      []string `json:"frames"`
}

// replayInputs is inputs as the replay file has them: floats with their bytes, since not every language reads decimal digits to the
// last bit.
func replayInputs(inputs []testcase.Input) []testcase.Input {
	out := append([]testcase.Input{}, testcase.Flat(inputs)...)
	for i, in := range out {
		if v, err := in.Float(); in.Type == testcase.TypeFloat && err == nil {
			out[i].BytesHex = hex.EncodeToString(binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)))
		}
	}
	return out
}

// specOf is what all runs of g have in common.
func specOf(g testcase.Target, opt Options) spec {
	sp := spec{Mode: opt.Mode, Path: g.Executable(), Argv: g.Argv, Cwd: g.Cwd, Env: slices.Clone(g.Env), Limits: opt.Limits}
	if sp.Mode == Namespaces {
		sp.Identity = who()
	}
	if g.Kind != testcase.Program {
		sp.GuestLib = opt.GuestLib
	}
	return sp
}

// native runs t once, at random addresses if randomize is set. An error means that the run could not take place.
func native(ctx context.Context, g testcase.Target, t testcase.Test, opt Options, randomize bool) (Native, error) {
	sp := specOf(g, opt)
	sp.Randomize, sp.Writes, sp.Moves = randomize, written(t.Files), moved(t.Files)
	var stdin io.Reader
	if g.Kind != testcase.Program {
		b, err := json.Marshal(replayFile{Version: 1, Inputs: replayInputs(t.Inputs)})
		if err != nil {
			return Native{}, err
		}
		sp.Inputs = b
	} else {
		call, err := g.Call(t.Inputs)
		if err != nil {
			return Native{}, err
		}
		sp.Argv, sp.Env, sp.Files = call.Argv, call.Env, call.Files
		if call.Stdin != nil {
			stdin = bytes.NewReader(call.Stdin)
		}
	}
	bounded, end := context.WithCancel(ctx)
	defer end()
	stdout, stderr := capture{most: opt.Limits.Output, over: end}, capture{most: opt.Limits.Output, over: end, allowed: &testcase.StderrDigest{}}
	e, err := launch(bounded, sp, stdin, &stdout, &stderr)
	if ctx.Err() == nil && (stdout.full() || stderr.full()) {
		e, err = ending{Exceeded: opt.Limits.output()}, nil
	}
	if err != nil {
		return Native{}, err
	}
	return e.native(g, sp.Files, stdout.stream(), stderr.stream()), nil
}

// native is the run of g, which was given files, that ended as e says.
func (e ending) native(g testcase.Target, files map[string][]byte, stdout, stderr stream) Native {
	n := Native{Exceeded: e.Exceeded, Reached: e.Reached, Busy: e.Busy, Stdout: stdout.Head, Stderr: stderr.Head}
	n.Observation, n.Log = e.observation(g.Kind, stderr.Head)
	n.OutputSHA256, n.OutputBytes = stdout.SHA256, stdout.Bytes
	n.StderrSHA256, n.StderrBytes = stderr.AllowedSHA256, stderr.AllowedBytes
	effects, within := e.Traces.effects(g.Cwd, files)
	n.FilesWithin = within
	n.SetFiles(testcase.Since(g.Before, effects, g.Temp()), e.Traces.Cut)
	return n
}

// observation translates how the process ended, and what its guest library told.
func (e ending) observation(kind testcase.TargetKind, stderr []byte) (testcase.Observation, []string) {
	only := func(o testcase.Outcome) (testcase.Observation, []string) {
		return testcase.Observation{Outcome: o}, nil
	}
	signal := ""
	if e.Signal != 0 {
		signal = guest.SignalName(int(e.Signal))
	}
	if e.TimedOut || signal == "SIGXCPU" {
		return only(testcase.Outcome{Kind: testcase.Hang})
	}
	if e.Exceeded != "" {
		return only(testcase.Outcome{Kind: testcase.Unsupported, Message: "replay ends what takes more than " + e.Exceeded})
	}
	if kind == testcase.Program {
		return only(testcase.ProgramOutcome(e.Status, signal, stderr))
	}
	if f, ok := parseOutcome(e.Outcome); ok {
		// Kinds "pruned" and unfit exist here only: they agree with nothing.
		returned, err := hex.DecodeString(f.ReturnedHex)
		if err != nil {
			returned = []byte("not hexadecimal: " + f.ReturnedHex) // which no machine has seen
		}
		o := testcase.Observation{Outcome: testcase.Outcome{Kind: f.Kind, Type: f.Type, Message: f.Message}, Frames: testcase.PlainFrames(f.Frames), Returned: testcase.Value(returned).Sorted().Short()}
		if f.Kind != unfit { // which has a status of its own
			o.Outcome = o.Outcome.Then(e.Status, signal)
		}
		if o.Outcome.Kind == testcase.Crash {
			o.Frames = nil
		}
		return o, f.Log
	}
	if signal != "" {
		return only(testcase.Outcome{Kind: testcase.Crash, Signal: signal})
	}
	return only(testcase.Outcome{Kind: testcase.Exit, ExitStatus: e.Status})
}

// errDied is a confine child that says nothing: nothing is known of its program.
var errDied = errors.New("the process that watches it died without a report")

// launch runs the confine child on sp and returns how its program ended.
func launch(ctx context.Context, sp spec, stdin io.Reader, stdout, stderr io.Writer) (ending, error) {
	// The parent-death signal is tied to the thread that forks.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	c, err := spawn(ctx, sp, stdin, stdout, stderr)
	if err != nil {
		return ending{}, err
	}
	defer c.close()
	c.requests.Close()
	report, _ := io.ReadAll(io.LimitReader(c.replies, 16*maxOutcome))
	waitErr := c.cmd.Wait()
	if err := ctx.Err(); err != nil {
		return ending{}, err
	}
	var e ending
	if err := json.Unmarshal(report, &e); err != nil {
		return ending{}, fmt.Errorf("%w: %w", errDied, errors.Join(waitErr, err))
	}
	if e.SetupError != "" {
		return ending{}, fmt.Errorf("%w: %s", errSetup, e.SetupError)
	}
	if e.StartError != "" {
		return ending{}, &startError{sp.Path, e.StartError}
	}
	return e, nil
}

// startError says why the program at path could not be executed: errors.Is knows the errno.
type startError struct{ path, why string }

func (e *startError) Error() string {
	return fmt.Sprintf("cannot start %s natively: %s", e.path, e.why)
}

func (e *startError) Is(target error) bool {
	errno, ok := target.(syscall.Errno)
	return ok && errno.Error() == e.why
}

// confined is a confine child that runs.
type confined struct {
	cmd      *exec.Cmd
	cleanup  func()   // of the scratch folder
	requests *os.File // to it; the spec comes first
	replies  *os.File
}

// spawn starts a confine child on sp. The child dies with the calling thread.
func spawn(ctx context.Context, sp spec, stdin io.Reader, stdout, stderr io.Writer) (_ *confined, err error) {
	c := &confined{}
	defer func() {
		if err != nil {
			c.close()
		}
	}()
	if sp.Scratch, c.cleanup, err = disk.Temp("replay"); err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if sp.Identity == shifted {
		if sp.Trees, err = trees(sp.Cwd, sp.Path, sp.GuestLib); err != nil && sp.Probe {
			return nil, fmt.Errorf("%w: %w", errSetup, err)
		} else if err != nil {
			sp.Identity = sameAll
		}
		defer closeTrees(sp.Trees)
		if sp.Groups, err = os.Getgroups(); err != nil {
			return nil, err
		}
	}
	specJSON, err := json.Marshal(sp)
	if err != nil {
		return nil, err
	}
	var specR, endW *os.File
	if specR, c.requests, err = os.Pipe(); err != nil {
		return nil, err
	}
	defer specR.Close()
	if c.replies, endW, err = os.Pipe(); err != nil {
		return nil, err
	}
	defer endW.Close()

	cmd := exec.CommandContext(ctx, self)
	cmd.Args = []string{confineArg}
	cmd.Env = []string{} // the child needs none
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, stdout, stderr
	cmd.ExtraFiles = []*os.File{specR, endW} // descriptors 3 and 4
	for _, t := range sp.Trees {
		cmd.ExtraFiles = append(cmd.ExtraFiles, t.file)
	}
	cmd.SysProcAttr = sysProcAttr(sp.Mode, sp.Identity)
	cmd.WaitDelay = 5 * time.Second
	cmd.Cancel = func() error {
		if sp.Mode == Namespaces {
			return cmd.Process.Kill() // process 1 of its namespace: all die
		}
		return cmd.Process.Signal(syscall.SIGTERM) // it kills its descendants
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("%w: %w", errSetup, err)
	}
	c.cmd = cmd
	specR.Close()
	_, _ = c.requests.Write(append(specJSON, '\n')) // where it ends is known; fails only if the child is dead, which its replies tell
	return c, nil
}

// close removes what is left of c. Require: it has ended, or never begun.
func (c *confined) close() {
	for _, f := range []*os.File{c.requests, c.replies} {
		if f != nil {
			f.Close()
		}
	}
	if c.cleanup != nil {
		c.cleanup()
	}
}

// capture hashes a stream and keeps its beginning.
type capture struct {
	n       int64
	most    int64  // bytes that there may be; 0: any number
	over    func() // called when there are more; may be nil
	head    []byte
	hash    hash.Hash
	allowed *testcase.StderrDigest // of standard error
}

// full reports whether there was more than there may be. Nothing is looked at from there on.
func (c *capture) full() bool { return c.most > 0 && c.n > c.most }

func (c *capture) Write(p []byte) (int, error) {
	if c.full() {
		c.n += int64(len(p))
		return len(p), nil
	}
	if c.hash == nil {
		c.hash = sha256.New()
	}
	c.hash.Write(p)
	if c.allowed != nil {
		c.allowed.Write(p)
	}
	if c.n += int64(len(p)); c.full() && c.over != nil {
		c.over()
	}
	if room := keep - len(c.head); room > 0 {
		c.head = append(c.head, p[:min(room, len(p))]...)
	}
	return len(p), nil
}

func (c *capture) digest() string {
	if c.hash == nil {
		return testcase.OutputDigest(nil)
	}
	return hex.EncodeToString(c.hash.Sum(nil))
}

// underGuest replaces the machine's directory of the guest libraries in s, a
// variable of the environment or an argument, by lib.
func underGuest(s, lib string) string {
	return strings.ReplaceAll(s, testcase.GuestRoot, lib)
}
