package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"symchef/internal/interp"
	"symchef/internal/nativeboot"
	"symchef/internal/replay"
	"symchef/internal/session"
)

// diagnosis is what doctor --json prints.
type diagnosis struct {
	Version      string                `json:"version"`
	Interpreters []session.Interpreter `json:"interpreters"`
	PassedOver   []string              `json:"passed_over"` // programs that only start others
	Boot         string                `json:"boot"`
	Replay       string                `json:"replay"`
	Snapshots    string                `json:"snapshots"`
	Solver       string                `json:"solver"`
}

func doctorCmd(status *int) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Say what works on this machine",
		Long: `Say what works on this machine: which interpreters there are, how they start, and how test cases are confined when they run natively.
Of each language the first interpreter is the one that run takes here; --interpreter PLACE takes another. Tiers:
  modelled    all that symchef knows of the language is found in it
  calibrated  paths through the interpreted program are known; some models are missing, so that there are more paths through the interpreter
  plain       they are not: each path through the interpreter is one of its own
  none        it cannot be explored
MISSING is what an interpreter lacks of the first tier, or why it is of the last; beneath the table stands why, and what to do.
Exit status: 0 all languages that are installed can be explored; 2 one cannot, or none is.`,
		Example: "  symchef doctor\n  symchef doctor --json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			defer endsAtOnce()()
			folder, err := os.Getwd()
			if err != nil {
				return fmt.Errorf("the working directory is gone: %w", err)
			}
			rows, silent := session.Survey(folder)
			*status = session.StatusUsage
			bad := false
			for _, r := range rows {
				switch {
				case r.Taken && r.Tier == session.TierNone:
					bad = true
				case r.Taken:
					*status = session.StatusOK
				}
			}
			if bad {
				*status = session.StatusUsage
			}
			fallback, _ := exec.LookPath("cadical")
			d := diagnosis{
				Version: fullVersion(), Interpreters: append([]session.Interpreter{}, rows...), PassedOver: append([]string{}, silent...), Boot: boot(), Replay: confinement(),
				Snapshots: cmp.Or(session.CacheDir(""), "none: there is no cache folder of your own to write to"),
				Solver:    "built in; --fallback-solver for what its budget leaves undecided: " + cmp.Or(fallback, "cadical is not installed"),
			}
			if asJSON {
				writeJSON(d)
			} else {
				d.write()
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// write prints d as text.
func (d *diagnosis) write() {
	fmt.Fprintln(people, "symchef", d.Version)
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "LANGUAGE\tVERSION\tTIER\tFROM\tPLACE\tMISSING")
	for _, r := range d.Interpreters {
		place := cmp.Or(r.Place, "-")
		if r.Taken {
			place += "  (taken)"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", r.Language, cmp.Or(r.Version, "-"), r.Tier, cmp.Or(r.From, "-"), place, lacks(r))
	}
	for _, l := range interp.All() {
		if !has(d.Interpreters, l.Language) {
			fmt.Fprintf(w, "%s\t-\tnot installed\t\t\t\n", l.Language)
		}
	}
	w.Flush()
	for line := range strings.Lines(table.String()) {
		fmt.Fprintln(people, strings.TrimRight(line, " \n"))
	}
	var said []string
	for _, r := range d.Interpreters {
		for _, n := range r.Notes {
			fmt.Fprintf(people, "%s %s: %s\n", r.Language, cmp.Or(r.Place, r.Version), n)
		}
		for _, line := range advice(r) {
			if !slices.Contains(said, line) {
				said = append(said, line)
				fmt.Fprintf(people, "%s: %s\n", r.Language, line)
			}
		}
	}
	if len(d.PassedOver) > 0 {
		fmt.Fprintf(people, "passed over, since they only start others: %s\n", strings.Join(d.PassedOver, " "))
	}
	for _, row := range [][2]string{{"boot", d.Boot}, {"replay", d.Replay}, {"snapshots", d.Snapshots}, {"solver", d.Solver}} {
		fmt.Fprintf(people, "%-10s %s\n", row[0], row[1])
	}
}

// lacks is what a row of the table says of an interpreter: the names of what it lacks, or why it is none.
func lacks(r session.Interpreter) string {
	var names []string
	for _, m := range r.Missing {
		if r.Tier == session.TierNone {
			names = append(names, strings.TrimLeft(strings.TrimPrefix(m.Why, r.Place), ": "))
		} else {
			names = append(names, m.Name)
		}
	}
	return strings.Join(names, ", ")
}

// advice is why something is missing, where the table does not say it, and what to do: the same for all interpreters that lack the same for the same reason.
func advice(r session.Interpreter) (lines []string) {
	var names []string
	for _, m := range r.Missing {
		if r.Tier != session.TierNone {
			lines = append(lines, fmt.Sprintf("without %s: %s", m.Name, m.Why))
			names = append(names, m.Name)
		}
	}
	switch {
	case r.Todo == "":
	case r.Tier == session.TierNone:
		lines = append(lines, "tier none: "+r.Todo)
	default:
		lines = append(lines, fmt.Sprintf("where %s is missing: %s", strings.Join(names, ", "), r.Todo))
	}
	return lines
}

func has(rows []session.Interpreter, language string) bool {
	for _, r := range rows {
		if r.Language == language {
			return true
		}
	}
	return false
}

// boot says how interpreters start here.
func boot() string {
	if err := nativeboot.Probe(); err != nil {
		return fmt.Sprintf("in the machine: natively it cannot be: %v", err)
	}
	return "native"
}

// confinement says how replay confines here.
func confinement() string {
	for _, m := range []replay.Mode{replay.Namespaces, replay.Landlock} {
		if replay.Probe(context.Background(), m) == nil {
			return strings.Join(append([]string{"confined by " + string(m)}, session.Lost()...), "; ")
		}
	}
	return "refused unless --replay unconfined is given: the kernel offers neither user namespaces nor Landlock"
}
