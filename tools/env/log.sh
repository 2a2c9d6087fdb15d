# SPDX-License-Identifier: Apache-2.0
# tools/env/log.sh: messages of `dev`. They go to stderr, because stdout belongs to the program that runs.

say() { printf 'dev: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

# step TEXT COMMAND...: prints one line with the seconds taken, and the command's output only if it fails.
step() {
  local text=$1 log start=$SECONDS status=0
  shift
  log=$(mktemp)
  printf 'dev: %s ...' "$text" >&2
  ( set -euo pipefail; "$@" ) </dev/null >"$log" 2>&1 || status=$?
  if [[ $status != 0 ]]; then
    printf ' failed (exit code %d):\n' "$status" >&2
    tail -n 200 "$log" >&2
    rm -f "$log"
    return "$status"
  fi
  printf ' %d s\n' $((SECONDS - start)) >&2
  rm -f "$log"
}
