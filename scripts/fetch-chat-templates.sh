#!/usr/bin/env bash
# Copies the chat templates that llama.cpp collects to FOLDER, from the source distribution of llama-cpp-python.
set -euo pipefail
folder=${1:?Usage: scripts/fetch-chat-templates.sh FOLDER}
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
python3 -m pip download --no-deps --no-binary :all: --dest "$temporary" llama-cpp-python==0.3.36
tar -xzf "$temporary"/llama_cpp_python-*.tar.gz -C "$temporary" --wildcards '*/vendor/llama.cpp/models/templates/*.jinja'
mkdir -p "$folder"
cp "$temporary"/llama_cpp_python-*/vendor/llama.cpp/models/templates/*.jinja "$folder"
