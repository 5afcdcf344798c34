package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"

	"github.com/spf13/cobra"

	"symchef/internal/interp"
	"symchef/internal/nativeboot"
	"symchef/internal/replay"
	"symchef/internal/session"
)

func doctorCmd(status *int) *cobra.Command {
	return &cobra.Command{
		Use:     "doctor",
		Short:   "Say what works on this machine",
		Long:    "Say what works on this machine. Exit status: 0 all languages that are installed can be explored; 2 one cannot, or none is.",
		Example: "  symchef doctor",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			fmt.Fprintln(stdout, "symchef", fullVersion())
			row := func(what, format string, args ...any) {
				fmt.Fprintf(stdout, "  %-10s %s\n", what, fmt.Sprintf(format, args...))
			}
			*status = session.StatusUsage
			bad := false
			for _, d := range interp.All() {
				f, err := session.FindInterpreter(d, interp.FindOptions{Cache: session.CacheDir("")}, "")
				if errors.Is(err, interp.ErrAbsent) {
					row(d.Language, "not installed")
					continue
				}
				if err != nil {
					bad = true
					row(d.Language, "not usable: %v", err)
					continue
				}
				*status = session.StatusOK
				row(d.Language, "%s %s (%s), build %s", f.ELF, f.Version, f.Origin, f.Image.BuildID)
				for _, n := range f.Notes {
					row("", "%s", n)
				}
				for _, m := range f.Image.Without {
					row("", "explored without: %s", m)
				}
			}
			if bad {
				*status = session.StatusUsage
			}
			row("boot", "%s", boot())
			row("replay", "%s", confinement())
			row("snapshots", "%s", cmp.Or(session.CacheDir(""), "none: there is no cache folder of your own to write to"))
			fallback, _ := exec.LookPath("cadical")
			row("solver", "built in; --fallback-solver for what its budget leaves undecided: %s", cmp.Or(fallback, "cadical is not installed"))
			return nil
		},
	}
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
			return "confined by " + string(m)
		}
	}
	return "refused unless --replay unconfined is given: the kernel offers neither user namespaces nor Landlock"
}
