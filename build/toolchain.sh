#!/usr/bin/env bash
# Says in one sentence what is missing before a build fails in fifty: Go, Node and git, and versions that are new enough.
set -euo pipefail
cd "$(dirname "$0")/.."

failed=0
complain() {
	echo "$*" >&2
	failed=1
}

if ! command -v go >/dev/null; then
	complain "Oxios needs Go 1.26 or newer, and there is none in PATH. See https://go.dev/doc/install"
else
	# An older Go may fetch the right one by itself; only what it ends up with counts.
	version=$(go env GOVERSION 2>&1 || true)
	if [[ ! $version =~ ^go([0-9]+)\.([0-9]+) ]] || ((BASH_REMATCH[1] == 1 && BASH_REMATCH[2] < 26)); then
		complain "Oxios needs Go 1.26 or newer; $(command -v go) says: $version"
	fi
fi

if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
	complain "Oxios needs Node 20 or newer with npm, and it is not in PATH. See https://nodejs.org"
else
	version=$(node --version)
	major=${version#v}
	major=${major%%.*}
	if ((major < 20)); then
		complain "Oxios needs Node 20 or newer; $(command -v node) is $version"
	fi
fi

if ! command -v git >/dev/null; then
	complain "Oxios needs git, and it is not in PATH: apt-get install git"
fi

exit "$failed"
