#!/bin/sh
# Finds or installs a Python for the tests to run on beside the default one.
# Usage: .ci/install_python.sh 3.14 [FOLDER]   (default: sidecar-pythons in the XDG cache)
# Prints the path of the program. It is the one that uv finds, or downloads where it can; else that
# of Debian's packages, unpacked into a folder with the libraries that they want.
set -eu

version=$1
folder=${2:-${XDG_CACHE_HOME:-$HOME/.cache}/sidecar-pythons}/$version
program=$folder/root/usr/bin/python$version

# The release of Debian that has it, and what its standard library loads.
case $version in
    3.13) release=trixie more="" ;;
    3.14) release=forky more="libzstd1" ;;
    *) release="" more="" ;;
esac
packages="python$version python$version-minimal libpython$version-minimal libpython$version-stdlib
 libc6 libgcc-s1 libstdc++6 libssl3t64 libsqlite3-0 libexpat1 zlib1g libffi8 libbz2-1.0 liblzma5
 libncursesw6 libtinfo6 libreadline8t64 libuuid1 $more"

if uv python find --no-python-downloads "$version" 2> /dev/null; then exit 0; fi
if [ -x "$program" ] && "$program" -c "import ssl, sqlite3" 2> /dev/null; then
    echo "$program"
    exit 0
fi
if timeout 120 uv python install --no-progress "$version" >&2; then
    exec uv python find --no-python-downloads "$version"
fi
[ -n "$release" ] || { echo "no release of Debian is known to have Python $version" >&2; exit 1; }
# shellcheck disable=SC2086 - a list of names
"$(dirname "$0")/unpack_debian.sh" "$release" "$folder" "usr/bin/python$version" $packages
"$program" -c "import ssl, sqlite3, sys; print(sys.version)" >&2
echo "$program"
