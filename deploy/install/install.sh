#!/bin/sh
# Installs Parlance for this user, without root: sh install.sh --from ADDRESS [OPTIONS]
#
#   --from ADDRESS    folder with the archives and SHA256SUMS: an https address or a path
#   --key FILE        public key (PEM), with which SHA256SUMS.sig is verified
#   --version X.Y.Z   instead of the newest version there
#   --without-local   the smaller archive, which only routes to upstreams
#   --without-models  leaves out the default models that the folder has
#   --service         starts the service now and at each login, by systemd
#   --uninstall       removes the program; --with-data: models, database and keys, too
#
# Updates in place when it is called again. PARLANCE_HOME is where everything is kept: by default
# ~/.local/share/parlance, with the configuration and the data in its folder `service`.
set -eu

home=${PARLANCE_HOME:-${XDG_DATA_HOME:-$HOME/.local/share}/parlance}
bin=${PARLANCE_BIN:-$HOME/.local/bin}
unit=${XDG_CONFIG_HOME:-$HOME/.config}/systemd/user/parlance.service
from='' key='' version='' variant='' models=yes service='' action=install data=''

fail() { printf 'error: %s\n' "$1" >&2; exit 1; }
has() { command -v "$1" >/dev/null 2>&1; }

while [ $# -gt 0 ]; do
  case $1 in
    --from | --key | --version)
      [ $# -gt 1 ] || fail "$1 needs a value."
      case $1 in --from) from=${2%/} ;; --key) key=$2 ;; --version) version=$2 ;; esac
      shift ;;
    --without-local) variant=-gateway models='' ;;
    --without-models) models='' ;;
    --service) service=yes ;;
    --uninstall) action=uninstall ;;
    --with-data) data=yes ;;
    *) fail "Unknown option $1. Options: --from, --key, --version, --without-local, --without-models, --service, --uninstall, --with-data." ;;
  esac
  shift
done

if [ $action = uninstall ]; then
  if [ -e "$unit" ]; then "$bin/parlance" autostart disable || true; fi
  [ "$(readlink "$bin/parlance" 2>/dev/null)" = "$home/current/bin/parlance" ] && rm -f "$bin/parlance"
  rm -rf "$home/versions" "$home/current"
  [ -n "$data" ] && rm -rf "$home/service"
  rmdir "$home" 2>/dev/null || echo "The data stays in $home/service (--with-data removes it)."
  echo "Parlance is uninstalled."
  exit 0
fi

[ -n "$from" ] || fail "Name the folder with the archives: --from https://example.com/parlance"
os=$(uname -s | tr '[:upper:]' '[:lower:]')
case $(uname -m) in
  x86_64 | amd64) arch=x64 ;;
  aarch64 | arm64) arch=arm64 ;;
  *) fail "There is no archive for the processor $(uname -m)." ;;
esac

link=$home/current/bin/parlance
if [ -e "$bin/parlance" ] && [ "$(readlink "$bin/parlance")" != "$link" ]; then
  fail "$bin/parlance is another program. Remove it, or name another folder: PARLANCE_BIN=~/bin"
fi
mkdir -p "$home/versions"
chmod 700 "$home"
work=$(mktemp -d "$home/download.XXXXXX")
# What failed the first time leaves nothing behind.
trap 'rm -rf "$work"; rmdir "$home/versions" "$home" 2>/dev/null || true' EXIT
trap 'exit 130' INT TERM

# get NAME: copies a file of the folder to $work.
get() {
  case $from in
    http://* | https://*)
      if has curl; then curl -fSL --retry 3 --connect-timeout 20 ${2:-} -o "$work/$1" "$from/$1"
      elif has wget; then wget -q --tries=3 --timeout=20 -O "$work/$1" "$from/$1"
      else fail "Install curl or wget."; fi ;;
    *) cp "$from/$1" "$work/$1" ;;
  esac || fail "$from/$1 could not be read."
}
sum() { if has sha256sum; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -c 1-64; }
# get_verified NAME: get, and compares its checksum.
get_verified() {
  get "$1" "$([ -t 2 ] && echo --progress-bar || echo -s)"
  wanted=$(sed -n "s/^\([0-9a-f]\{64\}\)  $1\$/\1/p" "$work/SHA256SUMS")
  [ "$(sum "$work/$1")" = "$wanted" ] || fail "$1 is not complete, or was changed: its checksum differs. Nothing was installed."
}

get SHA256SUMS -s
if [ -n "$key" ]; then
  has openssl || fail "openssl is needed to verify the signature."
  get SHA256SUMS.sig -s
  openssl dgst -sha256 -verify "$key" -signature "$work/SHA256SUMS.sig" "$work/SHA256SUMS" >/dev/null 2>&1 ||
    fail "The signature of SHA256SUMS is not that of $key. Nothing was changed."
fi
# The newest version by its numbers.
archive=$(sed -n "s/^[0-9a-f]\{64\}  \(parlance-${version:-[0-9][0-9.]*}-$os-$arch$variant\.tar\.gz\)\$/\1/p" "$work/SHA256SUMS" |
  sort -t- -k2,2V | tail -n 1)
[ -n "$archive" ] || fail "$from has no archive of ${version:-any version} for $os-$arch${variant:+ without local models}."
target=$home/versions/${archive%.tar.gz}

if [ ! -e "$target" ]; then
  get_verified "$archive"
  # A full disk has a line for each file.
  problem=$(tar -xzf "$work/$archive" -C "$work" 2>&1) ||
    fail "$archive could not be unpacked. Is the disk full? Nothing was changed. ($(echo "$problem" | head -n 1))"
  "$work/${archive%.tar.gz}/bin/parlance" --version >/dev/null || fail "The program does not run on this machine. Nothing was changed."
  mv "$work/${archive%.tar.gz}" "$target"
fi

mkdir -p "$home/service"
# Once: later versions find them, and bring others when they need them.
tar=${archive%"-$os-$arch.tar.gz"}-models.tar
if [ -n "$models" ] && ! ls -d "$home"/service/.parlance/models/*/ >/dev/null 2>&1 && grep -q "  $tar\$" "$work/SHA256SUMS"; then
  get_verified "$tar"
  (cd "$home/service" && PARLANCE_CHECKOUT=$PWD "$target/bin/parlance" models import "$work/$tar") >/dev/null ||
    fail "The models could not be brought in (--without-models leaves them out). The version before stays."
fi
before=$(readlink "$home/current" 2>/dev/null || true)
mkdir -p "$bin"
ln -sfn "$target" "$home/current"
ln -sfn "$link" "$bin/parlance"
# The version before stays, to go back: install.sh --version.
for old in "$home/versions"/*; do
  [ "$old" = "$target" ] || [ "$old" = "$before" ] || rm -rf "$old"
done

if [ -n "$service" ]; then
  "$bin/parlance" autostart enable || fail "Parlance is installed. Start it with: parlance serve"
fi

echo "$("$bin/parlance" --version) is installed in $home."
case :$PATH: in *":$bin:"*) ;; *) echo "Add it to your PATH: export PATH=\"$bin:\$PATH\"" ;; esac
[ -n "$service" ] || echo "Set it up with: parlance setup"
