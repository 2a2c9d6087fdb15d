# SPDX-License-Identifier: Apache-2.0
# tools/env/tidy.sh [--changed | FILE...]: `dev tidy`, inside the environment 'clang'. Default: every .cc file.
#
# --changed: only files that the last 10 commits changed, and at most 24 of them, to limit the time in CI.
# Generates the protos first, because clang-tidy reads the generated headers. Prints "PASS tidy FILE", or the findings and
# "FAIL tidy FILE".

set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/log.sh"

readonly MOST_CHANGED=24 COMMITS=10

generated=$(mktemp -d)
trap 'rm -rf "$generated"' EXIT

# Generates what third_party/proto.bzl generates, into one folder.
generate_protos() {
  (cd proto && protoc -I. "--cpp_out=$generated" "--grpc_out=$generated" \
    --plugin=protoc-gen-grpc=/usr/bin/grpc_cpp_plugin halftone/v1/*.proto)
  git ls-files '*.proto' | grep -v '^proto/' | xargs -n1 protoc -I. -Iproto "--cpp_out=$generated"
}

changed_files() {
  local base
  base=$(git rev-parse --verify -q "HEAD~$COMMITS" || git rev-list --max-parents=0 HEAD | tail -1)
  git diff --name-only --diff-filter=d "$base" -- '*.cc' | head -n "$MOST_CHANGED"
}

case ${1:-} in
  --changed) mapfile -t files < <(changed_files) ;;
  "") mapfile -t files < <(git ls-files '*.cc') ;;
  *) files=("$@") ;;
esac
((${#files[@]})) || { say "no file to check"; exit 0; }

check() {
  local generated=$1 file=$2
  if clang-tidy --quiet "$file" -- -std=c++20 -march=x86-64-v2 -fopenmp -DONNX_NAMESPACE=onnx -DONNX_ML=1 \
    -I. "-I$generated" 2>/dev/null; then
    echo "PASS tidy $file"
  else
    echo "FAIL tidy $file"
    return 1
  fi
}
export -f check

generate_protos
printf '%s\n' "${files[@]}" | xargs -P 2 -I{} bash -c 'check "$1" "$2"' check "$generated" {}
