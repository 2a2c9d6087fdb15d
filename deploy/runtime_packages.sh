#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# runtime_packages.sh PROGRAM...: the Debian packages that own the shared libraries which the programs load, one per line.
#
# So the image needs no second list of packages that could differ from the linked libraries.

set -euo pipefail

# Paths as ldd resolves them; dpkg knows some libraries by their path without /usr (merged /usr).
libraries() { ldd "$@" | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | sort -u; }

owner() {
  local real
  real=$(realpath "$1")
  dpkg-query --search "$real" 2>/dev/null || dpkg-query --search "${real#/usr}" 2>/dev/null || {
    echo "runtime_packages.sh: no package owns $1" >&2
    return 1
  }
}

libraries "$@" | while read -r library; do owner "$library"; done | cut -d: -f1 | sort -u
echo ca-certificates
