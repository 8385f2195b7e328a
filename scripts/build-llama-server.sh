#!/usr/bin/env bash
# Builds llama-server for this machine's CPU from the source in node-llama-cpp's package, the same llama.cpp version that
# the llama-cpp engine runs. Requires git, cmake and a C++ compiler; takes four minutes on two cores. The tests of the
# llama-server engine run it if LLAMA_SERVER is set to its path.
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
bundle=$(cd "$(dirname "$0")/.." && pwd)/node_modules/node-llama-cpp/llama/gitRelease.bundle
mkdir -p "$1"
[ -d "$1/source" ] || git clone --quiet "$bundle" "$1/source"
cmake -S "$1/source" -B "$1/build" -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF \
  ${gpu[@]+"${gpu[@]}"} -DLLAMA_CURL=OFF -DLLAMA_OPENSSL=OFF -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF
cmake --build "$1/build" --target llama-server -j "$(nproc)"
echo "$1/build/bin/llama-server"
