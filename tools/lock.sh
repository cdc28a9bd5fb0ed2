#!/usr/bin/env bash
# Writes requirements/*.lock anew from requirements/*.in (needs uv).
# Give --upgrade to move to the newest versions.
set -euo pipefail
cd "$(dirname "$0")/../requirements"

lock() {
    local name=$1
    shift
    uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
        --no-header --no-emit-index-url --no-annotate "$@" "$name.in" --output-file "$name.lock"
}

lock build "$@"
# srt is built from source: source.lock has it.
lock base --no-emit-package srt "$@"
lock source "$@"
lock nodeps --no-deps "$@"
lock llama --no-deps "$@"
lock dev "$@"
