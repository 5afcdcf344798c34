package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"symchef/internal/session"
)

const diffLong = `Call two functions with the same inputs and find those that tell them apart: by what they return or raise, by what they print, or by what
they leave of their arguments. OLD and NEW are each a file, a folder or a module, with :FUNCTION behind it for one function; without, what both have under
one name is compared. What OLD's function takes is told by its annotations, defaults and docstring, as symchef check tells it; NEW's function may be written
in another language, as an accelerator in C is.

A pair that is exhausted without a finding does the same on every input within the bounds. The test that calls the pairs is written to the directory, and
replay, emit and tree read the run directories below it.

Exit status: 0 no difference found; 1 differences, or other findings; 2 the targets are refused; 3 the engine could not go on; 130 interrupted.`

func diffCmd(status *int) *cobra.Command {
	r := &running{}
	c := &cobra.Command{
		Use:     "diff [flags] OLD[:FUNCTION] NEW[:FUNCTION]",
		Short:   "Find the inputs on which two functions do not do the same, or prove that there are none",
		Long:    diffLong,
		Example: "  symchef diff old{suffix}:parse new{suffix}:parse\n  symchef diff old{suffix} new{suffix}\n  symchef diff --time 2m package.pure:scan package._fast:scan",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := r.o.Out
			if dir == "" {
				dir = "symchef-diff-" + shortName(args[0])
			}
			r.o.Out = filepath.Join(dir, "runs")
			if r.o.Resume != "" {
				return fmt.Errorf("a comparison has a run directory for each pair: symchef run --resume goes on with one")
			}
			if err := r.check(); err != nil {
				return err
			}
			ctx, stop := interruptible()
			defer stop()
			*status = compare(ctx, r.o, dir, args)
			return nil
		},
	}
	r.limitFlags(c.Flags())
	r.searchFlags(c.Flags())
	r.otherFlags(c.Flags())
	for _, program := range []string{"stdin", "argv", "file", "pass", "env", "resume", "keyword", "trace"} {
		c.Flags().MarkHidden(program)
	}
	return c
}

// compare writes the test of a comparison to dir and runs it.
func compare(c context.Context, o session.Options, dir string, args []string) int {
	found, err := session.Compare(c, o, args[0], args[1], complaints)
	file := ""
	if err == nil {
		file, err = found.Write(dir)
	}
	if err != nil {
		status, line := session.ExitStatus(err)
		fmt.Fprintln(complaints, "symchef:", line)
		return status
	}
	for _, line := range found.LeftOut {
		fmt.Fprintln(complaints, "symchef: not compared:", line)
	}
	return session.RunMany(c, o, []string{file}, "", shownUnless(o.JSON), complaints)
}

// shortName is what is last in a target, without a suffix and a function.
func shortName(target string) string {
	if i := strings.LastIndexByte(target, ':'); i >= 0 {
		target = target[:i]
	}
	base := filepath.Base(target)
	return strings.TrimSuffix(base, filepath.Ext(base))
}
