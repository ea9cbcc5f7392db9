#!/bin/sh
# deb.sh TREE VERSION FOLDER - makes FOLDER/dnn_VERSION_ARCHITECTURE.deb of an installed tree; `make deb` calls it. The libraries that the
# package depends on are those of this system. The same tree gives the same bytes with SOURCE_DATE_EPOCH set.
set -eu
umask 022
tree=$1
version=$2
folder=$3
for tool in dpkg-deb dpkg-shlibdeps; do
    command -v $tool >/dev/null || { echo "make deb: $tool is missing (Debian: dpkg-dev)" >&2; exit 69; }
done
architecture=$(dpkg --print-architecture)
strip --strip-unneeded "$tree/usr/bin/dnn"
gzip -9nf "$tree"/usr/share/man/man1/*.1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/debian" "$tree/DEBIAN"
printf 'Source: dnn\n\nPackage: dnn\nArchitecture: any\n' >"$work/debian/control"
binary=$(cd "$tree/usr/bin" && pwd)/dnn
needs=$(cd "$work" && dpkg-shlibdeps -O "$binary" | sed -n 's/^shlibs:Depends=//p')
[ -n "$needs" ] || { echo "make deb: dpkg-shlibdeps does not know the libraries of $binary" >&2; exit 69; }
cat >"$tree/DEBIAN/control" <<EOF
Package: dnn
Version: $version
Architecture: $architecture
Maintainer: the dnn developers <dnn@dnn.invalid>
Installed-Size: $(du -sk --exclude=DEBIAN "$tree" | cut -f1)
Depends: $needs, zlib1g
Recommends: libopenblas0-pthread | libopenblas0
Section: math
Priority: optional
Description: train and apply deep networks from CSV files
 One program for shell scripts, pipelines and cron jobs: a CSV file and a JSON
 config in, a model out; rows in, answers out, with the same bytes every time.
 It computes on the CPU, or on an NVIDIA GPU where it was built with kernels.
EOF
(cd "$tree" && find usr -type f -exec md5sum {} + | LC_ALL=C sort -k 2 >DEBIAN/md5sums)
chmod 755 "$tree/DEBIAN"
dpkg-deb --root-owner-group -Zxz --build "$tree" "$folder/dnn_${version}_$architecture.deb" >/dev/null
echo "$folder/dnn_${version}_$architecture.deb"
