package interp

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"symchef/internal/disk"
)

// installedRule says where interpreters may be that nobody has chosen: (installed FROM PATTERN...).
type installedRule struct {
	from string
	// patterns are paths in which * and ? are as in path.Match. A variable of the environment at the beginning, $NAME, stands for each of its
	// folders; a pattern whose variable is not set is left out.
	patterns []string
}

// An Installation is a file that may be an interpreter of a language.
type Installation struct {
	Path string // absolute
	From string // "PATH", "a virtual environment", or what the description calls it
}

// Installed lists what there is for d, without asking: virtual environments, the present ones and those of folder, and then what the description names, in
// its order.
func (d *Desc) Installed(folder string, getenv func(string) string) (out []Installation) {
	add := func(path, from string) {
		st, err := os.Stat(path)
		in := Installation{path, from}
		if err == nil && st.Mode().IsRegular() && st.Mode()&0o111 != 0 && !slices.ContainsFunc(out, func(o Installation) bool { return o.Path == path }) {
			out = append(out, in)
		}
	}
	for _, r := range d.virtual {
		if v := getenv(r.variable); v != "" {
			add(filepath.Join(v, r.program), "$"+r.variable)
		}
		for _, name := range r.folders {
			if v := filepath.Join(folder, name); r.marked(v) {
				add(filepath.Join(v, r.program), name)
			}
		}
	}
	for _, r := range d.installed {
		for _, p := range r.patterns {
			for _, p := range expand(p, getenv) {
				found, _ := filepath.Glob(p) // sorted; the pattern has been tried
				for _, path := range found {
					add(path, r.from)
				}
			}
		}
	}
	return out
}

// expand replaces the variable at the beginning of a pattern.
func expand(pattern string, getenv func(string) string) (out []string) {
	name, rest, _ := strings.Cut(pattern, "/")
	variable, ok := strings.CutPrefix(name, "$")
	if !ok {
		return []string{pattern}
	}
	for _, dir := range filepath.SplitList(getenv(variable)) {
		if filepath.IsAbs(dir) {
			out = append(out, filepath.Join(dir, rest))
		}
	}
	return out
}

// Look asks the interpreter of an installation what it is, and finds in it what d describes. What ELF programs answer is kept in the folder cache for their
// build.
func (d *Desc) Look(in Installation, cache string) (*Found, error) {
	return d.examine(candidate{path: in.Path, origin: in.From}, "", cache, true)
}

// ErrSilent is in the error of a program that does not answer as the language's interpreters do.
var ErrSilent = errors.New("does not answer")

// Environment is the folder of the virtual environment that an interpreter is started in as argv0; "" for none.
func (d *Desc) Environment(argv0 string) string {
	for _, r := range d.virtual {
		if v, ok := strings.CutSuffix(argv0, "/"+r.program); ok && r.marked(v) {
			return v
		}
	}
	return ""
}

// marked says whether dir is such an environment.
func (r *virtualRule) marked(dir string) bool {
	st, err := os.Stat(filepath.Join(dir, r.marker))
	return err == nil && st.Mode().IsRegular()
}

// keptAnswer is the file of the folder cache for what the program at path, an ELF file, says of itself; "" where nothing is kept. Another build has another.
func (d *Desc) keptAnswer(path, cache string) string {
	real, err := filepath.EvalSymlinks(path)
	if err != nil || cache == "" || !IsELF(real) {
		return ""
	}
	o, err := openObject(real)
	if err != nil {
		return ""
	}
	defer o.file.Close()
	return filepath.Join(cache, fmt.Sprintf("%x.answer", sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q %s", d.ask, d.say, path, real, o.build()))))
}

// answer is the lines that c says of itself, kept or asked for.
func (d *Desc) answer(c candidate, dir, cache string) ([]string, error) {
	file := d.keptAnswer(c.path, cache)
	var lines []string
	if b, err := disk.Read(file); file != "" && err == nil && json.Unmarshal(b, &lines) == nil && len(lines) >= 3 {
		return lines, nil
	}
	lines, err := d.askFor(c, dir)
	if err == nil && file != "" {
		if b, err := json.Marshal(lines); err == nil {
			_ = disk.Replace(cache, filepath.Base(file), b, 0o600) // without it the next look asks again
		}
	}
	return lines, err
}
