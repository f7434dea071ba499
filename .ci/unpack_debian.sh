#!/bin/sh
# Unpacks packages of a release of Debian that is not this one's into FOLDER/root, so that PROGRAM,
# a path in there, runs with the libraries that came with it. What FOLDER held goes; nothing is
# changed outside of it. From Debian come: apt-get, dpkg and patchelf.
# Usage: .ci/unpack_debian.sh RELEASE FOLDER PROGRAM PACKAGE…
set -eu

release=$1 folder=$2 program=$3
shift 3

for needed in apt-get dpkg patchelf; do
    command -v "$needed" > /dev/null || { echo "$needed is needed: install it first" >&2; exit 1; }
done
rm -rf "$folder"
mkdir -p "$folder/apt/lists/partial" "$folder/apt/cache/archives/partial" "$folder/root"
cd "$folder"
key=/usr/share/keyrings/debian-archive-keyring.gpg
echo "deb [signed-by=$key] http://deb.debian.org/debian $release main" > apt/sources.list
cat > apt/apt.conf << EOF
Dir::Etc::sourcelist "$folder/apt/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::State::lists "$folder/apt/lists";
Dir::Cache "$folder/apt/cache";
Dir::Cache::pkgcache "";
APT::Sandbox::User "";
EOF
export APT_CONFIG="$folder/apt/apt.conf"
apt-get -qq update >&2
apt-get -qq download "$@" >&2
for package in *.deb; do dpkg -x "$package" root; done
rm -rf -- *.deb apt
library=$folder/root/usr/lib/$(uname -m)-linux-gnu
loader=$(ls "$library"/ld-linux*.so.*)
# In the program, because one that is started through the loader starts itself again through it.
# An old-style path, because the modules that it loads look for their libraries there too.
patchelf --set-interpreter "$loader" --force-rpath --set-rpath "$library" "root/$program"
