#!/usr/bin/env bash
# Installs the system packages that are missing, after saying which: packages.sh GROUP...
# Does nothing when all are there. Needs Debian or Ubuntu, and root or sudo when something is missing.
set -euo pipefail

wanted=()
for group in "$@"; do
	case $group in
	make) wanted+=(make) ;;
	build) wanted+=(build-essential pkg-config libgtk-3-dev libwebkit2gtk-4.1-dev libayatana-appindicator3-dev) ;;
	check) wanted+=(shellcheck) ;;
	# xauth is only recommended by xvfb, and xvfb-run does not start without it.
	# bubblewrap builds the walls around commands; without it the tests look at level 2.
	test) wanted+=(bubblewrap xvfb xauth dbus dbus-x11 webkit2gtk-driver chromium openbox xdotool wmctrl scrot ibus ibus-gtk3 ibus-hangul) ;;
	# What looks at the package and opens what it installs: gio, gtk-launch and xdg-open stand for a desktop, systemd for its service.
	package) wanted+=(lintian fakeroot desktop-file-utils appstream xdg-utils libglib2.0-bin libgtk-3-bin systemd) ;;
	windows) wanted+=(nsis) ;;
	*)
		echo "packages.sh: no group is called $group (make, build, check, test, package, windows)" >&2
		exit 2
		;;
	esac
done

if ! command -v dpkg-query apt-get >/dev/null; then
	echo "This is neither Debian nor Ubuntu: install what corresponds to ${wanted[*]}, if the build says that something is missing." >&2
	exit 0
fi

# missing prints those of its arguments that are not installed.
missing() {
	local installed
	# shellcheck disable=SC2016 # the braces are for dpkg-query
	installed=$(dpkg-query --show --showformat '${db:Status-Status} ${Package}\n' "$@" 2>/dev/null || true)
	local name
	for name in "$@"; do
		grep --quiet --line-regexp --fixed-strings "installed $name" <<<"$installed" || echo "$name"
	done
}

# A browser that is there already does as well as Debian's.
have_browser() { command -v chromium chromium-browser google-chrome google-chrome-stable >/dev/null; }

needed=()
for name in $(missing "${wanted[@]}"); do
	if [[ $name != chromium ]] || ! have_browser; then
		needed+=("$name")
	fi
done
if ((${#needed[@]} == 0)); then
	exit 0
fi

command=(env DEBIAN_FRONTEND=noninteractive apt-get)
if ((EUID != 0)); then
	if ! command -v sudo >/dev/null; then
		echo "Missing system packages: ${needed[*]}" >&2
		echo "There is no sudo here. As root, run: apt-get update && apt-get install --no-install-recommends ${needed[*]}" >&2
		exit 1
	fi
	# Without a terminal nobody can type a password.
	if [[ -t 0 ]]; then command=(sudo "${command[@]}"); else command=(sudo --non-interactive "${command[@]}"); fi
fi
options=(--yes --no-install-recommends -o Acquire::Retries=3 -o DPkg::Lock::Timeout=300)

echo "Installing missing system packages: ${needed[*]}"
"${command[@]}" update --quiet
# Ubuntu has no package named chromium, only its own name for it.
for i in "${!needed[@]}"; do
	if [[ ${needed[i]} == chromium && -z $(apt-cache madison chromium) ]]; then
		needed[i]=chromium-browser
	fi
done
"${command[@]}" install --quiet "${options[@]}" "${needed[@]}"
