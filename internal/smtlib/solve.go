package smtlib

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Status is a solver's answer. Unknown is neither of the others.
type Status int

// The answers.
const (
	Unknown Status = iota
	Sat
	Unsat
)

func (s Status) String() string { return [...]string{"unknown", "sat", "unsat"}[s] }

// Answer is what a solver said. Model holds the variables' values by name and
// is nil unless Status is Sat.
type Answer struct {
	Status Status
	Model  map[string]uint64
}

// solverArgs are the options that make a solver read commands from its
// standard input, by the name of its binary.
var solverArgs = map[string][]string{
	"z3":   {"-in", "-smt2"},
	"cvc5": {"--lang=smt2", "--incremental", "--produce-models"},
}

// Find returns the paths of the solvers installed.
func Find() (paths []string) {
	for _, name := range []string{"cvc5", "z3"} {
		if path, err := exec.LookPath(name); err == nil {
			paths = append(paths, path)
		}
	}
	return paths
}

// Solve runs a solver on a script that ends in (check-sat) and asks for the
// model where there is one. The solver is killed, and the answer Unknown, when
// timeout is over: its own limits do not hold. Everything it says that is no
// answer, error lines above all, is an error.
//
// require: the binary is called cvc5 or z3.
func Solve(ctx context.Context, solverPath, script string, timeout time.Duration) (Answer, error) {
	args, ok := solverArgs[filepath.Base(solverPath)]
	if !ok {
		return Answer{}, fmt.Errorf("smtlib: no solver called %s", filepath.Base(solverPath))
	}
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	cmd := exec.CommandContext(limited, solverPath, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	in, err := cmd.StdinPipe()
	if err != nil {
		return Answer{}, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return Answer{}, err
	}
	var complaints strings.Builder
	cmd.Stderr = &complaints
	if err := cmd.Start(); err != nil {
		return Answer{}, err
	}
	answer, err := converse(in, out, script)
	in.Close()
	io.Copy(io.Discard, out)
	waitErr := cmd.Wait()
	switch {
	case ctx.Err() != nil:
		return Answer{}, ctx.Err()
	case limited.Err() != nil:
		return Answer{}, nil
	case err != nil:
		return Answer{}, fmt.Errorf("%s: %w %s", solverPath, err, complaints.String())
	case waitErr != nil:
		return Answer{}, fmt.Errorf("%s: %w %s", solverPath, waitErr, complaints.String())
	}
	return answer, nil
}

// converse sends the script, reads the answer and, after sat, the model.
func converse(in io.Writer, out io.Reader, script string) (Answer, error) {
	// The solver may say something before it has read all of the script.
	sent := make(chan error, 1)
	go func() {
		_, err := io.WriteString(in, script)
		sent <- err
	}()
	lines := bufio.NewReader(out)
	line, err := lines.ReadString('\n')
	if err != nil && line == "" {
		return Answer{}, fmt.Errorf("no answer: %w", err)
	}
	var answer Answer
	switch line = strings.TrimSpace(line); line {
	case "sat":
		answer.Status = Sat
	case "unsat":
		answer.Status = Unsat
	case "unknown":
	default:
		return Answer{}, errors.New(line)
	}
	if err := <-sent; err != nil {
		return Answer{}, err
	}
	ask := "(exit)\n"
	if answer.Status == Sat {
		ask = "(get-model)\n(exit)\n"
	}
	if _, err := io.WriteString(in, ask); err != nil {
		return Answer{}, err
	}
	rest, err := io.ReadAll(lines)
	if err != nil {
		return Answer{}, err
	}
	if answer.Status == Sat {
		answer.Model, err = parseModel(string(rest))
	} else if text := strings.TrimSpace(string(rest)); text != "" {
		err = errors.New(text)
	}
	return answer, err
}

// parseModel reads the definitions of a model, those of variables alone.
func parseModel(s string) (map[string]uint64, error) {
	nodes, err := read(s)
	if err != nil {
		return nil, err
	}
	if len(nodes) != 1 {
		return nil, errors.New(strings.TrimSpace(s))
	}
	model := map[string]uint64{}
	for _, def := range nodes[0].list {
		if def.atom == "model" {
			continue
		}
		if !def.is("define-fun", 5) {
			return nil, errors.New(nodes[0].String())
		}
		v, _, ok := parseLiteral(def.list[4].atom)
		if !ok || len(def.list[2].list) != 0 {
			continue // one of the script's own functions
		}
		name, err := unquote(def.list[1].atom)
		if err != nil {
			return nil, err
		}
		model[name] = v
	}
	return model, nil
}
