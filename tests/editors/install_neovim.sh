#!/bin/sh
# Installs a newer Neovim than this Debian has, beside it: Debian trixie's packages, unpacked into a
# folder with the libraries they want.
# Usage: tests/editors/install_neovim.sh [FOLDER]   (default: $SIDECAR_EDITORS, or sidecar-editors in the XDG cache)
# Prints the path of the program. From Debian come: neovim (the old one) and patchelf.
set -eu

folder=${1:-${SIDECAR_EDITORS:-${XDG_CACHE_HOME:-$HOME/.cache}/sidecar-editors}}/neovim
program=$folder/nvim

if [ -x "$program" ] && "$program" --version > /dev/null 2>&1; then
    echo "$program"
    exit 0
fi
"$(dirname "$0")/../../.ci/unpack_debian.sh" trixie "$folder" usr/bin/nvim neovim neovim-runtime \
    libc6 libgcc-s1 libluajit-5.1-2 libmsgpack-c2 libtree-sitter0.22 libunibilium4 libuv1t64 \
    libvterm0 lua-lpeg lua-luv
cat > "$program" << EOF
#!/bin/sh
VIMRUNTIME="$folder/root/usr/share/nvim/runtime" exec "$folder/root/usr/bin/nvim" "\$@"
EOF
chmod +x "$program"
"$program" --version >&2
echo "$program"
