#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The demo: starts halftoned on a free port, optimizes a small trained CNN as ONNX and as GraphDef through it, and prints the
# tables. `dev demo` runs it with our programs on PATH. Takes no arguments; files are written to a temporary folder, or to $OUT.

set -euo pipefail

HERE=$(cd -P "$(dirname "${BASH_SOURCE[0]}")" && pwd)
WORK=$(mktemp -d)
OUT=${OUT:-$WORK/out}
SERVER_PID=

finish() {
  [[ -z $SERVER_PID ]] || { kill "$SERVER_PID" 2>/dev/null && wait "$SERVER_PID" 2>/dev/null; } || true
  rm -rf "$WORK"
}
trap finish EXIT

start_server() {
  halftoned --listen 127.0.0.1:0 --data "$WORK/data" --print_port_file "$WORK/port" >"$WORK/server.out" 2>"$WORK/server.log" &
  SERVER_PID=$!
  for _ in $(seq 100); do
    [[ ! -s $WORK/port ]] || return 0
    kill -0 "$SERVER_PID" 2>/dev/null || break
    sleep 0.1
  done
  echo "halftoned did not start:" >&2
  cat "$WORK/server.log" >&2
  exit 1
}

# optimize MODEL SAMPLES
optimize() {
  local model=$HERE/models/$1 samples=$HERE/models/$2
  printf '\n$ halftone optimize %s --eval %s --server %s\n' "$1" "$2" "$SERVER"
  halftone optimize "$model" --eval "$samples" --server "$SERVER" --out "$OUT" --rounds 5 --round-seconds 0.2 --quiet
}

start_server
SERVER=127.0.0.1:$(cat "$WORK/port")
echo "halftoned serves at $SERVER"
echo "A residual CNN for handwritten digits; 500 labelled images that were not used for training; $(nproc) cores."
optimize digits.onnx digits_nchw.npz
optimize digits.pb digits_nhwc.npz
printf '\nWritten: %s\n' "$(cd "$OUT" && ls | tr '\n' ' ')"
