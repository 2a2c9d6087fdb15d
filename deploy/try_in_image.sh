#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# try_in_image.sh: runs inside a container of the image, as its user. Called by build_image.sh.

set -euo pipefail

[[ $(id -u) == 65532 ]] || { echo "runs as $(id -u), not as 65532" >&2; exit 1; }
work=$(mktemp -d)
server=
stop() {
  [[ -z $server ]] || kill -TERM "$server" 2>/dev/null || true
  rm -rf "$work"
}
trap stop EXIT

echo "--- a server, as the image starts it"
halftoned --listen=127.0.0.1:50051 --data="$work/data" 2>"$work/log" &
server=$!
for _ in $(seq 50); do halftone health --timeout 1 2>/dev/null && break; sleep 0.1; done
halftone health --timeout 2
halftone capabilities --server 127.0.0.1:50051
kill -TERM "$server"
wait "$server"
server=

echo "--- the demo"
OUT=$work/out bash /tmp/demo/demo.sh
ls -l "$work/out"
echo "--- the image works"
