# Everything a developer types. `make check` is the whole gate.
.PHONY: symchef test check bench fmt conformance

symchef:
	CGO_ENABLED=0 go build -o symchef ./cmd/symchef

test: symchef
	go test ./...

check: symchef
	@test -z "$$(gofmt -l cmd internal guest *.go)" || { gofmt -l cmd internal guest *.go; exit 1; }
	go vet ./...
	go run honnef.co/go/tools/cmd/staticcheck@2026.1 ./... || go run honnef.co/go/tools/cmd/staticcheck@latest ./...
	go test ./...
	git diff --exit-code

bench: symchef
	go test -run '^$$' -bench . -benchtime 1x ./internal/bench/...

conformance: symchef
	go test -timeout 60m ./internal/conformance -long
