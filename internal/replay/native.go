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

	"golang.org/x/sys/unix"

	"symchef/internal/testcase"
)

// keep is how many bytes of each output stream are kept for the reader.
const keep = 64 << 10

// A Native is one native run of a test case.
type Native struct {
	Outcome testcase.Outcome
	// OutputSHA256 is over all OutputBytes bytes of standard output.
	OutputSHA256 string
	OutputBytes  int64
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

// outcomeFile is what the guest library writes to SYMCHEF_OUTCOME.
type outcomeFile struct {
	Version int           `json:"version"`
	Kind    testcase.Kind `json:"kind"`
	Type    string        `json:"type"`
	Message string        `json:"message"`
	Log     []string      `json:"log"`
}

// replayInputs is inputs as the replay file has them: floats with their bytes, since not every language reads decimal digits to the
// last bit.
func replayInputs(inputs []testcase.Input) []testcase.Input {
	out := append([]testcase.Input{}, inputs...)
	for i, in := range out {
		if v, err := in.Float(); in.Type == testcase.TypeFloat && err == nil {
			out[i].BytesHex = hex.EncodeToString(binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)))
		}
	}
	return out
}

// native runs t once, at random addresses if randomize is set. An error means that the run could not take place.
func native(ctx context.Context, g testcase.Target, t testcase.Test, opt Options, randomize bool) (Native, error) {
	sp := spec{
		Mode: opt.Mode, Path: g.Executable(), Argv: g.Argv, Cwd: g.Cwd,
		Env: slices.Clone(g.Env), Limits: opt.Limits, Randomize: randomize,
	}
	var stdin io.Reader
	if g.Kind != testcase.Program {
		b, err := json.Marshal(replayFile{Version: 1, Inputs: replayInputs(t.Inputs)})
		if err != nil {
			return Native{}, err
		}
		sp.Inputs, sp.GuestLib = b, opt.GuestLib
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
	var stdout, stderr capture
	end, err := launch(ctx, sp, stdin, &stdout, &stderr)
	if err != nil {
		return Native{}, err
	}
	n := Native{
		OutputSHA256: stdout.digest(), OutputBytes: stdout.n, Stdout: stdout.head, Stderr: stderr.head,
	}
	n.Outcome, n.Log = end.outcome(g.Kind, stderr.head)
	return n, nil
}

// outcome translates how the process ended.
func (e ending) outcome(kind testcase.TargetKind, stderr []byte) (testcase.Outcome, []string) {
	signal := ""
	if e.Signal != 0 {
		signal = unix.SignalName(syscall.Signal(e.Signal))
	}
	if e.TimedOut || signal == "SIGXCPU" {
		return testcase.Outcome{Kind: testcase.Hang}, nil
	}
	if kind == testcase.Program {
		return testcase.ProgramOutcome(e.Status, signal, stderr), nil
	}
	var f outcomeFile
	if json.Unmarshal(e.Outcome, &f) == nil && f.Version == 1 && f.Kind != "" {
		// Kinds "pruned" and "usage" exist here only: they agree with nothing.
		return testcase.Outcome{Kind: f.Kind, Type: f.Type, Message: f.Message}, f.Log
	}
	if signal != "" {
		return testcase.Outcome{Kind: testcase.Crash, Signal: signal}, nil
	}
	return testcase.Outcome{Kind: testcase.Exit, ExitStatus: e.Status}, nil
}

// launch runs the confine child on sp and returns how its program ended.
func launch(ctx context.Context, sp spec, stdin io.Reader, stdout, stderr io.Writer) (ending, error) {
	scratch, err := os.MkdirTemp("", "symchef-replay-")
	if err != nil {
		return ending{}, err
	}
	defer os.RemoveAll(scratch)
	sp.Scratch = scratch

	self, err := os.Executable()
	if err != nil {
		return ending{}, err
	}
	specJSON, err := json.Marshal(sp)
	if err != nil {
		return ending{}, err
	}
	specR, specW, err := os.Pipe()
	if err != nil {
		return ending{}, err
	}
	endR, endW, err := os.Pipe()
	if err != nil {
		specR.Close()
		specW.Close()
		return ending{}, err
	}
	defer endR.Close()

	cmd := exec.CommandContext(ctx, self)
	cmd.Args = []string{confineArg}
	cmd.Env = []string{} // the child needs none
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, stdout, stderr
	cmd.ExtraFiles = []*os.File{specR, endW} // descriptors 3 and 4
	cmd.SysProcAttr = sysProcAttr(sp.Mode)
	cmd.WaitDelay = 5 * time.Second
	cmd.Cancel = func() error {
		if sp.Mode == Namespaces {
			return cmd.Process.Kill() // process 1 of its namespace: all die
		}
		return cmd.Process.Signal(syscall.SIGTERM) // it kills its descendants
	}
	// The parent-death signal is tied to the thread that forks.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err = cmd.Start()
	specR.Close()
	endW.Close()
	if err != nil {
		specW.Close()
		return ending{}, fmt.Errorf("%w: %w", errSetup, err)
	}
	go func() {
		specW.Write(specJSON) // fails only if the child is dead, which Wait tells
		specW.Close()
	}()
	report, _ := io.ReadAll(io.LimitReader(endR, 4*maxOutcome))
	waitErr := cmd.Wait()
	if err := ctx.Err(); err != nil {
		return ending{}, err
	}
	var e ending
	if err := json.Unmarshal(report, &e); err != nil {
		return ending{}, fmt.Errorf("the confine child died without a report: %w", errors.Join(waitErr, err))
	}
	if e.SetupError != "" {
		return ending{}, fmt.Errorf("%w: %s", errSetup, e.SetupError)
	}
	if e.StartError != "" {
		return ending{}, fmt.Errorf("cannot start %s natively: %s", sp.Path, e.StartError)
	}
	return e, nil
}

// capture hashes a stream and keeps its beginning.
type capture struct {
	n    int64
	head []byte
	hash hash.Hash
}

func (c *capture) Write(p []byte) (int, error) {
	if c.hash == nil {
		c.hash = sha256.New()
	}
	c.hash.Write(p)
	c.n += int64(len(p))
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
