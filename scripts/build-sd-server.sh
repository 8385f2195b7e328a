#!/usr/bin/env bash
# Builds stable-diffusion.cpp's server for this machine's CPU. Requires git, cmake, a C++ compiler and access to GitHub.
#
#   scripts/build-sd-server.sh [--cuda] FOLDER    → FOLDER/build/bin/sd-server
#
# --cuda builds for this machine's NVIDIA GPU, too, and requires CUDA's compiler (nvcc). SD_CPP_REVISION names another
# revision than the one below, whose API the engine sd-server was written for.
set -euo pipefail
usage() { sed -n '2,7s/^# \{0,1\}//p' "$0" >&2; exit 2; }
gpu=()
if [ "${1:-}" = --cuda ]; then
  shift
  command -v nvcc >/dev/null || { echo "nvcc is not on PATH: install CUDA's toolkit, or add its folder bin to PATH" >&2; exit 1; }
  gpu=(-DSD_CUDA=ON)
fi
[ $# -eq 1 ] || usage
revision=${SD_CPP_REVISION:-97d2990807fe6d558e395f8764198d7c7e7b411c}
mkdir -p "$1"
if [ ! -d "$1/source" ]; then
  git init --quiet "$1/source"
  git -C "$1/source" remote add origin https://github.com/leejet/stable-diffusion.cpp
fi
git -C "$1/source" fetch --quiet --depth 1 origin "$revision"
git -C "$1/source" checkout --quiet FETCH_HEAD
# The submodules of its web page and of video files are not needed.
git -C "$1/source" submodule --quiet update --init --depth 1 ggml thirdparty/libwebp
cmake -S "$1/source" -B "$1/build" -DCMAKE_BUILD_TYPE=Release -DSD_SERVER_BUILD_FRONTEND=OFF -DSD_WEBM=OFF \
  ${gpu[@]+"${gpu[@]}"}
cmake --build "$1/build" --target sd-server -j "$(nproc)"
echo "$1/build/bin/sd-server"
