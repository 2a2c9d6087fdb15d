# SPDX-License-Identifier: Apache-2.0
# tools/env/build.sh [--programs | [--config=NAME] TARGET...]: `dev build`, inside the environment. Default: everything.
# Only a build without --config installs its programs.

set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/bazel.sh"
source "$REPO/tools/env/freshness.sh"
env_key() { echo "$KEY"; }

mkdir -p "$CLONE_DIR"
started=$(mktemp "$CLONE_DIR/started.XXXXXX")
trap 'rm -f "$started"; bazel_do shutdown >/dev/null 2>&1 || true' EXIT

flags=()
while [[ ${1:-} == --config=* ]]; do
  flags+=("$1")
  shift
done
mapfile -t programs < <(program_targets)
targets=("$@")
[[ $# != 0 ]] || targets=(//...)
[[ ${1:-} != --programs ]] || targets=("${programs[@]}")
((${#targets[@]})) || die "found no programs to build"

bazel_do build "${flags[@]}" "${targets[@]}"
if ((!${#flags[@]})) && [[ ${targets[*]} == //... || ${1:-} == --programs ]]; then
  install_programs "${programs[@]}"
  mv "$started" "$(stamp)"
fi
