#!/bin/sh
# Lays out the Neovim plugin of the last commit as a repository of its own, which plugin managers
# clone: FOLDER is a clone of the mirror, or is made. What changed is committed, nothing is pushed.
# Usage: .ci/neovim_mirror.sh FOLDER
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
cd "$1"
[ -e .git ] || git init --quiet
git rm -rq --ignore-unmatch .
git -C "$root" archive HEAD:editors/neovim | tar -xf -
git -C "$root" show HEAD:LICENSE > LICENSE
git add -A
git diff --cached --quiet || git commit --quiet -m "The plugin as of $(git -C "$root" rev-parse HEAD)"
