package interp

import (
	"path"
	"slices"
	"strings"

	"symchef/languages"
)

// programs holds the names of programs in a description against each other, the versions that are known, and the names that the folder's calibration gives to
// interpreters: one that is misspelled would be passed over in silence, for another interpreter.
func (d *Desc) programs() error {
	var names []string
	if d.Folder.Has(languages.Calibration) {
		if c, err := LoadCalibration(d.Folder); err == nil { // else it is told of elsewhere
			names = c.Interpreters
		}
	}
	known := func(n *sexp, name string) error {
		if names == nil || slices.ContainsFunc(names, func(s string) bool {
			rest, ok := strings.CutPrefix(name, s)
			return ok && d.hasVersion(rest)
		}) {
			return nil
		}
		return n.errorf("no interpreter of the calibration with a version of this description is called %q: %s", name, instead(name, names))
	}
	for i := range d.root.list {
		n := &d.root.list[i]
		if !fits("form", n) {
			continue
		}
		args := n.list[1:]
		switch n.list[0].text {
		case "candidates":
			for k := range args {
				if err := known(&args[k], args[k].text); err != nil {
					return err
				}
			}
		case "default":
			if base := path.Base(d.Default); !path.IsAbs(d.Default) || !slices.Contains(d.Candidates, base) {
				return args[0].errorf("need the absolute path of a candidate: %s", instead(base, d.Candidates))
			}
		case "virtualenv":
			if err := known(&args[2], path.Base(args[2].text)); err != nil {
				return err
			}
		case "installed":
			for k := range args[1:] {
				if err := known(&args[1+k], path.Base(args[1+k].text)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// hasVersion says whether text, at the end of a program's name, is a version that is known, the beginning of one, or nothing; ? may stand for any digit behind the first number.
func (d *Desc) hasVersion(text string) bool {
	first, rest, _ := strings.Cut(text, ".")
	return text == "" || slices.ContainsFunc(d.Versions, func(v string) bool {
		least := strings.TrimSuffix(v, "+")
		major, _, _ := strings.Cut(least, ".")
		return text == v || strings.HasPrefix(least, text+".") || strings.Trim(rest, "?") == "" && rest != "" && first == major || v != least && rest != "" && notBefore(text, least)
	})
}

// Unread are the variables that the description takes from the user's environment, and of which the interpreter of img has no text. If anything reads them it is a program by which it
// is started, or code that it loads.
func (d *Desc) Unread(img *Image) (out []string) {
	o, err := openObject(img.Path)
	if err != nil {
		return nil
	}
	defer o.file.Close()
	for _, name := range d.Pass {
		if !o.hasText(strings.TrimSuffix(name, "*")) {
			out = append(out, name)
		}
	}
	return out
}
