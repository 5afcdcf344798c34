package high

import (
	"strconv"
	"strings"
	"unicode"
)

// printable is s in one line that is safe to show: what a terminal does not print as a character is escaped, as "\x1b". Texts of the program that is
// explored, its names and messages, would else move the cursor, or type.
func printable(s string) string {
	var b strings.Builder
	for _, r := range s {
		if q := strconv.QuoteRune(r); unicode.IsPrint(r) {
			b.WriteRune(r)
		} else {
			b.WriteString(q[1 : len(q)-1])
		}
	}
	return b.String()
}
