#!/bin/sh
# Builds a Lua in the root $1 that is linked statically with musl, from Debian's source package: /opt/musl/bin/lua.
set -eu
test -x "$1/opt/musl/bin/lua" && exit
sed -n 's/^deb /deb-src /p' "$1/etc/apt/sources.list" >"$1/etc/apt/sources.list.d/sources.list"
chroot "$1" env DEBIAN_FRONTEND=noninteractive apt-get update
chroot "$1" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends musl-tools dpkg-dev
chroot "$1" sh -c '
	set -eu
	rm -rf /var/tmp/musl
	mkdir -p /var/tmp/musl /opt/musl/bin
	cd /var/tmp/musl
	apt-get source --download-only lua5.4
	dpkg-source --no-check -x lua5.4_*.dsc lua # apt has checked it
	cd lua/src
	rm -f luac.c
	echo "#define DEB_HOST_MULTIARCH \"x86_64-linux-gnu\"" >lua5.4-deb-multiarch.h # else made by debian/rules
	musl-gcc -O2 -static -DLUA_COMPAT_5_3 -DLUA_USE_POSIX -o /opt/musl/bin/lua ./*.c -lm
	rm -rf /var/tmp/musl'
