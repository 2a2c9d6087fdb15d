# tools/env/build.sh [--programs | TARGET...]: `dev build`, inside the environment. Default: everything.

set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/bazel.sh"
source "$REPO/tools/env/freshness.sh"
env_key() { echo "$KEY"; }

mkdir -p "$CLONE_DIR"
started=$(mktemp "$CLONE_DIR/started.XXXXXX")
trap 'rm -f "$started"; bazel_do shutdown >/dev/null 2>&1 || true' EXIT

mapfile -t programs < <(program_targets)
targets=("$@")
[[ $# != 0 ]] || targets=(//...)
[[ ${1:-} != --programs ]] || targets=("${programs[@]}")
((${#targets[@]})) || die "found no programs to build"

bazel_do build "${targets[@]}"
if [[ ${targets[*]} == //... || ${1:-} == --programs ]]; then
  install_programs "${programs[@]}"
  mv "$started" "$(stamp)"
fi
