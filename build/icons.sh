#!/usr/bin/env bash
# Draws every icon from its SVG source: the app icon for the window and the packages, and the tray icons that app/tray embeds.
# The results are committed, so that a build needs neither of the two programs: rsvg-convert (librsvg2-bin) and ImageMagick.
set -euo pipefail
cd "$(dirname "$0")"

magick=$(command -v magick || echo /usr/bin/convert)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# draw SOURCE SIZE TARGET writes one square PNG.
draw() {
	rsvg-convert --width "$2" --height "$2" --output "$3" "$1"
}

# ico SOURCE TARGET SIZE... writes one Windows icon that holds all the sizes.
ico() {
	local source=$1 target=$2 images=() size
	shift 2
	for size in "$@"; do
		draw "$source" "$size" "$scratch/$size.png"
		images+=("$scratch/$size.png")
	done
	"$magick" "${images[@]}" "$target"
}

draw appicon.svg 1024 appicon.png # the name and size that Wails expects
for size in 512 256 128 64 48 32; do
	mkdir -p "linux/icons/${size}x${size}"
	draw appicon.svg "$size" "linux/icons/${size}x${size}/oxios.png"
done
ico appicon.svg windows/icon.ico 256 128 64 48 32 16

tray=../app/tray/icons
mkdir -p "$tray"
for state in idle running waiting paused problem; do
	draw "icons/tray-$state.svg" 48 "$tray/$state.png"
	ico "icons/tray-$state.svg" "$tray/$state.ico" 48 32 24 20 16
done
