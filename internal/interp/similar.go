package interp

import (
	"slices"
	"strings"
)

// maxSimilar is how many edits a word may be away from one that is meant.
const maxSimilar = 2

// instead says what would be allowed in place of a word, and which of it is probably meant.
func instead(word string, allowed []string) string {
	best, least := "", maxSimilar+1
	for _, a := range allowed {
		if d := distance(word, a); d < least && d < max(len(a), len(word)) {
			best, least = a, d
		}
	}
	text := "there is " + listed(allowed)
	if best != "" {
		text = "did you mean " + best + "? " + text
	}
	return text
}

// listed is a sorted list for people.
func listed(words []string) string {
	all := slices.Compact(slices.Sorted(slices.Values(words)))
	if len(all) == 0 {
		return "none"
	}
	return strings.Join(all, ", ")
}

// distance is how many letters must be added, removed, changed or swapped with the next one to make b of a (restricted Damerau-Levenshtein).
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			change := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			rows[i][j] = min(change, rows[i-1][j]+1, rows[i][j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
