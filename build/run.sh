#!/usr/bin/env bash
# Opens what was built: the window where there is a display, else the served page, whose address it prints.
set -euo pipefail
cd "$(dirname "$0")/.."

if [[ -n ${DISPLAY:-}${WAYLAND_DISPLAY:-} ]]; then
	exec bin/oxios-desktop "$@"
fi
echo "There is no display here, so Oxios serves its page instead. Open the address below in a browser; Ctrl C ends it."
exec bin/oxios serve "$@"
