#!/usr/bin/env bash
# Makes the installer for Windows, from Linux: windows.sh VERSION OUT
#   VERSION   what `git describe` says
#   OUT       the file to write; its name is free
# What comes out was never run on Windows. It needs makensis (apt: nsis) and a built page in frontend/dist.
set -euo pipefail
cd "$(dirname "$0")/../.."

if (($# != 2)); then
	sed -n '2,5s/^# //p' "$0" >&2
	exit 2
fi
version=$1 out=$(realpath --canonicalize-missing "$2")
# Windows wants four numbers; before the first tag they are 0.0.0.0.
[[ $version =~ ^v?([0-9]+)\.([0-9]+)\.([0-9]+) ]] && numbers="${BASH_REMATCH[1]}.${BASH_REMATCH[2]}.${BASH_REMATCH[3]}.0" || numbers=0.0.0.0

scratch=$(mktemp -d)
resources=rsrc # a name that is ignored by git, and by every build that is not for Windows
trap 'rm -rf "$scratch" "$resources"_windows_amd64.syso' EXIT

# build NAME KIND FLAGS... links one program with its icon and manifest; KIND is cli or gui.
build() {
	local name=$1 kind=$2
	shift 2
	go tool -modfile=build/tools/go.mod go-winres simply --arch amd64 --out "$resources" --manifest "$kind" --icon build/windows/icon.ico \
		--product-name Oxios --product-version "$numbers" --file-version "$numbers" --file-description Oxios --copyright "2026 Oxios authors" --original-filename "$name.exe"
	GOOS=windows GOARCH=amd64 CGO_ENABLED=0 go build -trimpath "$@" -o "$scratch/$name.exe" .
}
build oxios cli -ldflags "-s -w -X main.version=$version"
build oxios-desktop gui -tags desktop,production -ldflags "-s -w -H windowsgui -X main.version=$version"
GOOS=windows CGO_ENABLED=0 build/package/licences.sh desktop,production >"$scratch/third-party.txt"

mkdir -p "$(dirname "$out")"
makensis -V2 -WX "-DVERSION=$version" "-DNUMBERS=$numbers" "-DPROGRAMS=$scratch" "-DICON=$PWD/build/windows/icon.ico" "-DLICENCES=$scratch/third-party.txt" "-DOUT=$out" \
	build/package/installer.nsi
echo "$out: Oxios $version for Windows, $(stat --format=%s "$out" | numfmt --to=si --suffix=B). It has not been tested on Windows."
