#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs round_trip_test.py with its arguments; fails if a line begins with FAIL or nothing was tested.
set -uo pipefail
output=$(PYTHONDONTWRITEBYTECODE=1 python3 "$(dirname "$0")/round_trip_test.py" "$@" 2>&1)
status=$?
echo "$output"
[[ $status == 0 ]] && grep -qE '^(PASS|SKIP) ' <<<"$output" && ! grep -q '^FAIL ' <<<"$output"
