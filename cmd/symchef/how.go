package main

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"symchef/internal/replay"
)

// how is the value of --replay.
type how string

// hows are its values, with what they mean.
var hows = []struct{ name, means string }{
	{"auto", "in namespaces, else under Landlock, else it is refused"},
	{string(replay.Namespaces), "so or not at all"},
	{string(replay.Landlock), "so or not at all"},
	{string(replay.Unconfined), "as auto, and where the kernel offers no confinement without"},
	{"none", "no replay"},
}

func (h *how) String() string { return string(*h) }
func (h *how) Type() string   { return "HOW" }

func (h *how) Set(s string) error {
	var names []string
	for _, x := range hows {
		if x.name == s {
			*h = how(s)
			return nil
		}
		names = append(names, x.name)
	}
	return fmt.Errorf("want one of %s", strings.Join(names, ", "))
}

// confinement is what h asks of replay.
func (h how) confinement() (m replay.Mode, unconfined bool) {
	switch replay.Mode(h) {
	case replay.Namespaces, replay.Landlock:
		return replay.Mode(h), false
	}
	return "", replay.Mode(h) == replay.Unconfined
}

// another is a flag without a value that says the same as --replay VALUE.
type another struct {
	of    *how
	value how
}

func (a another) String() string { return "false" }
func (a another) Type() string   { return "bool" }
func (a another) Set(s string) error {
	switch s {
	case "true":
		*a.of = a.value
	case "false":
	default:
		return fmt.Errorf("want true or false")
	}
	return nil
}

// replayFlags adds --replay and the flags that say the same as one of its values.
func replayFlags(f *pflag.FlagSet, h *how, more ...string) {
	*h = "auto"
	var means []string
	for _, x := range hows {
		means = append(means, x.name+": "+x.means)
	}
	f.Var(h, "replay", "how test cases run natively. "+strings.Join(means, "; "))
	for _, name := range append(more, "replay-unconfined") {
		value := how("none")
		if name == "replay-unconfined" {
			value = how(replay.Unconfined)
		}
		f.Var(another{h, value}, name, "the same as --replay "+string(value))
		f.Lookup(name).NoOptDefVal = "true"
	}
}
