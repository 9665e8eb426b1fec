#!/usr/bin/env bash
# Makes the Debian package of two built programs: deb.sh VERSION PROGRAMS OUT
# Says only which version it would have: deb.sh --version VERSION
#   VERSION   what `git describe` says; it becomes one that dpkg can sort
#   PROGRAMS  the folder with oxios and oxios-desktop
#   OUT       the file to write; its name is free
# $COMPRESSION is a way of dpkg-deb, default xz. The same programs and the same commit give the same bytes.
set -euo pipefail
cd "$(dirname "$0")"
tags=desktop,production,webkit2_41

# commit FORMAT is the time of the commit that was built; without git, now.
commit() { git -c safe.directory='*' log -1 --date="format:$1" --format=%cd 2>/dev/null || date --utc "+$1"; }

# sortable DESCRIBED is a version of Debian: v1.2.3-rc1 comes before v1.2.3, v1.2.3-4-gabcdef after it, and a bare commit, of before the first tag, before all.
sortable() {
	local version=${1#v}
	case $version in
	[0-9]*-[0-9]*-g*) version=$(sed -E 's/^(.*)-([0-9]+)-g([0-9a-f]+)/\1+\2.\3/' <<<"$version") ;;
	[0-9]*.*) ;;
	*) version=0~git$(commit %Y%m%d%H%M%S).$version ;;
	esac
	version=${version//-dirty/+dirty}
	echo "${version//-/\~}"
}

if [[ ${1:-} == --version && $# == 2 ]]; then
	sortable "$2"
	exit
fi
if (($# != 3)); then
	sed -n '2,7s/^# //p' "$0" >&2
	exit 2
fi
programs=$(realpath "$2") out=$(realpath --canonicalize-missing "$3")
version=$(sortable "$1")
SOURCE_DATE_EPOCH=$(commit %s)
export SOURCE_DATE_EPOCH

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
chmod 755 "$root"
put() { install -D --mode="$1" "$2" "$root/$3"; }
# pack writes what it reads as a compressed file that holds no time.
pack() { install -d "$root/$(dirname "$1")" && gzip -9 --no-name >"$root/$1" && chmod 644 "$root/$1"; }

put 755 "$programs/oxios" usr/bin/oxios
put 755 "$programs/oxios-desktop" usr/bin/oxios-desktop
put 644 ../linux/oxios.desktop usr/share/applications/oxios.desktop
put 644 ../appicon.svg usr/share/icons/hicolor/scalable/apps/oxios.svg
for icon in ../linux/icons/*/oxios.png; do
	put 644 "$icon" "usr/share/icons/hicolor/$(basename "$(dirname "$icon")")/apps/oxios.png"
done
sed "s/@VERSION@/$version/; s/@DATE@/$(commit %Y-%m-%d)/" oxios.metainfo.xml |
	install -D --mode=644 /dev/stdin "$root/usr/share/metainfo/org.oxios.Oxios.metainfo.xml"
put 644 copyright usr/share/doc/oxios/copyright
./licences.sh "$tags" | pack usr/share/doc/oxios/third-party.txt.gz
printf 'oxios (%s) unstable; urgency=medium\n\n  * Built from %s.\n\n -- Oxios authors <authors@oxios.invalid>  %s\n' \
	"$version" "$1" "$(LC_ALL=C commit '%a, %d %b %Y %H:%M:%S %z')" | pack usr/share/doc/oxios/changelog.gz
put 644 lintian-overrides usr/share/lintian/overrides/oxios

# The page of man and the completions come from the commands themselves, on a home that nobody has.
oxios() { env --ignore-environment LANG=C.UTF-8 HOME=/nonexistent "$programs/oxios" "$@"; }
oxios manual | pack usr/share/man/man1/oxios.1.gz
ln -s oxios.1.gz "$root/usr/share/man/man1/oxios-desktop.1.gz"
oxios completion bash | install -D --mode=644 /dev/stdin "$root/usr/share/bash-completion/completions/oxios"
oxios completion zsh | install -D --mode=644 /dev/stdin "$root/usr/share/zsh/vendor-completions/_oxios"
oxios completion fish | install -D --mode=644 /dev/stdin "$root/usr/share/fish/vendor_completions.d/oxios.fish"

# dpkg-shlibdeps wants to be called from a source package.
mkdir "$root/debian"
printf 'Source: oxios\n\nPackage: oxios\nArchitecture: any\n' >"$root/debian/control"
libraries=$(cd "$root" && dpkg-shlibdeps -O -eusr/bin/oxios-desktop 2>/dev/null | sed -n 's/^shlibs:Depends=//p')
rm -r "$root/debian"
if [[ -z $libraries ]]; then
	echo "deb.sh: the libraries that oxios-desktop needs are not known here; are they installed by packages?" >&2
	exit 1
fi

install -d "$root/DEBIAN"
install --mode=755 postrm "$root/DEBIAN/postrm"
# bubblewrap builds the walls around commands: without it they are contained less, which nobody would choose.
# desktop-file-utils has the trigger that makes oxios:// known, and xdg-utils opens files and web pages.
cat >"$root/DEBIAN/control" <<END
Package: oxios
Version: $version
Architecture: $(dpkg --print-architecture)
Maintainer: Oxios authors <authors@oxios.invalid>
Installed-Size: $(du --summarize --block-size=1K --apparent-size "$root/usr" | cut -f1)
Depends: $libraries, bubblewrap, desktop-file-utils, xdg-utils
Recommends: dbus-user-session, git
Section: utils
Priority: optional
Description: agents that work on your machine, and ask first
 You say what you want, and agents do it on your machine. Dangerous steps wait
 for your click, and everything is recorded. Commands run contained: they write
 only in your folder, and have no network unless you approve it.
 .
 This package holds the desktop application, which opens oxios:// links, and
 the command line, which can also run as a service without a display.
END
(cd "$root" && find usr -type f -print0 | sort --zero-terminated | xargs --null md5sum >DEBIAN/md5sums)
find "$root" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
mkdir -p "$(dirname "$out")"
dpkg-deb --root-owner-group -Z"${COMPRESSION:-xz}" --build "$root" "$out" >/dev/null
echo "$out: oxios $version, $(stat --format=%s "$out" | numfmt --to=si --suffix=B)"
