#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# python_test.sh SCRIPT PROGRAM...: runs a Python test; $PROGRAMS gets the paths of our programs.
set -euo pipefail
script=$1
shift
export PROGRAMS
PROGRAMS=$(IFS=:; echo "$*")
export PYTHONDONTWRITEBYTECODE=1
exec python3 "$script"
