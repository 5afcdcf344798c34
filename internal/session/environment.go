package session

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"symchef/internal/testcase"
)

// taken are the variables that every run takes from the user's environment; NAME* are all that begin so. It is what programs need to
// start and to find others. All else may be anybody's secret, and a run directory is for showing: it stays out unless --pass names it.
var taken = []string{"PATH", "HOME", "LANG", "LANGUAGE", "LC_*", "TZ", "LD_LIBRARY_PATH"}

// environment is what a run starts its program with: taken, what the language needs, and what --pass names. It is sorted, so that
// a run does not depend on the order of the user's.
func environment(language, pass []string) (env []string, err error) {
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if name != "" && slices.ContainsFunc(slices.Concat(taken, language), func(pattern string) bool { return named(name, pattern) }) {
			env = append(env, v)
		}
	}
	for _, p := range pass {
		name, value, given := strings.Cut(p, "=")
		if !given {
			if value, given = os.LookupEnv(name); !given {
				return nil, &usageError{fmt.Sprintf("--pass %s: it is not in the environment", name)}
			}
		}
		env = testcase.SetEnv(env, name, value)
	}
	slices.Sort(env)
	return env, nil
}

// named reports whether pattern is name, or ends with * and begins it.
func named(name, pattern string) bool {
	if begin, all := strings.CutSuffix(pattern, "*"); all {
		return strings.HasPrefix(name, begin)
	}
	return name == pattern
}
