# SPDX-License-Identifier: Apache-2.0
# tools/env/bench.sh [ARG...]: `dev bench`, inside the environment. Arguments are those of tests/bench/bench.py.

set -euo pipefail
CALLER_CWD=$PWD
source "$(dirname "${BASH_SOURCE[0]}")/bazel.sh"

PROGRAMS=(//tests/bench:halftone_round //tests/bench:halftone_outputs //tests/bench:kernel_microbenchmark //tests/bench:graph_microbenchmark //tests/bench:passes_bench
          //tests/calibrate:calibration_cost)

build() {
  trap 'bazel_do shutdown >/dev/null 2>&1 || true' EXIT
  bazel_do build --noshow_progress "${PROGRAMS[@]}"
  install_programs "${PROGRAMS[@]}"
}

case " $* " in
  *" --list "* | *" --help "* | *" -h "*) ;;
  *) (build) ;;
esac
exec 9>&-
cd "$CALLER_CWD"
export PYTHONDONTWRITEBYTECODE=1
exec python3 "$REPO/tests/bench/bench.py" "$@"
