#!/bin/sh
# fetch.sh DIR [NAME...]: the tests of Debian's source packages of perl and r in DIR/perl and DIR/r, or of those named.
# What is there already stays.
# Package sources are those that apt is configured with; source packages need not be switched on.
set -eu
mkdir -p "$1"
dir=$(cd "$1" && pwd)
shift
missing=
for name in ${*:-perl r}; do
	test -d "$dir/$name" || missing="$missing $name"
done
test -n "$missing" || exit 0
tmp=$(mktemp -d "$dir/fetch.XXXXXX") # beside what comes of it, so that nothing is ever there in part
trap 'rm -rf "$tmp"' EXIT
mkdir -p "$tmp/parts" "$tmp/lists/partial"
for f in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
	test -f "$f" && grep -q debian "$f" &&
		sed -E 's/^deb /deb-src /; s/^(Types:) *deb *$/\1 deb-src/' "$f" >"$tmp/parts/$(basename "$f")"
done || true
apt="-o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts=$tmp/parts -o Dir::State::lists=$tmp/lists -o APT::Sandbox::User=root"
apt-get $apt update -qq
get() { # NAME PACKAGE FOLDER: the newest version that can be downloaded
	for v in $(apt-cache $apt showsrc "$2" | sed -n 's/^Version: //p' | sort -uVr); do
		mkdir -p "$tmp/$1"
		(cd "$tmp" && apt-get $apt source -qq --download-only "$2=$v") || continue
		for tar in "$tmp/${2}"_*.orig.tar.*; do
			case $tar in *.asc) continue ;; esac
			tar -xf "$tar" -C "$tmp/$1" --strip-components=1 --wildcards --no-wildcards-match-slash "$3"
		done
		mv "$tmp/$1" "$dir/$1"
		return
	done
	echo "fetch.sh: no source of $2 can be downloaded" >&2
	return 1
}
for name in $missing; do
	case $name in
	perl) get perl perl '*/t' ;;
	r) get r r-base '*/tests' ;;
	esac
done
