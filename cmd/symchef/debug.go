package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"symchef/internal/session"
)

// debugCmd opens windows into the machine, for its developers.
func debugCmd(status *int) *cobra.Command {
	var names []string
	for _, w := range session.Windows {
		names = append(names, w.Name)
	}
	c := &cobra.Command{
		Use:   "debug WINDOW DIR",
		Short: "Look into the machine at the end of a path",
		Long: "Execute a test case of a run directory again and print what a part of the machine holds at its end, as text that is the same each time.\n" +
			"For developers of symchef; what is printed may change between versions.",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("no window is called %s; there are %s", args[0], strings.Join(names, ", "))
			}
			return nil
		},
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
		Example: "  symchef debug tree symchef-out-test_email\n  symchef debug ir --case t000002 --at libc.so symchef-out-test_email",
	}
	for _, w := range session.Windows {
		var id, at string
		sub := &cobra.Command{
			Use:     w.Name + " [--case ID] DIR",
			Short:   strings.ToUpper(w.Short[:1]) + w.Short[1:],
			Example: "  symchef debug " + w.Name + " symchef-out-test_email",
			Args:    cobra.ExactArgs(1),
			RunE: func(_ *cobra.Command, args []string) error {
				ctx, stop := bounded(nil)
				defer stop()
				err := session.Debug(ctx, w.Name, args[0], id, at, stdout)
				if err != nil && ctx.Err() != nil {
					*status = session.StatusCtrlC
					return errors.New("interrupted")
				}
				return err
			},
		}
		sub.Flags().StringVar(&id, "case", "", "the test case (default the first)")
		if w.Blocks {
			sub.Flags().StringVar(&at, "at", "", "only blocks whose address or function contains this")
		}
		c.AddCommand(sub)
	}
	return c
}
