package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"symchef/internal/emit"
	"symchef/internal/interp"
)

// namesInHelp has help speak of the languages that are known. Texts have these words in the place of their names:
//
//	{language} {interpreter} {default} {suffix} {format} {other-format}   those of one of them, for examples
//	{patterns} {formats} {program-formats}                               those of all
//
// They are replaced when help is shown, not before: add may bring further languages.
func namesInHelp(root *cobra.Command, add func() error) {
	show := root.HelpFunc()
	root.SetHelpFunc(func(c *cobra.Command, args []string) {
		_ = add() // what is wrong with a folder is said where it is used
		words := helpWords()
		c.Long, c.Example = words.Replace(c.Long), words.Replace(c.Example)
		c.Flags().VisitAll(func(f *pflag.Flag) { f.Usage = words.Replace(f.Usage) })
		show(c, args)
	})
}

func helpWords() *strings.Replacer {
	all := interp.All()
	if len(all) == 0 {
		return strings.NewReplacer()
	}
	one := slices.MaxFunc(all, func(a, b *interp.Desc) int { return len(a.Formats) - len(b.Formats) })
	var patterns, formats []string
	programs := []string{string(emit.Shell) + " (default)"}
	for _, d := range all {
		for _, t := range d.Tests {
			patterns = append(patterns, t+d.Suffixes[0])
		}
		for _, f := range d.ProgramFormats {
			programs = append(programs, f.Name)
		}
		for i, f := range d.Formats {
			if formats = append(formats, f.Name); i == 0 {
				formats[len(formats)-1] += fmt.Sprintf(" (default for %s)", d.Language)
			}
		}
	}
	first, other := one.Formats[0].Name, one.Formats[len(one.Formats)-1].Name
	return strings.NewReplacer("{language}", one.Language, "{interpreter}", one.Candidates[0], "{default}", one.Default, "{suffix}", one.Suffixes[0], "{format}", first, "{other-format}", other,
		"{patterns}", listOf(patterns), "{formats}", listOf(formats), "{program-formats}", listOf(programs))
}

// listOf is "a, b or c".
func listOf(words []string) string {
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " or " + words[n-1]
	}
	return strings.Join(words, "")
}
