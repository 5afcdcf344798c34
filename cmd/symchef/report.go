package main

import (
	"bytes"
	"fmt"

	"github.com/spf13/cobra"

	"symchef/internal/report"
	"symchef/internal/rundir"
	"symchef/internal/session"
)

func reportCmd() *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:   "report [-o FILE.html] DIR",
		Short: "Write a run directory as a page for a browser",
		Long: "Write a run directory as one HTML page that needs nothing else and loads nothing: findings with what replays them and where they were raised, classes of\n" +
			"behaviour, test cases, source with the lines that were executed and where paths part, the tree of paths, and what was not explored.",
		Example: "  symchef report symchef-out-test_email\n  symchef report -o email.html symchef-out-test_email",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			defer endsAtOnce()()
			r, err := rundir.Open(args[0])
			if err != nil {
				return err
			}
			o := report.Options{Inputs: session.ShowInputs}
			if err := session.HostChanged(r); err != nil {
				o.Changed = err.Error()
			}
			if o.Tree, err = treeOf(r); err != nil {
				o.Tree = nil // it has not come so far, or is not interpreted: there is a page none the less
			}
			d, err := report.Read(r, o)
			if err != nil {
				return err
			}
			var page bytes.Buffer
			if err := d.Write(&page); err != nil {
				return err
			}
			if output == "-" {
				_, err := stdout.Write(page.Bytes())
				return err
			}
			if err := writeFile(output, page.Bytes()); err != nil {
				return fmt.Errorf("cannot write the page: %w", err)
			}
			fmt.Fprintf(stdout, "%s: %d findings, %d test cases\n", output, len(d.Findings), d.Total)
			return nil
		},
	}
	c.Flags().StringVarP(&output, "output", "o", "symchef.html", "the file to write; - is standard output")
	return c
}
