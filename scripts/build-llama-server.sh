#!/usr/bin/env bash
# Builds llama.cpp's own server for this machine's CPU from the source inside node-llama-cpp's package: the same llama.cpp
# that the engine llama-cpp runs. Needs git, cmake and a C++ compiler; four minutes on two cores. The tests of the engine
# llama-server use it when LLAMA_SERVER names it.
#
#   scripts/build-llama-server.sh FOLDER    → FOLDER/build/bin/llama-server
set -euo pipefail
[ $# -eq 1 ] || { sed -n '2,7s/^# \{0,1\}//p' "$0" >&2; exit 2; }
bundle=$(cd "$(dirname "$0")/.." && pwd)/node_modules/node-llama-cpp/llama/gitRelease.bundle
mkdir -p "$1"
[ -d "$1/source" ] || git clone --quiet "$bundle" "$1/source"
cmake -S "$1/source" -B "$1/build" -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF \
  -DLLAMA_CURL=OFF -DLLAMA_OPENSSL=OFF -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF
cmake --build "$1/build" --target llama-server -j "$(nproc)"
echo "$1/build/bin/llama-server"
