#!/usr/bin/env bash
# A base image where no registry can be reached: the smallest Debian root with python3, as a tar.
# Unpacks .deb files from the machine's own Debian mirror; runs no maintainer script. Debian, root.
#   make_rootfs.sh rootfs.tar && reasonenv sandbox build --rootfs rootfs.tar
set -eu -o pipefail
tar=$(realpath -m "${1:?usage: make_rootfs.sh FILE.tar}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
root=$work/root
mkdir -p "$root"/usr/{bin,sbin,lib,lib64} "$work/debs"
# /usr merged first, so that packages which ship /lib or /bin unpack into /usr
for d in bin sbin lib lib64; do ln -s "usr/$d" "$root/$d"; done
cd "$work/debs"
version=$(apt-cache depends python3-minimal | sed -n 's/.*Depends: python\(3\.[0-9]*\)-minimal.*/\1/p' | head -n 1)
: "${version:?apt knows no python3-minimal: run apt-get update}"
wanted="python3-minimal python$version-minimal libpython$version-minimal libpython$version-stdlib
  dash coreutils tzdata base-files media-types"
# the libraries that those need, and what these need, from the package index itself
needed=$(apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces \
  --no-enhances --no-pre-depends $wanted | sed -n 's/^\(lib[a-z0-9.+-]*\|zlib1g\)$/\1/p' | sort -u)
apt-get download -o APT::Sandbox::User=root $wanted $needed >/dev/null
for d in *.deb; do dpkg-deb --fsys-tarfile "$d" | tar -x -C "$root" --keep-directory-symlink; done
cd "$root"
ln -sf dash usr/bin/sh
ln -sf "python$version" usr/bin/python3
ln -sf python3 usr/bin/python
rm -rf usr/share/{doc,man,info,locale,lintian,bash-completion,bug,menu,pixmaps,applications} usr/lib/*/gconv
rm -rf "usr/lib/python$version"/{test,idlelib,turtledemo,pydoc_data,lib2to3,ensurepip}
mkdir -p tmp proc sys dev run etc var/tmp
chmod 1777 tmp var/tmp
echo 'root:x:0:0:root:/root:/bin/sh' >etc/passwd
echo 'root:x:0:' >etc/group
chroot . /usr/bin/python3 -m compileall -q "usr/lib/python$version" >/dev/null || true
chroot . /sbin/ldconfig 2>/dev/null || true
tar -C "$root" -cf "$tar" .
