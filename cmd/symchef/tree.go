package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"symchef/internal/high"
	"symchef/internal/rundir"
)

func treeCmd() *cobra.Command {
	var format string
	c := &cobra.Command{
		Use:   "tree [--format text|dot|svg|json] DIR",
		Short: "Show the high-level execution tree of a run",
		Long: "Show the paths of the interpreted program that a run has found: a tree, folded where it does not branch, with\n" +
			"how many low-level paths go each way and how they ended. Instructions are named by source line and function\n" +
			"where these are known, else by the digest of their code object and the offset in it.",
		Example: "  symchef tree symchef-out-test_email\n  symchef tree --format svg symchef-out-test_email > tree.svg",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := rundir.Open(args[0])
			if err != nil {
				return err
			}
			var d high.Doc
			if err := r.Tree(&d); err != nil {
				return err
			}
			switch format {
			case "text":
				d.WriteText(os.Stdout)
			case "dot":
				d.WriteDot(os.Stdout)
			case "svg":
				d.WriteSVG(os.Stdout)
			case "json":
				writeJSON(&d)
			default:
				return fmt.Errorf("--format %s: want text, dot, svg or json", format)
			}
			return nil
		},
	}
	c.Flags().StringVar(&format, "format", "text", "text, dot (Graphviz), svg or json")
	return c
}
