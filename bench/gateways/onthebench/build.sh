#!/usr/bin/env bash
# Builds the tarball of the pinned commit and installs it below this folder, before anything is measured.
set -euo pipefail

folder="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
repository="${PARLANCE_REPO:?the address of the repository to clone}"
commit="${PARLANCE_COMMIT:?the commit to measure}"

[ -d "$folder/src" ] || git clone --quiet "$repository" "$folder/src"
git -C "$folder/src" checkout --quiet "$commit"
(cd "$folder/src" && npm ci && npm run tarball -- --pack-destination "$folder")
npm install --prefix "$folder/prefix" --omit=dev --no-audit --no-fund "$folder"/parlance-inference-server-*.tgz
mkdir -p "$folder/prefix/bin"
ln -sf ../node_modules/.bin/parlance "$folder/prefix/bin/parlance"
"$folder/prefix/bin/parlance" --version
