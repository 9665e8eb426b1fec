#!/usr/bin/env bash
# Makes home.tar.gz: a home as an earlier release left it, with a request that
# waits, a grant, labels, undo marks, a cache and a conversation in which a secret
# was masked. Run it with the binary of that release:
#
#   CGO_ENABLED=0 go build -o /tmp/oxios . && kernel/testdata/release/make.sh /tmp/oxios
#
# What it records names its folder by its whole path, so that lies at a fixed one.
set -euo pipefail
oxios=$(realpath "$1")
here=$(realpath "$(dirname "$0")")
at=/tmp/oxios-home-of-a-release
mkdir "$at" "$at/folder" "$at/home"
trap 'kill $(jobs -p) 2>/dev/null || true; wait; rm -rf "$at"' EXIT
printf 'keyring = false\nfolder = "%s/folder"\naudit_witness = "%s/witness.jsonl"\n' "$at" "$at" > "$at/home/config.toml"
printf 'host: db.example\npassword: s7-Kd82-hwqP-01\n' > "$at/folder/settings.yaml"
printf 'Quarterly report. All is well.\n' > "$at/report.txt"
printf 'echo built > out.txt\n' > "$at/folder/build.sh"
run() { "${as[@]}" "$@"; }
port=$((20000 + RANDOM % 20000))
url="http://127.0.0.1:$port/v1"
as=(env -i PATH=/usr/local/bin:/usr/bin:/bin HOME="$at" OXIOS_HOME="$at/home" OXIOS_BASE_URL="$url" OXIOS_API_KEY=test-key-0123456789 OXIOS_MODEL=oxios-demo "$oxios")
env -i HOME="$at" "$oxios" demo --script "$here/script.toml" --addr "127.0.0.1:$port" >/dev/null 2>&1 &
cd "$at/folder"
until (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do sleep 0.1; done
run run --trust --mode guarded 'write the notes'
run run --mode guarded 'read the settings'
run run --mode guarded --attach "$at/report.txt" 'keep the report'
"${as[@]}" serve >/dev/null 2>&1 & # not through the function: its end is waited for
server=$!
until run ps >/dev/null 2>&1 && [ -S "$at/home/run/oxios.sock" ]; do sleep 0.1; done
waiting() { until run approvals list --json | grep -q '"id"'; do sleep 0.1; done; run approvals list --json | grep -o '"id":"[^"]*"' | head -1 | cut -d'"' -f4; }
run run --background --mode guarded 'ask for the first command' >/dev/null
run approvals approve "$(waiting)" --grant 30d >/dev/null
until [ -d sub ]; do sleep 0.1; done
run run --background --mode ask 'ask for the build' >/dev/null
waiting >/dev/null
mkdir -p "$at/home/cache/go-build/aa"
printf 'old' > "$at/home/cache/go-build/aa/shared"
kill "$server"
wait "$server" || true
rm -rf "$at/home/logs" "$at/home/run"
tar -C /tmp -cf - oxios-home-of-a-release | gzip -9n > "$here/home.tar.gz"
