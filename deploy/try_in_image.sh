#!/usr/bin/env bash
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

model=$(find /tmp/models -name '*.onnx' -o -name '*.pb' | sort | head -n 1)
[[ -n $model ]] || { echo "no model to try" >&2; exit 1; }

echo "--- a private server"
halftone version
halftone optimize "$model" --rounds 3 --round-seconds 0.1 --out "$work/private"
ls -l "$work/private"

echo "--- a server of its own, as the image starts it"
halftoned --listen=127.0.0.1:50051 --data="$work/data" 2>"$work/log" &
server=$!
for _ in $(seq 50); do halftone health --timeout 1 2>/dev/null && break; sleep 0.1; done
halftone health --timeout 2
halftone capabilities --server 127.0.0.1:50051
halftone optimize "$model" --server 127.0.0.1:50051 --rounds 3 --round-seconds 0.1 --out "$work/served" --json >"$work/report.json"
cmp "$work/report.json" "$work/served/report.json"
kill -TERM "$server"
wait "$server"
server=
echo "--- the image works"
