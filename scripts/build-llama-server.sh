#!/usr/bin/env bash
# Builds llama-server for this machine's CPU from the source in node-llama-cpp's package, which npm downloads, the same
# llama.cpp version that the llama-cpp engine runs. Requires git, npm, cmake and a C++ compiler; takes four minutes on two
# cores. The tests of the llama-server engine run it if LLAMA_SERVER is set to its path.
#
#   scripts/build-llama-server.sh [--cuda] FOLDER    → FOLDER/build/bin/llama-server
#
# --cuda builds for this machine's NVIDIA GPU, too. It requires CUDA's compiler (nvcc) and takes four minutes on 16 cores.
# CUDA_ARCHITECTURES names other GPUs, such as "80;90".
set -euo pipefail
usage() { sed -n '2,10s/^# \{0,1\}//p' "$0" >&2; exit 2; }
gpu=()
if [ "${1:-}" = --cuda ]; then
  shift
  command -v nvcc >/dev/null || { echo "nvcc is not on PATH: install CUDA's toolkit, or add its folder bin to PATH" >&2; exit 1; }
  gpu=(-DGGML_CUDA=ON -DGGML_CUDA_NCCL=OFF "-DCMAKE_CUDA_ARCHITECTURES=${CUDA_ARCHITECTURES:-native}")
fi
[ $# -eq 1 ] || usage
package=$(cd "$(dirname "$0")/.." && pwd)/node_modules/node-llama-cpp/package.json
mkdir -p "$1"
if [ ! -d "$1/source" ]; then
  # An installation of this repository leaves the sources out.
  archive=$(npm pack --silent "node-llama-cpp@$(node -p "require('$package').version")" --pack-destination "$1")
  tar -xzf "$1/$archive" -C "$1" --strip-components=2 package/llama/gitRelease.bundle
  git clone --quiet "$1/gitRelease.bundle" "$1/source"
  rm "$1/$archive" "$1/gitRelease.bundle"
fi
cmake -S "$1/source" -B "$1/build" -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF \
  ${gpu[@]+"${gpu[@]}"} -DLLAMA_CURL=OFF -DLLAMA_OPENSSL=OFF -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF
cmake --build "$1/build" --target llama-server -j "$(nproc)"
echo "$1/build/bin/llama-server"
