#!/bin/sh
# Unpacks Helix from Debian trixie into a folder of its own; nothing is installed system-wide.
# The folder is $SIDECAR_EDITORS, or ~/.cache/sidecar-editors. Prints the path of a `hx` to run.
set -eu
cache=${SIDECAR_EDITORS:-${XDG_CACHE_HOME:-$HOME/.cache}/sidecar-editors}
place=$cache/helix
if [ -x "$place/hx" ]; then
  echo "$place/hx"
  exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/lists/partial" "$work/archives/partial" "$work/root" "$cache"
keys=/usr/share/keyrings/debian-archive-keyring.gpg
echo "deb [signed-by=$keys] ${DEBIAN_MIRROR:-http://deb.debian.org/debian} trixie main" >"$work/sources.list"
cat >"$work/apt.conf" <<CONF
Dir::Etc::sourcelist "$work/sources.list";
Dir::Etc::sourceparts "-";
Dir::State::lists "$work/lists";
Dir::Cache::archives "$work/archives";
Dir::Cache::pkgcache "";
Dir::Cache::srcpkgcache "";
APT::Sandbox::User "root";
CONF
export APT_CONFIG="$work/apt.conf"
apt-get -qq update >&2
(cd "$work/archives" && apt-get -qq download hx/trixie libc6/trixie libgcc-s1/trixie libstdc++6/trixie >&2)
for package in "$work"/archives/*.deb; do
  dpkg -x "$package" "$work/root"
done
libraries=usr/lib/$(uname -m)-linux-gnu
loader=$(cd "$work/root/$libraries" && ls ld-linux*.so.* | head -n 1)
cat >"$work/root/hx" <<RUN
#!/bin/sh
export HELIX_RUNTIME="$place/usr/lib/hx/runtime"
exec "$place/$libraries/$loader" --library-path "$place/$libraries" "$place/usr/bin/hx" "\$@"
RUN
chmod +x "$work/root/hx"
rm -rf "$place"
mv "$work/root" "$place"
echo "$place/hx"
