package hlpc

import (
	"testing"

	"symchef/internal/interp"
)

// FuzzLabel decodes line tables as guests may have them.
func FuzzLabel(f *testing.F) {
	f.Add([]byte{0x80, 0x00, 0xe9, 0x03, 0xf0, 2, 1, 1, 1, 0xff}, []byte("file"), []byte{1, 2})
	f.Add([]byte{1, 0x80, 3}, []byte{1, 0, 0, 0, 9, 0, 0, 0}, []byte{7})
	f.Fuzz(func(t *testing.T, lines, more, first []byte) {
		for format, parts := range map[string][]int{interp.LinesEntries: {3}, interp.LinesPairs: {3, 1}, interp.LinesDifferences: {3, 1}, interp.LinesWords: {3}, interp.LinesReferences: {3}} {
			l := labelOf(&interp.CodeRule{Objects: &interp.Structure{}, Label: interp.LabelRule{File: 1, Name: 1, Line: 2, Lines: parts, Format: format}}, [][]byte{more, first, lines})
			for at := range uint32(40) {
				l.At(at)
			}
		}
	})
}
