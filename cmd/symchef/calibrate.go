package main

import (
	"encoding/json"
	"errors"

	"github.com/spf13/cobra"

	"symchef/internal/hlpc"
	"symchef/internal/session"
)

func calibrateCmd() *cobra.Command {
	var o session.CalibrateOptions
	var asJSON bool
	c := &cobra.Command{
		Use:   "calibrate [flags] INTERPRETER",
		Short: "Find where an interpreter keeps its program counter",
		Long: "Find where an interpreter keeps the program counter of the language it runs, by executing a calibration\n" +
			"script in the machine. The interpreter's binary is all that is needed. Results are cached by build-id.\n" +
			"Exit status: 0 found; 2 bad input; 3 nothing found, or more than one place: the candidates are printed.",
		Example: "  symchef calibrate {interpreter}\n  symchef calibrate --json {default}\n  symchef calibrate --description mine.desc ./myvm",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			defer endsAtOnce()()
			o.Interpreter = args[0]
			var err error
			if o.Language, err = languageOf(o.Language); err != nil {
				return err
			}
			r, err := session.Calibrate(o)
			if err != nil && !session.UsageError(err) {
				err = engineError{err}
			}
			var tie *hlpc.AmbiguousError
			if errors.As(err, &tie) && asJSON {
				writeJSON(map[string]any{"error": err.Error(), "candidates": tie.Candidates})
			}
			if err != nil {
				return err
			}
			if asJSON {
				writeJSON(r)
			} else {
				r.Write(stdout)
			}
			return nil
		},
	}
	c.Flags().StringVar(&o.Language, "language", "", "the language it speaks, or the folder of one (default: told from its name)")
	c.Flags().StringVar(&o.Description, "description", "", "file with a calibration description of your own")
	c.Flags().BoolVar(&o.NoCache, "no-cache", false, "neither read nor write cached results")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func writeJSON(v any) {
	e := json.NewEncoder(stdout)
	e.SetIndent("", "  ")
	_ = e.Encode(v)
}
