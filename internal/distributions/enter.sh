#!/bin/sh
# Runs a command in a root: enter.sh ROOT TREE WORK COMMAND... It sees TREE at /mnt, unchangeable, and the folder WORK at /srv, from where it starts
# and where its home is; what else it writes is gone afterwards. Builds of interpreters that the host has are there, too. The mounts are the command's own, and end with it. Needs root.
set -eu
if test -z "${SYMCHEF_ENTERED:-}"; then
	SYMCHEF_ENTERED=1 exec unshare --mount --propagation private sh "$0" "$@"
fi
root=$1 tree=$2 work=$3
shift 3
builds=/root/.pyenv/versions
mount --bind "$root" "$root"
mount --bind "$tree" "$root/mnt"
mount -o remount,bind,ro "$root/mnt"
mount --bind "$work" "$root/srv"
if test -d $builds; then
	mkdir -p "$root$builds"
	mount --bind $builds "$root$builds"
	mount -o remount,bind,ro "$root$builds"
fi
mount --rbind /proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -t tmpfs tmpfs "$root/tmp"
mount -o remount,bind,ro "$root"
cd "$root"
pivot_root . .
umount -l .
cd /srv
exec env -i PATH=/mnt:/usr/local/bin:/usr/bin:/bin HOME=/srv LANG=C.UTF-8 "$@"
