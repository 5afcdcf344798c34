package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"symchef/internal/interp"
	"symchef/internal/session"
	"symchef/languages"
)

// languageRow is a language as `symchef languages` shows it.
type languageRow struct {
	Language     string   `json:"language"`
	Suffixes     []string `json:"suffixes"`     // of symbolic tests; none: the language has none
	Interpreters []string `json:"interpreters"` // names that are looked for
	Formats      []string `json:"formats"`      // of files that emit writes
	Folder       string   `json:"folder"`       // where it is from; empty: the binary
}

func languageRows() []languageRow {
	var rows []languageRow
	for _, f := range languages.All() {
		row := languageRow{Language: f.Name, Folder: f.Dir, Suffixes: []string{}, Formats: []string{}}
		if c, ok := interp.CalibrationOf(f.Name); ok {
			row.Interpreters = c.Interpreters
		}
		if d, ok := interp.ByName(f.Name); ok {
			row.Suffixes, row.Interpreters = d.Suffixes, d.Candidates
			for _, x := range d.Formats {
				row.Formats = append(row.Formats, x.Name)
			}
		}
		rows = append(rows, row)
	}
	return rows
}

func languagesCmd() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:     "languages",
		Short:   "List the languages that are known",
		Long:    "List the languages that are known: how their symbolic tests and interpreters are called, and what files emit writes of them. One\nwithout symbolic tests has programs that are explored at the level of its lines.",
		Example: "  symchef languages\n  symchef languages --language ./mylang",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			rows := languageRows()
			if asJSON {
				writeJSON(rows)
				return nil
			}
			list := func(l []string) string { return cmp.Or(strings.Join(l, " "), "-") }
			w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "LANGUAGE\tTESTS\tINTERPRETERS\tEMIT\tFROM")
			for _, r := range rows {
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", r.Language, list(r.Suffixes), list(r.Interpreters), list(r.Formats), cmp.Or(r.Folder, "symchef"))
			}
			return w.Flush()
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func languageCmd(status *int) *cobra.Command {
	c := &cobra.Command{Use: "language", Short: "Check what is known of a language", Args: cobra.NoArgs}
	var o session.CheckOptions
	var replays how
	check := &cobra.Command{
		Use:   "check [flags] NAME|DIR",
		Short: "Prove a language's folder",
		Long: `Prove a language's folder: the schema of what it says, an interpreter with all its places and models, its program counter, and five scripts
(conformance/branches, calls, exceptions, strings, numbers) that are explored, and compared with native runs over all their inputs.
Exit status: 0 all is as it should be; 1 something is not; 2 bad input.`,
		Example: "  symchef language check {language}\n  symchef language check ./mylang\n  symchef language check --interpreter /opt/bin/{interpreter} {language}",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			name, err := languageOf(args[0])
			if err != nil {
				return err
			}
			o.Language = name
			if replays == "none" {
				return errors.New("--replay none: then there is nothing to compare with")
			}
			o.ReplayMode, o.Unconfined = replays.confinement()
			ctx, stop := bounded(nil)
			defer stop()
			whole, err := session.CheckLanguage(ctx, o, stdout)
			switch {
			case ctx.Err() != nil:
				*status = session.StatusCtrlC
			case err == nil && !whole:
				*status = session.StatusFailing
			}
			return err
		},
	}
	check.Flags().StringVar(&o.Interpreter, "interpreter", "", "interpreter to use instead of the one found")
	replayFlags(check.Flags(), &replays)
	c.AddCommand(check)
	return c
}

// languageOf is the name of a language that is given by its name or its folder, which is added then.
func languageOf(given string) (string, error) {
	if st, err := os.Stat(given); !strings.ContainsRune(given, filepath.Separator) && (err != nil || !st.IsDir()) {
		return given, nil
	}
	abs, err := filepath.Abs(given)
	if err != nil {
		return "", err
	}
	return filepath.Base(abs), interp.Add(abs)
}
