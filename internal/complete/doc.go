// Package complete holds no code but tests: completeness by brute force. Small programs
// are explored with all paths, and then for every value of their inputs exactly one path
// condition holds, and the path's outcome and output are those of the native run on it.
//
//	go test ./internal/complete                          # all programs
//	go test ./internal/complete -only re_                # some of them
//
// Programs stand in testdata, in a folder for each language. The files of
// testdata/bombs are the ideas of the public collection of logic bombs; which are solved
// stands in docs/logic-bombs.md.
package complete
