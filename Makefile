# msgpath: what can be made. "make help" lists it.

.DEFAULT_GOAL := help
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
MAKEFLAGS += --no-print-directory

module := github.com/msgpath/msgpath
tag := msgpathcounters
# Each set of build tags is vetted; those in "builds" are tested too. "none" is
# the production build.
builds := none $(tag)
tagsets := $(builds) $(if $(wildcard internal/crashpoint),crashpoints)
tags = $(filter-out none,$(1))

commit := $(shell git rev-parse HEAD 2>/dev/null || echo unknown)$(if $(shell git status --porcelain 2>/dev/null),+dirty)
branch := $(shell git rev-parse --abbrev-ref HEAD 2>/dev/null || echo unknown)
# What was tested or proved: the commit and the content of all files of the tree.
state := { git rev-parse HEAD; git ls-files -co --exclude-standard -z | xargs -0 sha256sum; } | sha256sum
ldflags := -X $(module)/bench.commit=$(commit) -X $(module)/bench.branch=$(branch)

tool := go tool -modfile=tools/go.mod
budgets := $(sort $(wildcard bench/budgets/*.yaml))
comparisons := 1000
fuzzdecoders := 60s
fuzztime := 10s

.PHONY: help
help: ## list what can be made
	@awk -F':.*## ' '/^[a-z-]+:.*## / { printf "%-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: need-go need-gcc
need-go:
	@command -v go >/dev/null || { echo "make: Go is missing: install Go 1.26 or later (https://go.dev/dl)" >&2; exit 1; }
need-gcc:
	@command -v $$(go env CC) >/dev/null || { echo "make: the race detector needs a C compiler: install gcc" >&2; exit 1; }
	@echo '#include <stdlib.h>' | $$(go env CC) -E - >/dev/null 2>&1 || { echo "make: the race detector needs the C library's headers: install libc6-dev" >&2; exit 1; }

.PHONY: bench-msgpath
bench-msgpath: build ## run the benchmark over all paths, judge it, report; results go to out/
	@status=0; bin/msgpath bench all --out out || status=$$?; \
	if [ $$status -gt 1 ]; then exit $$status; fi; \
	echo; bin/msgpath gate $(addprefix --budget=,$(budgets)) out/bench.json || true; \
	bin/msgpath report $(addprefix --budget=,$(budgets)) out/bench.json -o out/report.html # its exit code is the worst of all

BASE ?=
.PHONY: bench-msgpath-diff
bench-msgpath-diff: build ## run this commit and BASE=<ref> by turns and print what differs
	@test -n "$(BASE)" || { echo "make: say with what to compare: make bench-msgpath-diff BASE=<commit, branch or tag>" >&2; exit 2; }
	bin/msgpath bench-diff $(BASE) --out out/diff

.PHONY: counts
counts: build ## count only, in a few seconds, and compare with msgpath.lock
	@bin/msgpath bench all --messages 100 --runs 1 --counts --out out/counts
	@bin/msgpath lock out/counts/bench.json --check msgpath.lock

.PHONY: lock
lock: build ## write msgpath.lock: the counts that the repository keeps
	@bin/msgpath bench all --messages 100 --runs 1 --counts --out out/counts > out/counts.txt
	@bin/msgpath lock out/counts/bench.json > out/msgpath.lock
	@mv out/msgpath.lock msgpath.lock; git --no-pager diff --stat -- msgpath.lock

# fill puts a file, up to its first empty line, between the marks of a name in
# README.md.
fill = awk -v name='$(1)' -v file='$(2)' '$$0 == "<!-- " name " -->" { print; print "```"; \
	  while ((getline line < file) > 0 && line != "") print line; print "```"; skip = 1; next } \
	  $$0 == "<!-- /" name " -->" { skip = 0 } !skip' README.md > out/README.md && mv out/README.md README.md

.PHONY: bench-limits
bench-limits: build ## measure how near transport, disk and hash the message path comes; about 25 minutes
	@status=0; bin/msgpath bench-limits --out out/limits || status=$$?; \
	if [ $$status -gt 1 ]; then exit $$status; fi; \
	cd bench/peers && go build -tags=$(tag) -o ../../bin/peers ./cmd/peers && cd ../.. && \
	bin/peers --out out/limits/peers.json --dir out/limits; exit $$status

.PHONY: bench-scale
bench-scale: build ## measure how cost grows with messages, sizes, window, topics, peers, cores and rows
	bin/msgpath bench-scale --out out/scale

.PHONY: bench-transport
bench-transport: build ## measure what options of transport and gossipsub bring
	@mkdir -p out && bin/msgpath bench-transport --out out/transport.json

# What needs PostgreSQL has a private server, where it is installed.
.PHONY: benchmarks
benchmarks: build ## measure archives, store-sync, recovery and light peers; write docs/benchmarks; about 15 minutes
	@mkdir -p docs/benchmarks
	.ci/with-postgres bash -c 'bin/msgpath bench archive --archive="memory,sqlite::memory:,sqlite:FILE,$$MSGPATH_POSTGRES" --out docs/benchmarks'
	bin/msgpath bench sync --out docs/benchmarks
	bin/msgpath bench recover --out docs/benchmarks
	bin/msgpath bench filter --out docs/benchmarks

.PHONY: performance
performance: build ## write docs/performance.md from make bench-limits, bench-scale and bench-transport
	@mkdir -p docs/img
	bin/msgpath performance out/limits/limits.json --peers out/limits/peers.json --scale out/scale/scale.json \
	  --transport out/transport.json --plots docs/img --link img > out/performance.md
	mv out/performance.md docs/performance.md

.PHONY: baseline
baseline: build ## run the benchmark; write docs/baseline.md and the output in README.md from it
	@test -z "$$(git status --porcelain 2>/dev/null)" || echo "make: the tree has uncommitted changes: the document will say so" >&2
	bin/msgpath bench all --out out | tee out/output.txt || test $$? = 1 # the old document may tell of other counts
	@bin/msgpath gate --budget=bench/budgets/counts.yaml out/bench.json > out/counts.txt || { cat out/counts.txt; exit 1; }
	bin/msgpath report out/bench.json -o out/report.html --svg out/plots
	mkdir -p docs/img && cp out/plots/counts.svg out/plots/throughput.svg docs/img/
	bin/msgpath baseline out/bench.json --plots img --filter docs/benchmarks/filter.json > out/baseline.md
	mv out/baseline.md docs/baseline.md
	@$(call fill,output,out/output.txt)

# The archive works for itself instead of asking the Envelope it was handed.
.PHONY: examples
examples: build ## record docs/examples anew: this project before and after a change that costs a hash
	@mkdir -p out/examples
	@sed 's/env.Key(siteArchive)/env.Fresh().Key(siteArchive)/' archive/archive.go > out/examples/archive.txt
	@! cmp -s archive/archive.go out/examples/archive.txt || { echo "make: archive/archive.go has no line to change" >&2; exit 1; }
	@printf '{"Replace":{"%s":"%s"}}' $(CURDIR)/archive/archive.go $(CURDIR)/out/examples/archive.txt > out/examples/overlay.json
	@go build -tags=$(tag) -overlay=out/examples/overlay.json -ldflags='-X $(module)/bench.commit=$(firstword $(subst +, ,$(commit)))+dirty' -o out/examples/msgpath ./cmd/msgpath
	bin/msgpath bench all --messages 100 --runs 1 --counts --out out/examples/before
	out/examples/msgpath bench all --messages 100 --runs 1 --counts --out out/examples/after || test $$? = 1
	cp out/examples/before/bench.json docs/examples/before.json
	cp out/examples/after/bench.json docs/examples/after.json
	go test ./cmd/msgpath -run Readme -update

.PHONY: build
build: need-go ## build bin/msgpath, which counts, and bin/relaynode, which does not
	@test -x bin/msgpath || echo "compiling libp2p, about two minutes"
	@mkdir -p bin
	@go build -tags=$(tag) -ldflags='$(ldflags)' -o bin/msgpath ./cmd/msgpath
	@go build -ldflags='-X main.commit=$(commit)' -o bin/relaynode ./cmd/relaynode

# Packages that start no goroutine of their own: the race detector has little to watch
# there. (Tests of provezero and commits start some, and selftest what ./bench tests.)
still = ./bench/budgets ./internal/commits ./internal/lint ./internal/provezero/... ./internal/selftest \
  ./storesync/negentropy ./verdict/...
# Packages of which the race detector watches only the build that counts. All others
# it watches in both: a counter is an atomic, and what is atomic can hide a race.
slow = ./archive/postgres ./archive/sqlite ./bench ./cmd/msgpath ./cmd/relaynode ./internal/postgrestest

# At its exit a program under the race detector would sleep for a second, in case that
# a goroutine is left. static vets.
.PHONY: test
test: need-go need-gcc ## test both builds, with the race detector where there is something to race
	@test -x bin/testsummary || echo "compiling libp2p for both builds with the race detector, about five minutes"
	@mkdir -p bin out; rm -f out/tests.*
	@cd tools && go build -o ../bin/testsummary ./testsummary
	@( export GORACE=atexit_sleep_ms=0; \
	status=0; \
	for t in $(builds); do \
	  tags=$${t#none}; quiet="$(still) ./cmd/msgpath"; \
	  if [ -z "$$tags" ]; then quiet="$(still) $(slow)"; fi; \
	  for dir in . counters bench/peers; do \
	    packages=./...; but=; \
	    if [ $$dir = . ]; then \
	      if [ -z "$$tags" ]; then but="$$quiet"; else but="$(still)"; fi; \
	      packages="$$(go list -tags=$$tags ./... | grep -vxFf <(go list -tags=$$tags $$but))"; \
	    fi; \
	    echo "# $$dir: go test -race -shuffle=on -tags=$$tags ./...$${but:+, without $$but}" >&2; \
	    (cd $$dir && go test -json -vet=off -race -shuffle=on -timeout=9m -tags=$$tags $$packages) || status=1; \
	  done; \
	  echo "# what needs no race detector, or takes long with it: go test -shuffle=on -tags=$$tags $$quiet" >&2; \
	  go test -json -vet=off -shuffle=on -timeout=9m -tags=$$tags $$quiet || status=1; \
	  echo "# allocations, which the race detector changes: go test -run=Alloc -tags=$$tags ./message ./relay" >&2; \
	  go test -json -vet=off -run=Alloc -tags=$$tags ./message ./relay || status=1; \
	done; \
	(cd tools && go test -json ./...) || status=1; \
	exit $$status ) | bin/testsummary -o out/tests.txt
	@$(state) > out/tests.ok

.PHONY: check
check: need-go ## make test and everything else that must hold before a commit
	@status=0; $(MAKE) test || status=1; $(MAKE) check-rest || status=1; exit $$status

.PHONY: check-rest
check-rest: need-go ## make check without the tests, whose last result it records
	@status=0; \
	for goal in static vet prove-zero record fuzz counts selftest example; do $(MAKE) $$goal || status=1; done; \
	exit $$status

.PHONY: static
static: need-go ## vet, staticcheck, gofumpt and the house rules
	@for t in $(tagsets); do \
	  for dir in . counters bench/peers; do \
	    echo "# $$dir: vet, staticcheck -tags=$${t#none}"; \
	    (cd $$dir && go vet -tags=$${t#none} ./... && \
	     go tool -modfile=$(CURDIR)/tools/go.mod staticcheck -tags=$${t#none} ./...); \
	  done; \
	done
	@cd tools && go vet ./... && go tool staticcheck ./...
	@echo "# bench/archives: vet"; cd bench/archives && go vet ./...
	@$(tool) gofumpt -l . | awk '{ print "not formatted (make fmt): " $$0; bad = 1 } END { exit bad }'
	@for t in $(builds); do go test -tags=$${t#none} ./internal/lint; done

.PHONY: vet
vet: build ## look for work on messages that no counter covers
	bin/msgpath vet ./...

.PHONY: selftest
selftest: build ## show that the gate can fail: mutants, and runs compared with their like
	@mkdir -p out; rm -f out/selftest.txt
	bin/msgpath gate --selftest --comparisons $(comparisons) | tee out/selftest.txt

.PHONY: selftest-readme
selftest-readme: selftest ## make selftest, and show its result in README.md
	@$(call fill,selftest,out/selftest.txt)

.PHONY: prove-zero
prove-zero: build ## prove that production builds carry no counters
	@mkdir -p out; rm -f out/prove-zero.*
	bin/msgpath prove-zero --sites internal/lint/sites.txt --summary out/prove-zero.txt
	@$(state) > out/prove-zero.ok

.PHONY: overhead
overhead: build ## measure what counting costs in CPU time, about four minutes
	bin/msgpath prove-zero overhead

.PHONY: example
example: build ## check examples/echo-relay, a relay of another project, as its own CI would
	@cd examples/echo-relay; \
	for t in $(builds); do \
	  echo "# examples/echo-relay: vet and test -tags=$${t#none}"; \
	  go vet -tags=$${t#none} ./...; \
	  go test -tags=$${t#none} ./...; \
	done
	cd examples/echo-relay && go build -o out/ ./cmd/echo-relay && go build -tags=$(tag) -o out/ ./cmd/echo-measure
	cd examples/echo-relay && out/echo-measure -out out/base.json && out/echo-measure -out out/echo.json
	cd examples/echo-relay && $(CURDIR)/bin/msgpath gate --budget budget.yaml out/echo.json
	cd examples/echo-relay && $(CURDIR)/bin/msgpath diff out/base.json out/echo.json > out/diff.txt || { cat out/diff.txt; exit 1; }; head -n 2 out/diff.txt
	cd examples/echo-relay && $(CURDIR)/bin/msgpath prove-zero ./cmd/echo-relay
	cd examples/echo-relay && $(CURDIR)/bin/msgpath vet ./...

# What the benchmark's acceptance table quotes.
.PHONY: record
record:
	@test -s out/tests.txt && test -s out/prove-zero.txt || { echo "make: nothing to record: run make test and make prove-zero" >&2; exit 1; }
	@now="$$($(state))"; for f in out/tests.ok out/prove-zero.ok; do \
	  if [ -e $$f ] && [ "$$(cat $$f)" != "$$now" ]; then echo "make: $$f is of another state of the tree: run make check" >&2; exit 1; fi; \
	done
	@printf '{"commit":"%s","testsPassed":%s,"tests":"%s","productionPassed":%s,"production":"%s"}\n' \
	  '$(commit)' "$$(test -e out/tests.ok && echo true || echo false)" "$$(cat out/tests.txt)" \
	  "$$(test -e out/prove-zero.ok && echo true || echo false)" "$$(cat out/prove-zero.txt)" > out/check.json.new
	@mv out/check.json.new out/check.json
	@cat out/check.json

.PHONY: fuzz
fuzz: need-go ## fuzz each fuzz test for a short while
	@mkdir -p out; go test -list '^Fuzz' ./... | awk '/^Fuzz/ { names[++n] = $$1 } /^ok/ { for (i = 1; i <= n; i++) print names[i], $$2; n = 0 }' > out/fuzz.txt
	@test -s out/fuzz.txt || { echo "make: no fuzz test found" >&2; exit 4; }
	@while read -r name package; do \
	  time=$(fuzztime); if [ "$$name" = FuzzDecoders ]; then time=$(fuzzdecoders); fi; \
	  echo "# go test -fuzz=$$name -fuzztime=$$time $$package"; \
	  .ci/fuzz "$$name" "$$package" "$$time"; \
	done < out/fuzz.txt

.PHONY: vuln
vuln: need-go ## look for known vulnerabilities; .ci/vuln exits 4 where it could not
	@.ci/vuln

.PHONY: fmt
fmt: need-go ## format the source
	$(tool) gofumpt -w .

.PHONY: generate
generate: need-go ## generate code from message/pb/*.proto
	@command -v protoc >/dev/null || { echo "make: protoc is missing: install protobuf-compiler" >&2; exit 1; }
	@mkdir -p bin
	cd tools && go build -o ../bin/protoc-gen-go google.golang.org/protobuf/cmd/protoc-gen-go
	protoc --plugin=protoc-gen-go=bin/protoc-gen-go --go_out=. --go_opt=paths=source_relative message/pb/*.proto

.PHONY: clean
clean: ## remove what was built and measured
	rm -rf bin out
