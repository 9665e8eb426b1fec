# Two commands do everything on a fresh Debian or Ubuntu with Go, Node and git: `make run` and `make test`.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-builtin-rules --no-print-directory
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
# The order below is the order of the work: one machine, two cores, and output that can be read.
.NOTPARALLEL:

VERSION := $(shell git -c safe.directory='*' describe --tags --always --dirty 2>/dev/null || echo unknown)
# The version comes from the line above; asking git again fails in a checkout that belongs to another user.
export GOFLAGS := $(strip $(GOFLAGS) -buildvcs=false)

TOOL := go tool -modfile=build/tools/go.mod
NPM := npm --prefix frontend
LDFLAGS := -s -w -X main.version=$(VERSION)
DESKTOP := desktop,production,webkit2_41
# A session bus and a screen of their own: the tests never touch the tray, the windows or the notifications of the person who runs them.
# The screen stays between two tests: one that begins anew when its last window closes throws out whoever comes in just then.
SCREEN := env --unset=WAYLAND_DISPLAY NO_AT_BRIDGE=1 dbus-run-session -- xvfb-run --auto-servernum --server-args='-screen 0 1600x1000x24 -noreset'
BINARIES := OXIOS_BIN=$(CURDIR)/bin/oxios OXIOS_DESKTOP_BIN=$(CURDIR)/bin/oxios-desktop OXIOS_DESKTOP_DEV_BIN=$(CURDIR)/bin/test/oxios-desktop-dev
BROWSER = OXIOS_CHROMIUM="$$(command -v chromium chromium-browser google-chrome google-chrome-stable | head -n 1)"

# The race detector watches our code. SQLite, translated from C, it would make fifteen times slower, and each process wait a second at its end.
RACE := GORACE=atexit_sleep_ms=0 go test -race -gcflags='modernc.org/...=-race=false -d=checkptr=0'

# The retrieval sets lie beside the project, if anywhere: their licences keep them out of it.
EVAL := $(or $(OXIOS_EVAL),$(wildcard $(CURDIR)/../shared/eval))

GENERATED_FROM := $(shell find kernel app/cli build/gen -name '*.go' 2>/dev/null)
FRONTEND_SOURCES := $(shell find frontend -type d \( -name node_modules -o -path frontend/dist -o -path frontend/wailsjs -o -path frontend/e2e -o -name test-results \) -prune \
	-o -type f \( -path 'frontend/src/*' -o -path 'frontend/public/*' -o -name 'vite.config.*' -o -name 'svelte.config.*' -o -name 'tsconfig*.json' -o -name index.html -o -name package.json \) -print 2>/dev/null)

.PHONY: help run test check format generate build package package-windows bench clean
help: ## This list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: build ## Build everything and open the app; without a display, serve its page
	@build/run.sh

build: toolchain packages-build generated frontend/dist/index.html bin/oxios bin/oxios-desktop ## bin/oxios (static) and bin/oxios-desktop

test: toolchain packages-test check build/conformance/node_modules/.installed frontend/dist/index.html bin/oxios bin/oxios-desktop bin/test/oxios-desktop-dev ## Every check and test, the real window included
	$(NPM) run test
	$(BINARIES) $(RACE) -skip '^TestA(Kill|Thousand)' -timeout 30m ./...
	OXIOS_WHOLE=1 go test -run '^TestA(Kill|Thousand)' -timeout 20m -count=1 ./kernel # all kills and all tasks, which the line above leaves to this one
	$(BINARIES) $(SCREEN) go test -tags $(DESKTOP) -timeout 10m ./app/...
	$(BINARIES) $(SCREEN) go test -tags desktoptest -timeout 10m -count=1 ./app/desktop/...
	$(BINARIES) $(SCREEN) go test -tags packagetest -timeout 10m -count=1 ./build/package
	$(BINARIES) $(BROWSER) $(SCREEN) $(NPM) run test:e2e

check: toolchain packages-check frontend/node_modules/.installed ## Fast: format, lint, import rules, generated code up to date
	$(TOOL) golangci-lint fmt --diff
	go run ./build/gen -check
	CGO_ENABLED=0 go test -run '^TestRepository' .
	CGO_ENABLED=0 $(TOOL) golangci-lint run
	$(TOOL) golangci-lint run --build-tags $(DESKTOP),desktoptest,packagetest . ./app/... ./build/...
	shellcheck .ci/run build/*.sh build/package/*.sh build/package/postrm
	cd frontend && npx --no-install prettier --check --log-level warn .
	$(NPM) run lint
	$(NPM) run check

format: frontend/node_modules/.installed ## Rewrite Go and front end in the one format
	$(TOOL) golangci-lint fmt
	cd frontend && npx --no-install prettier --write --log-level warn .

generate: ## Write anew what follows from the kernel's API and the commands
	go run ./build/gen

# What is handed out names no folder of the machine that built it, and the window, which shows what others wrote, is hard to aim at.
package: toolchain packages-build generated frontend/dist/index.html ## bin/oxios.deb, for Debian and Ubuntu
	CGO_ENABLED=0 go build -trimpath -ldflags '$(LDFLAGS)' -o bin/release/oxios .
	go build -trimpath -buildmode=pie -tags $(DESKTOP) -ldflags '$(LDFLAGS) -extldflags "-Wl,-z,relro,-z,now"' -o bin/release/oxios-desktop .
	build/package/deb.sh $(VERSION) bin/release bin/oxios.deb

package-windows: toolchain packages-windows generated frontend/dist/index.html ## bin/oxios-setup.exe, which nobody has tried on Windows yet
	build/package/windows.sh $(VERSION) bin/oxios-setup.exe

bench: toolchain packages-test frontend/dist/index.html bin/oxios bin/oxios-desktop ## Measure, each figure beside its peer or limit
	$(BINARIES) go test -run '^$$' -bench . -benchmem -timeout 60m ./...
	$(BINARIES) $(SCREEN) go test -tags desktoptest -run '^$$' -bench . -benchtime 1x -timeout 20m ./app/desktop
	$(BINARIES) $(BROWSER) $(NPM) run bench
	$(if $(EVAL),OXIOS_EVAL=$(EVAL) go test -run '^Test.*AreFoundBy' -count=1 -v ./kernel/retrieval,@echo 'How well memories and tools are found: not measured, as OXIOS_EVAL names no folder with retrieval sets.')

clean: ## Remove what make built or installed here
	rm -rf bin frontend/node_modules build/conformance/node_modules frontend/wailsjs
	find frontend/dist -mindepth 1 ! -name .gitkeep -delete

# What the targets above stand on.

.PHONY: toolchain packages-build packages-check packages-test packages-windows generated
toolchain:
	@build/toolchain.sh

packages-build:
	@build/packages.sh build

packages-check:
	@build/packages.sh build check

packages-test:
	@build/packages.sh build check test package

packages-windows:
	@build/packages.sh windows

generated: bin/.generated

bin/.generated: $(GENERATED_FROM)
	go run ./build/gen
	@mkdir -p bin && touch $@

frontend/node_modules/.installed: frontend/package-lock.json
	$(NPM) ci --no-audit --no-fund
	@touch $@

# The Node that these tests need comes along: no script of a package is run.
build/conformance/node_modules/.installed: build/conformance/package-lock.json
	npm --prefix build/conformance ci --ignore-scripts --no-audit --no-fund
	@touch $@

frontend/dist/index.html: frontend/node_modules/.installed $(FRONTEND_SOURCES)
	$(NPM) run build
	@touch $@

# Go knows best whether a binary is up to date, so it is asked every time.
.PHONY: bin/oxios bin/oxios-desktop bin/test/oxios-desktop-dev
bin/oxios:
	CGO_ENABLED=0 go build -trimpath -ldflags '$(LDFLAGS)' -o $@ .

bin/oxios-desktop:
	go build -trimpath -tags $(DESKTOP) -ldflags '$(LDFLAGS)' -o $@ .

# For the end-to-end tests alone, and never shipped: its socket takes commands from any origin.
bin/test/oxios-desktop-dev:
	go build -tags desktop,dev,webkit2_41 -ldflags '$(LDFLAGS)' -o $@ .
