#!/usr/bin/env bash
# tests/build/dev_test.sh: the arrows between the folders hold. Called by `dev test`, inside the environment.
#
# 1. Breaks each arrow of arrows.txt in a copy of the workspace (a forest of links) and sees Bazel refuse it.
# 2. Looks for system headers outside the folders that they belong to (includes.txt), which Bazel cannot see.
# 3. Looks for types that are defined twice (one_definition.py), which neither compiler nor linker must see; and puts one
#    into a copy, to see that it would be found.
# 4. Looks for names of file formats in ir/, passes/ and runtime/ (file_formats.py), which formats/ alone may know; and puts
#    one into a copy, to see that it would be found.

set -euo pipefail

HERE=$(cd -P "$(dirname "${BASH_SOURCE[0]}")" && pwd)
REPO=$(cd -P "$HERE/../.." && pwd)
SCRATCH=$(mktemp -d)
failed=0

check_file_formats() {
  local found
  if found=$(python3 "$HERE/file_formats.py" "$REPO" "$HERE/file_formats.txt" ir passes runtime); then
    pass "ir, passes and runtime name no file format"
  else
    fail "file formats are named in: ${found//$'\n'/; }"
  fi
  mkdir -p "$SCRATCH/formats/ir"
  printf '// As ONNX does.\nint one = 0;  // not "onnx"\nbool IsOnnx();\nconst char* name = "a graphdef // ";\n' >"$SCRATCH/formats/ir/one.h"
  found=$(python3 "$HERE/file_formats.py" "$SCRATCH/formats" /dev/null ir || true)
  if [[ $found == $'ir/one.h:3: bool IsOnnx();\nir/one.h:4: const char* name = "a graphdef // ";' ]]; then
    pass "a file format that is named in code is found"
  else
    fail "a file format that is named in code is not found: $found"
  fi
}

main() {
  copy_workspace
  break_arrows
  analyze
  judge_arrows
  check_includes
  check_definitions
  check_file_formats
  exit "$failed"
}

pass() { echo "PASS $*"; }
fail() { echo "FAIL $*"; failed=1; }

# rules: "may|not package target name-of-the-scratch-target", a line each.
rules() {
  sed 's/#.*//' "$HERE/arrows.txt" | awk 'NF == 3 { print "may", $2, $3, "scratch_" NR } NF == 2 { print "not", $1, $2, "scratch_" NR }'
}

copy_workspace() {
  (cd "$REPO" && find . -path ./.git -prune -o -name 'bazel-*' -prune -o \( -type f -o -type l \) -print) |
    (cd "$SCRATCH" && mkdir ws && cd ws && while read -r file; do
      mkdir -p "${file%/*}" && ln -s "$REPO/$file" "$file"
    done)
}

# One target for each rule, in the package that the rule is about.
break_arrows() {
  local kind package target name build
  while read -r kind package target name; do
    build=$SCRATCH/ws/$package/BUILD
    [[ -e $build ]] || continue
    if [[ -L $build ]]; then cp --remove-destination "$(readlink "$build")" "$build"; fi
    chmod u+w "$build"
    printf '\ncc_library(name = "%s", deps = ["%s"])\n' "$name" "$target" >>"$build"
  done < <(rules)
}

# All rules in one analysis; nothing is compiled.
analyze() {
  local -a labels
  mapfile -t labels < <(rules | while read -r _ package _ name; do
    [[ ! -e $SCRATCH/ws/$package/BUILD ]] || echo "//$package:$name"
  done)
  cd "$SCRATCH/ws"
  trap 'bazel --nohome_rc "--output_base=$SCRATCH/out" shutdown >/dev/null 2>&1; chmod -R u+w "$SCRATCH"; rm -rf "$SCRATCH"' EXIT
  bazel --nohome_rc "--output_base=$SCRATCH/out" build --nobuild --keep_going --noshow_progress "${labels[@]}" \
    >"$SCRATCH/log" 2>&1 || true
}

judge_arrows() {
  local kind package target name refused
  while read -r kind package target name; do
    if [[ ! -e $SCRATCH/ws/$package/BUILD ]]; then
      fail "arrow $package -> $target: no such package, correct arrows.txt"
      continue
    fi
    refused=$(grep -cF "is not visible from target '//$package:$name'" "$SCRATCH/log" || true)
    case $kind/$refused in
      may/0)
        if grep -qF "//$package:$name'" "$SCRATCH/log"; then
          fail "arrow $package -> $target is allowed, but does not analyze"
          grep -F "//$package:$name" "$SCRATCH/log" >&2
        else
          pass "arrow $package -> $target is allowed"
        fi ;;
      may/*) fail "arrow $package -> $target should be allowed" ;;
      not/0)
        fail "arrow $package -> $target is not refused for its visibility"
        grep -F "//$package:$name" "$SCRATCH/log" >&2 || true ;;
      not/*) pass "arrow $package -> $target is refused" ;;
    esac
  done < <(rules)
}

# includes.txt: a pattern of headers, then the folders that may include them.
check_includes() {
  local header folders bad
  while read -r header folders; do
    bad=$(cd "$REPO" && grep -rlE --include='*.cc' --include='*.h' "^ *# *include *[<\"]($header)" . |
      sed 's#^\./##' | grep -vE "^($(tr ' ' '|' <<<"$folders"))/" || true)
    if [[ -z $bad ]]; then pass "include $header"; else fail "include $header: also in" $bad; fi
  done < <(sed 's/#.*//' "$HERE/includes.txt" | grep -v '^ *$')
}

check_definitions() {
  local found
  if found=$(python3 "$HERE/one_definition.py" "$REPO"); then
    pass "one definition a type: $found"
  else
    fail "types that are defined twice: ${found//$'\n'/; }"
  fi
  mkdir -p "$SCRATCH/twice/a" "$SCRATCH/twice/b"
  printf 'namespace halftone {\nstruct Twice { int x; };\n}\n' >"$SCRATCH/twice/a/one.h"
  printf 'namespace halftone {\nnamespace {\nstruct Mine {};\n}\nclass Twice final {\n};\nstruct Mine {};\n}\n' >"$SCRATCH/twice/b/two.cc"
  found=$(python3 "$HERE/one_definition.py" "$SCRATCH/twice" a b || true)
  if [[ $found == "halftone::Twice: a/one.h:2, b/two.cc:5" ]]; then
    pass "a type that is defined twice is found"
  else
    fail "a type that is defined twice is not found: $found"
  fi
}

check_file_formats() {
  local found
  if found=$(python3 "$HERE/file_formats.py" "$REPO" "$HERE/file_formats.txt" ir passes runtime); then
    pass "ir, passes and runtime name no file format"
  else
    fail "file formats are named in: ${found//$'\n'/; }"
  fi
  mkdir -p "$SCRATCH/formats/ir"
  printf '// As ONNX does.\nint one = 0;  // not "onnx"\nbool IsOnnx();\nconst char* name = "a graphdef // ";\n' >"$SCRATCH/formats/ir/one.h"
  found=$(python3 "$HERE/file_formats.py" "$SCRATCH/formats" /dev/null ir || true)
  if [[ $found == $'ir/one.h:3: bool IsOnnx();\nir/one.h:4: const char* name = "a graphdef // ";' ]]; then
    pass "a file format that is named in code is found"
  else
    fail "a file format that is named in code is not found: $found"
  fi
}

main
