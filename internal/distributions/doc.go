// Package distributions holds no code but tests: the interpreters of Debian releases, each in a root of its own.
//
//	make distributions                    # makes the roots, measures every row, writes docs/distributions.md
//
// roots.sh makes the roots, enter.sh runs a command in one. A row is an interpreter in a root; docs/distributions.jsonl has what was measured
// of each, and the document is written from that. programs_test.go makes the random tests.
//
//	go test ./internal/distributions -timeout 0 -args -roots DIR -rows 'debian-13' -update   # some rows again
package distributions
