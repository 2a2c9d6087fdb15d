# SPDX-License-Identifier: Apache-2.0
# tools/env/test.sh [--config=asan] [TARGET...]: `dev test`, inside the environment.
#
#   1. bazel build //...
#   2. bazel test //... (or the targets given)
#   3. again with ONEDNN_MAX_CPU_ISA=AVX2: the tests that depend on oneDNN and do not test one instruction set
#   4. tests that call Bazel or dev themselves: every executable tests/*/dev_test.sh. They print "PASS name", "FAIL name" or
#      "SKIP name: reason" lines, as sh_tests (Python tests) inside Bazel do.
#
# Test tags: needs-bf16 (left out, with a message, where the CPU has no AVX512_BF16), isa-specific, slow, python (not run twice).
# With the shared folder a skipped test counts as failed, because every test can run there.

set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/bazel.sh"

results=$(mktemp -d)
trap 'rm -rf "$results"; bazel_do shutdown >/dev/null 2>&1 || true' EXIT

shared=${HALFTONE_SHARED:-}
build_flags=()
while [[ ${1:-} == --* ]]; do
  build_flags+=("$1")
  shift
done
targets=("$@")
[[ $# != 0 ]] || targets=(//...)

test_flags=("${build_flags[@]}" --keep_going --nocache_test_results --local_test_jobs=2)
[[ -z $shared ]] || test_flags+=("--test_env=HALFTONE_SHARED=$shared")
[[ -z ${HALFTONE_ONNX_TESTDATA:-} ]] || test_flags+=("--test_env=HALFTONE_ONNX_TESTDATA=$HALFTONE_ONNX_TESTDATA")
skip_tags=()
if ! grep -qw avx512_bf16 /proc/cpuinfo; then
  say "this CPU has no AVX512_BF16: tests tagged needs-bf16 are left out"
  skip_tags+=(-needs-bf16)
fi

# bazel_tests NAME FLAG...: one pass; its events go to $results/NAME.json. Goes on after a failed test.
bazel_tests() {
  local name=$1 status=0
  shift
  bazel_do test "${test_flags[@]}" "--build_event_json_file=$results/$name.json" "$@" || status=$?
  # 0 passed, 1 build failed, 3 tests failed, 4 no tests: the events tell these. Other codes are failures of Bazel.
  case $status in
    0 | 1 | 3 | 4) ;;
    *) echo "FAIL bazel-$name: exit code $status" >"$results/bazel-$name.lines" ;;
  esac
  # The next pass overwrites the results.
  mkdir -p "$results/$name"
  python3 "$REPO/tools/env/tally.py" collect "$name" "$results/$name.json" >"$results/$name.lines.tmp"
  mv "$results/$name.lines.tmp" "$results/$name.lines"
}

tags() { local IFS=,; echo "--test_tag_filters=$*"; }

say "build"
started=$SECONDS
bazel_do build "${build_flags[@]}" --keep_going "${targets[@]}" || echo "FAIL build ${targets[*]}" >"$results/build.lines"
if ((!${#build_flags[@]})); then
  mapfile -t programs < <(program_targets)
  install_programs "${programs[@]}"
fi

((!${#build_flags[@]})) || skip_tags+=(-slow)
say "tests (after $((SECONDS - started)) s)"
bazel_tests first "$(tags "${skip_tags[@]}")" "${targets[@]}"

if ((${#build_flags[@]})); then
  # One pass is enough for instrumented programs, and step 4 would build without instrumentation.
  say "done in $((SECONDS - started)) s"
  python3 "$REPO/tools/env/tally.py" total "$results"/*.lines
  exit
fi

say "tests that depend on oneDNN, with AVX2 (after $((SECONDS - started)) s)"
mapfile -t again < <(bazel_do query --noshow_progress --keep_going \
  "kind('_test rule', set(${targets[*]})) intersect rdeps(//..., //third_party:onednn)" 2>/dev/null)
if ((${#again[@]})); then
  bazel_tests avx2 --test_env=ONEDNN_MAX_CPU_ISA=AVX2 "$(tags -needs-bf16 -isa-specific -slow -python)" "${again[@]}"
fi

if [[ $# == 0 ]]; then
  for script in tests/*/dev_test.sh; do
    [[ -x $script ]] || continue
    name=$(basename "$(dirname "$script")")
    say "step $name (after $((SECONDS - started)) s)"
    status=0
    "./$script" </dev/null 2>&1 | tee "$results/step.log" || status=$?
    grep -aE '^(PASS|FAIL|SKIP) ' "$results/step.log" >"$results/step-$name.lines" || true
    if [[ $status != 0 ]] && ! grep -q '^FAIL ' "$results/step-$name.lines"; then
      echo "FAIL $script: exit code $status" >>"$results/step-$name.lines"
    fi
  done
fi

say "done in $((SECONDS - started)) s"
python3 "$REPO/tools/env/tally.py" total ${shared:+--no-skips} "$results"/*.lines
