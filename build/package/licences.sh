#!/usr/bin/env bash
# Prints the licences of everything that is linked into the two programs or embedded with the page: licences.sh TAGS
# Reads the module cache and frontend/node_modules, so both have to be there; asks no network.
set -euo pipefail
shopt -s nocaseglob nullglob
cd "$(dirname "$0")/../.."
tags=$1

# licence NAME FOLDER prints what its authors ask to be passed on.
licence() {
	local name=$1 folder=$2 file found=
	for file in "$folder"/{licen[cs]e,copying,notice}* "$folder"/dist/licen[cs]e*; do
		[[ -f $file ]] || continue
		printf '\n%s\n%s (%s)\n%s\n\n' "$line" "$name" "${file##*/}" "$line"
		cat "$file"
		found=yes
	done
	if [[ -z $found ]]; then
		local says
		says=$(declared "$folder")
		printf '\n%s\n%s\n%s\n\nIts package holds no licence file, and says: %s\n' "$line" "$name" "$line" "$says"
	fi
}

declared() {
	node -p 'const p = require(process.argv[1]); [p.license, p.author?.name ?? p.author].filter(Boolean).join(", ")' "$1/package.json"
}

line=$(printf '=%.0s' {1..78})
echo "Oxios holds code and fonts of other authors. These are their licences."
licence "Go, its standard library and runtime" "$(go env GOROOT)"
{
	CGO_ENABLED=0 go list -deps -f '{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Dir}}{{end}}{{end}}' .
	go list -deps -tags "$tags" -f '{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Dir}}{{end}}{{end}}' .
} | sort -u | while read -r path version folder; do
	licence "$path $version" "$folder"
done
npm --prefix frontend ls --omit=dev --all --parseable | tail -n +2 | sort -u | while read -r folder; do
	licence "${folder##*/node_modules/}" "$folder"
done
