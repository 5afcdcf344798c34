package emit

import (
	"slices"

	"symchef/internal/interp"
	"symchef/internal/testcase"
)

// ShownCall is the source code of the first shape, by names that are good anywhere behind Imports.
func ShownCall(kind testcase.TargetKind, inputs []testcase.Input) string {
	if d, known := interp.ByName(string(kind)); known && len(inputs) > 0 {
		if w, err := writerOf(d); err == nil {
			if code, _, err := w.pieces(inputs[0], " in full"); err == nil {
				return code
			}
		}
	}
	return ""
}

// importRule says how a module is loaded by which the source code of a shape names things.
const importRule = "import"

// Imports are the lines that have to stand before the source code of shapes, in the words of the language of kind; none where it has no such rule.
func Imports(kind testcase.TargetKind, inputs []testcase.Input) (lines []string) {
	d, known := interp.ByName(string(kind))
	if !known {
		return nil
	}
	w, err := writerOf(d)
	if err != nil {
		return nil
	}
	for _, in := range inputs {
		for _, p := range in.Code {
			if p.Name == nil || p.Name.Module == "" {
				continue
			}
			if line, err := w.apply(importRule, p.Name.Module); err == nil && !slices.Contains(lines, line) {
				lines = append(lines, line)
			}
		}
	}
	return lines
}
