# SPDX-License-Identifier: Apache-2.0
# tools/env/conformance.sh [ARG...]: `dev conformance`, inside the environment. Arguments are those of tests/conformance/table.py.

set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/bazel.sh"

build() {
  trap 'bazel_do shutdown >/dev/null 2>&1 || true' EXIT
  bazel_do build --noshow_progress //tests/conformance
  install_programs //tests/conformance:conformance
}

(build)
exec 9>&-
export PYTHONDONTWRITEBYTECODE=1
exec python3 "$REPO/tests/conformance/table.py" "$@"
