package testcase

import (
	"os"
	"path/filepath"
	"regexp"
)

// frameParts are those of FILE:LINE:FUNCTION; the file may have colons, too.
var frameParts = regexp.MustCompile(`(?s)^(/.*?)(:[0-9]+(?::.*)?)$`)

// PlainFrames are frames, whose files are named as a program has put the names together ("/t/sub/../lib"), with plain names where these are
// the same files on this host.
func PlainFrames(frames []string) []string {
	for i, f := range frames {
		m := frameParts.FindStringSubmatch(f)
		if m == nil || filepath.Clean(m[1]) == m[1] {
			continue
		}
		a, err1 := os.Stat(m[1])
		b, err2 := os.Stat(filepath.Clean(m[1]))
		if err1 == nil && err2 == nil && os.SameFile(a, b) {
			frames = append(append(append([]string(nil), frames[:i]...), filepath.Clean(m[1])+m[2]), frames[i+1:]...)
		}
	}
	return frames
}
