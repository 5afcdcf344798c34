# Everything a developer types. `make check` is the whole gate.
.PHONY: symchef test check lint fmt bench bench-merge bench-solver bench-search conformance cpu-check kernel-check fuzz mutate reliability picture soak roots distributions slow

symchef:
	CGO_ENABLED=0 go build -o symchef ./cmd/symchef

# The two packages that take longest go first, side by side.
test: SHELL := /bin/bash
test: .SHELLFLAGS := -o pipefail -c
test: symchef
	go test -json -timeout 60m ./internal/session ./cmd/symchef ./... | go run ./internal/testreport

# The tests with all that they leave out for its time; an hour and more.
slow: symchef
	SYMCHEF_SLOW=1 go test -timeout 0 ./internal/session ./cmd/symchef ./...

check: lint test
	@! git rev-parse --git-dir >/dev/null 2>&1 || git diff --exit-code

lint:
	@files=$$(gofmt -l cmd internal languages ./*.go); test -z "$$files" || { echo "gofmt: $$files"; exit 1; }
	go vet ./...
	@bin=$$(mktemp -d) && trap 'rm -rf '$$bin EXIT && if GOBIN=$$bin go install honnef.co/go/tools/cmd/staticcheck@v0.7.0; then $$bin/staticcheck ./...; else echo "skipped: staticcheck cannot be fetched"; fi

fmt:
	gofmt -w .

bench: symchef
	go test -run '^$$' -bench 'Concrete|Start$$|Fork$$' -benchtime 1x ./internal/bench/...
	go test -run '^$$' -bench 'ForkAndRun|ForkSize' ./internal/bench/...
	go test -run '^$$' -bench Trace -benchtime 5x ./internal/bench
	for g in granule256 granule4k; do \
		go test -run '^$$' -bench 'Fork$$' -benchtime 1x -tags $$g ./internal/bench/... && \
		go test -run '^$$' -bench ForkAndRun -tags $$g ./internal/bench/... || exit 1; done

# Programs with and without merging, to docs/merging.md.
bench-merge:
	go test -run '^$$' -bench Merge -benchtime 1x -timeout 0 ./internal/bench -args -update

# The queries of fixed targets, recorded on the first run: the solver chain against z3 and cvc5.
bench-solver:
	go test -run '^$$' -bench Solver -benchtime 1x -timeout 0 ./internal/bench

# Search strategies and models on ten libraries; a day. It may be interrupted: the runs in docs/search.jsonl are not repeated (remove it where
# the engine's tree has changed). BUDGET (instructions), SEEDS and RUNTIME make it shorter, ATONCE runs need MEMORY each, and take three
# times as long with 4G.
ATONCE ?= 2
MEMORY ?= 9G
BUDGET ?= 5000000000
SEEDS ?= 5
RUNTIME ?= 30m
bench-search:
	go test -run '^$$' -bench Search -benchtime 1x -timeout 0 ./internal/bench -args -budget $(BUDGET) -seeds $(SEEDS) -run-time $(RUNTIME) -at-once $(ATONCE) -memory $(MEMORY) -results ../../docs/search.jsonl -update

# 50 random faults in rewrite rules and instruction semantics: the tests have to find them, or a solver proves that they change nothing.
mutate:
	go run ./internal/mutate -n 50

# Explorations with limits of memory, one after the other, watched from outside; SOAK is how long in all.
SOAK ?= 1h
soak:
	SYMCHEF_SOAK=$(SOAK) go test -run TestSoak -v -timeout 0 ./cmd/symchef

# The picture of README, the text of a run on a Debian package: docs/finding.svg.
picture:
	go test ./cmd/symchef -run TestPicture -update

conformance: symchef
	go test -timeout 60m ./internal/conformance -long
	go test -timeout 0 ./internal/conformance/cpython -long -update
	sh internal/conformance/upstream/fetch.sh $${XDG_CACHE_HOME:-$$HOME/.cache}/symchef-sources
	go test -timeout 0 ./internal/conformance/upstream -long -update

# Every instruction form on 2,000,000 states against the processor; about an hour. SYMCHEF_SEED, as the log has it, and SYMCHEF_FIRST (the
# rounds that are done) go on with a run that was interrupted.
cpu-check:
	SYMCHEF_SEED=$${SYMCHEF_SEED:-random} SYMCHEF_ROUNDS=100 go test -timeout 0 -run TestForms -v ./internal/cpucheck

# 1,000,000 random programs of system calls in the machine and on Linux, in a sandbox. SYMCHEF_SEED, as the log has it, and SYMCHEF_FIRST (the
# programs that are done) go on with a run that was interrupted.
kernel-check:
	SYMCHEF_SEED=$${SYMCHEF_SEED:-random} SYMCHEF_PROGRAMS=$${SYMCHEF_PROGRAMS:-1000000} SYMCHEF_FAILURES=20 nice -n 19 go test -timeout 0 -run 'TestPrograms$$' -v ./internal/kernel/programs

# Every parser of bytes that may be hostile, FUZZTIME each.
FUZZTIME ?= 10m
fuzz:
	@grep -ro --include=*_test.go '^func Fuzz[A-Za-z]*' cmd internal | sed 's,/[^/]*:func , ,' | sort | while read dir name; do \
		echo "$$dir $$name"; go test ./$$dir -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 1s -parallel 1 || exit 1; done

# Every command of docs/reliability.md, long versions of tests included, on fresh seeds.
reliability: symchef
	@grep -o '`go test [^`]*`' docs/reliability.md | tr -d '`' | sed 's/\\|/|/g' | sort -u | while read -r c; do echo "$$c"; SYMCHEF_SLOW=1 SYMCHEF_SEED=$${SYMCHEF_SEED:-random} sh -c "$$c" || exit 1; done

# Roots of Debian 11, 12 and 13 in the cache folder, to try other versions of interpreters in; in that of Debian 12 a Lua with musl, too.
ROOTS ?= $${XDG_CACHE_HOME:-$$HOME/.cache}/symchef-distributions
roots:
	sh internal/distributions/roots.sh $(ROOTS)
	sh internal/distributions/musl.sh $(ROOTS)/debian-12

# Every interpreter of these roots: doctor, calibration, models, conformance scripts, examples, random tests, to docs/distributions.md; an hour or two.
# ROWS='debian-13 R' measures some rows alone.
ROWS ?= .
distributions: symchef roots
	go test -timeout 0 -v -run TestDistributions ./internal/distributions -args -roots $(ROOTS) -rows '$(ROWS)' -update
