#!/bin/sh
# Builds all that a release publishes, and has the registries' own validators look at it: python/,
# npm/, vscode/, sbom/ and registries/ of FOLDER. A validator that cannot be had is said, and left out.
# Usage: .ci/packages.sh FOLDER
set -eu

mkdir -p "$1"
folder=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."

# Checks with a tool of a registry that is in no lock of ours, so its version stands here.
validate() {
    if timeout 120 uvx -q "$1" --version > /dev/null 2>&1; then uvx -q "$@"; else echo "$1 cannot be had: not asked"; fi
}

python3 .ci/release.py version
mkdir -p "$folder/npm" "$folder/vscode" "$folder/sbom" "$folder/registries"
uv build -q --all-packages --out-dir "$folder/python"
rm -f "$folder/python/.gitignore"
validate twine@7.0.0 check --strict "$folder"/python/*

for part in clients/typescript editors/vscode; do
    [ "$part/node_modules/.package-lock.json" -nt "$part/package-lock.json" ] || npm --prefix "$part" ci --no-audit --no-fund
done
npm --prefix clients/typescript run --silent build
(cd clients/typescript && npm pack --silent --pack-destination "$folder/npm")
npm --prefix editors/vscode run --silent package
(cd editors/vscode && npx --no-install vsce ls --no-dependencies)
cp editors/vscode/dist/sidecar.vsix "$folder/vscode"

# What is in them: the daemon with all extras, and the client for Node.
uv export -q --frozen --no-dev --all-extras --format cyclonedx1.5 -o "$folder/sbom/sidecard.cdx.json"
npm --prefix clients/typescript sbom --sbom-format cyclonedx --omit dev > "$folder/sbom/sidecard-client.cdx.json"

cp .ci/registries/acp/* "$folder/registries"
cp .ci/registries/melpa/sidecar "$folder/registries/melpa-recipe"
validate check-jsonschema@0.39.0 --builtin-schema vendor.github-workflows .github/workflows/*.yml
validate zizmor@1.32.0 --offline --no-progress --quiet --min-severity medium .github/workflows
