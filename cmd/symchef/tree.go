package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"symchef/internal/high"
	"symchef/internal/rundir"
	"symchef/internal/session"
	"symchef/internal/testcase"
)

func treeCmd() *cobra.Command {
	var format string
	c := &cobra.Command{
		Use:   "tree [--format text|dot|svg|json] DIR",
		Short: "Show the high-level execution tree of a run",
		Long: "Show the paths of the interpreted program that a run has found: a tree, folded where it does not branch, with the line where\n" +
			"paths part and which way each went: true, false, true or false so far (another part of the condition decides), to another\n" +
			"line, or, where the statement does not tell, whether the code goes on behind the branch or jumps, or only that it\n" +
			"stays on that line;\n" +
			"and of a program the decisions of its test cases, with source lines where it was compiled with -g; with\n" +
			"how many low-level paths go each way and how they ended. Instructions are named by source line and function\n" +
			"where these are known, else by the digest of their code object and the offset in it.",
		Example: "  symchef tree symchef-out-test_email\n  symchef tree --format svg symchef-out-test_email > tree.svg",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			defer endsAtOnce()()
			r, err := rundir.Open(args[0])
			if err != nil {
				return err
			}
			if r.Summary.Target.Kind == testcase.Program {
				warnChanged(args[0], r) // the lines are read now
			}
			d, err := treeOf(r)
			if err != nil {
				return err
			}
			switch format {
			case "text":
				d.WriteText(people)
			case "dot":
				d.WriteDot(stdout)
			case "svg":
				d.WriteSVG(stdout)
			case "json":
				writeJSON(d)
			default:
				return fmt.Errorf("--format %s: want text, dot, svg or json", format)
			}
			return nil
		},
	}
	c.Flags().StringVar(&format, "format", "text", "text, dot (Graphviz), svg or json")
	return c
}

// treeOf is the tree of paths that a run directory has.
func treeOf(r *rundir.Reader) (*high.Doc, error) {
	if r.Summary.Target.Kind == testcase.Program {
		return session.ProgramTree(r)
	}
	var d high.Doc
	if err := r.Tree(&d); err != nil {
		return nil, err
	}
	if err := d.Check(); err != nil {
		return nil, fmt.Errorf("%s: tree.json is damaged: %w", r.Dir(), err)
	}
	return &d, nil
}
