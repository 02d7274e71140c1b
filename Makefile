# Needs Go, make, git and, for e2e, npm. `make` alone lists the targets.

GO ?= go
# The race detector needs a C compiler; without one the tests run all the same.
RACE = $(if $(filter 1,$(shell $(GO) env CGO_ENABLED)),-race)
VERSION = $(shell git describe --tags --always --dirty 2>/dev/null)
BUILD = -trimpath $(if $(VERSION),-ldflags '-X main.version=$(VERSION)')
# Else every program under the race detector takes a second to exit.
export GORACE = atexit_sleep_ms=0

.PHONY: help build demo test night crash e2e check bench score install clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9]+:.*## / {printf "make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# Without cgo a process starts in two thirds of the time, which counts where
# the client starts one before every tool call.
build: ## build bin/loop, and bin/loop-hook for the client's prompt
	CGO_ENABLED=0 $(GO) build $(BUILD) -o bin/ ./cmd/loop ./cmd/loop-hook

demo: build ## a whole night in a temporary repository, offline, in seconds
	./bin/loop demo

test: ## every test that needs no download
	$(GO) test $(RACE) -shuffle=on -timeout 30m ./...

night: ## a simulated night of 25 stories in which everything goes wrong
	$(GO) test ./cmd/loop -run TestANightInWhichEverythingGoesWrong -count=1 -v

crash: ## kill loop at every one of its writes, and start it again
	LOOP_EVERY=1 $(GO) test ./cmd/loop -run TestKilled -count=1 -timeout 90m

e2e: ## tests with the real client, which is installed into a cache first
	client=$$(./internal/e2e/client.sh) && \
	LOOP_E2E_CLAUDE=$$client $(GO) test -tags e2e -count=1 -parallel 4 -timeout 15m ./internal/e2e

check: ## formatting, go.mod, fix, vet, and that the other platforms compile
	@out=$$(gofmt -l .) && test -z "$$out" || { echo "not gofmt-clean:"; echo "$$out"; exit 1; }
	$(GO) mod tidy -diff
	$(GO) fix -diff ./...
	$(GO) vet ./...
	$(GO) vet -tags e2e ./internal/e2e
	GOOS=darwin $(GO) build ./...
	GOOS=windows $(GO) build ./...

bench: ## benchmarks
	$(GO) test -run '^$$' -bench . -benchmem ./...

score: ## how well the rules read the corpus, by family
	$(GO) test ./policy -run TestCorpus -count=1 -v

install: ## install loop where go install puts programs
	CGO_ENABLED=0 $(GO) install $(BUILD) ./cmd/loop ./cmd/loop-hook

snapshot: ## release archives in dist/, not published; needs goreleaser 2
	goreleaser release --snapshot --clean

clean: ## remove what the build made; the client's cache stays
	rm -rf bin
