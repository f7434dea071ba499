#!/bin/sh
# Installs a newer Neovim than this Debian has, beside it: Debian trixie's packages, unpacked into a
# folder with the libraries they want. Nothing is changed outside of it.
# Usage: tests/editors/install_neovim.sh [FOLDER]   (default: $SIDECAR_EDITORS, or sidecar-editors in the XDG cache)
# Prints the path of the program. From Debian come: neovim (the old one) and patchelf.
set -eu

folder=${1:-${SIDECAR_EDITORS:-${XDG_CACHE_HOME:-$HOME/.cache}/sidecar-editors}}/neovim
program=$folder/nvim
packages="neovim neovim-runtime libc6 libgcc-s1 libluajit-5.1-2 libmsgpack-c2 libtree-sitter0.22
 libunibilium4 libuv1t64 libvterm0 lua-lpeg lua-luv"

if [ -x "$program" ] && "$program" --version > /dev/null 2>&1; then
    echo "$program"
    exit 0
fi
for needed in apt-get dpkg patchelf; do
    command -v "$needed" > /dev/null || { echo "$needed is needed: install it first" >&2; exit 1; }
done
rm -rf "$folder"
mkdir -p "$folder/apt/lists/partial" "$folder/apt/cache/archives/partial" "$folder/root"
cd "$folder"
key=/usr/share/keyrings/debian-archive-keyring.gpg
echo "deb [signed-by=$key] http://deb.debian.org/debian trixie main" > apt/sources.list
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
# shellcheck disable=SC2086 - a list of names
apt-get -qq download $packages >&2
for package in *.deb; do dpkg -x "$package" root; done
rm -rf -- *.deb apt
library=$folder/root/usr/lib/$(uname -m)-linux-gnu
loader=$(ls "$library"/ld-linux*.so.*)
# Started through the loader it would start itself again through it for its screen, and hang.
patchelf --set-interpreter "$loader" --set-rpath "$library" root/usr/bin/nvim
cat > nvim << EOF
#!/bin/sh
VIMRUNTIME="$folder/root/usr/share/nvim/runtime" exec "$folder/root/usr/bin/nvim" "\$@"
EOF
chmod +x nvim
"$program" --version >&2
echo "$program"
