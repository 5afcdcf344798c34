#!/bin/sh
# Makes a root of each Debian release below the folder $1, where it is not there yet: from the archive that apt of this host is configured for,
# with its signatures checked by the keys of debian-archive-keyring. Needs root, debootstrap and that keyring.
set -eu
mkdir -p "$1"
archive=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep '/debian/$' | head -n 1)
test -n "$archive" || { echo "apt has no archive of Debian" >&2; exit 1; }
packages="python3 python3-dbg lua5.1 lua5.2 lua5.3 lua5.4 luajit lua-lpeg r-base-core r-cran-jsonlite mujs perl gcc libc6-dev
	python3-toml python3-packaging python3-pycparser python3-xlrd"
# What changes every day serves for the newest interpreter alone.
newest="python3 python3-toml python3-packaging python3-pycparser python3-xlrd"
for release in bullseye:11 bookworm:12 trixie:13 forky:14; do
	root="$1/debian-${release#*:}"
	test -d "$root" && continue
	rm -rf "$root.part"
	script=/usr/share/debootstrap/scripts/${release%:*}
	test -e "$script" || script=/usr/share/debootstrap/scripts/sid # debootstrap is older than the release
	test "$release" = forky:14 && packages=$newest
	debootstrap --variant=minbase --force-check-gpg --keyring=/usr/share/keyrings/debian-archive-keyring.gpg --include=ca-certificates "${release%:*}" "$root.part" "$archive" "$script"
	chroot "$root.part" env DEBIAN_FRONTEND=noninteractive apt-get update
	chroot "$root.part" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $packages
	mv "$root.part" "$root"
done
