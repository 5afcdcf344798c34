package solver

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"symchef/internal/bitblast"
	"symchef/internal/sat"
)

// fallbackWatchdog ends a fallback that hangs. Its conflict limit ends it long
// before, so the watchdog decides no answer of a working one.
const fallbackWatchdog = 10 * time.Minute

// runDIMACS runs path, CaDiCaL or a solver with its options, on the last
// question put to in. Once stop is closed it gives up.
func runDIMACS(path string, conflicts int, in *bitblast.Instance, stop <-chan struct{}) (Result, func(sat.Var) bool) {
	var text bytes.Buffer
	if err := in.WriteDIMACS(&text); err != nil {
		return Unknown, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), fallbackWatchdog)
	defer cancel()
	go func() {
		select {
		case <-stop:
			cancel()
		case <-ctx.Done():
		}
	}()
	cmd := exec.CommandContext(ctx, path, "-q", "-c", fmt.Sprint(conflicts), "--inprocessing=false")
	cmd.Stdin = &text
	out, err := cmd.Output()
	if _, exited := err.(*exec.ExitError); err != nil && !exited {
		return Unknown, nil
	}
	res := Unknown
	truth := make([]bool, in.NumVars())
	sc := bufio.NewScanner(bytes.NewReader(out))
	for sc.Scan() {
		line := sc.Text()
		switch {
		case line == "s SATISFIABLE":
			res = Sat
		case line == "s UNSATISFIABLE":
			res = Unsat
		case strings.HasPrefix(line, "v "):
			for _, f := range strings.Fields(line[2:]) {
				if n, err := strconv.Atoi(f); err == nil && n > 0 && n <= len(truth) {
					truth[n-1] = true
				}
			}
		}
	}
	return res, func(v sat.Var) bool { return truth[v] }
}
