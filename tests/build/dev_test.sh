#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tests/build/dev_test.sh: checks of the sources as a whole. Called by `dev test`, inside the environment.
#
# 1. Dependencies between folders: adds each forbidden dependency of dependencies.txt to a copy of the workspace (symbolic
#    links) and checks that Bazel refuses it.
# 2. System headers outside of the folders that may include them (includes.txt), which Bazel does not check.
# 3. Types that are defined twice (one_definition.py), which neither compiler nor linker must report.
# 4. Names of file formats in ir/, passes/ and runtime/ (file_formats.py), which only formats/ may know.
# 5. Functions of headers that nothing uses (unused_functions.py).
# 6. Retired words (retired_words.py).
# 7. Steps of a job that include a later one (job_steps.py).
#
# Checks 3 to 7 also run on a small example, to see that they find what they look for.

set -euo pipefail

HERE=$(cd -P "$(dirname "${BASH_SOURCE[0]}")" && pwd)
REPO=$(cd -P "$HERE/../.." && pwd)
SCRATCH=$(mktemp -d)
failed=0

main() {
  copy_workspace
  add_dependencies
  analyze
  check_dependencies
  check_includes
  check_definitions
  check_file_formats
  check_functions
  check_words
  check_steps
  exit "$failed"
}

pass() { echo "PASS $*"; }
fail() { echo "FAIL $*"; failed=1; }

# rules: one line per rule: "may|not package target name-of-the-scratch-target".
rules() {
  sed 's/#.*//' "$HERE/dependencies.txt" | awk 'NF == 3 { print "may", $2, $3, "scratch_" NR } NF == 2 { print "not", $1, $2, "scratch_" NR }'
}

copy_workspace() {
  (cd "$REPO" && find . -path ./.git -prune -o -name 'bazel-*' -prune -o \( -type f -o -type l \) -print) |
    (cd "$SCRATCH" && mkdir ws && cd ws && while read -r file; do
      mkdir -p "${file%/*}" && ln -s "$REPO/$file" "$file"
    done)
}

# Adds one target for each rule to the package of the rule.
add_dependencies() {
  local kind package target name build
  while read -r kind package target name; do
    build=$SCRATCH/ws/$package/BUILD
    [[ -e $build ]] || continue
    if [[ -L $build ]]; then cp --remove-destination "$(readlink "$build")" "$build"; fi
    chmod u+w "$build"
    printf '\ncc_library(name = "%s", deps = ["%s"])\n' "$name" "$target" >>"$build"
  done < <(rules)
}

# Analyzes all these targets at once, without compiling.
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

check_dependencies() {
  local kind package target name refused
  while read -r kind package target name; do
    if [[ ! -e $SCRATCH/ws/$package/BUILD ]]; then
      fail "dependency $package -> $target: no such package, correct dependencies.txt"
      continue
    fi
    refused=$(grep -cF "is not visible from target '//$package:$name'" "$SCRATCH/log" || true)
    case $kind/$refused in
      may/0)
        if grep -qF "//$package:$name'" "$SCRATCH/log"; then
          fail "dependency $package -> $target is allowed, but does not analyze"
          grep -F "//$package:$name" "$SCRATCH/log" >&2
        else
          pass "dependency $package -> $target is allowed"
        fi ;;
      may/*) fail "dependency $package -> $target should be allowed" ;;
      not/0)
        fail "dependency $package -> $target is not refused for its visibility"
        grep -F "//$package:$name" "$SCRATCH/log" >&2 || true ;;
      not/*) pass "dependency $package -> $target is refused" ;;
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

# expect_found NAME EXPECTED FOUND: the check NAME found what its example has.
expect_found() {
  if [[ $3 == "$2" ]]; then pass "$1 is found"; else fail "$1 is not found, but: ${3//$'\n'/; }"; fi
}

# check_script TITLE SCRIPT ARG...: passes if the script does; shows its last line, or all of a failure.
check_script() {
  local title=$1 script=$2 found
  shift 2
  if found=$(python3 -B "$HERE/$script" "$@"); then
    found=${found##*$'\n'}
    pass "$title${found:+: $found}"
  else
    fail "$title: ${found//$'\n'/; }"
  fi
}

check_definitions() {
  check_script "one definition per type" one_definition.py "$REPO"
  mkdir -p "$SCRATCH/twice/a" "$SCRATCH/twice/b"
  printf 'namespace halftone {\nstruct Twice { int x; };\n}\n' >"$SCRATCH/twice/a/one.h"
  printf 'namespace halftone {\nnamespace {\nstruct Mine {};\n}\nclass Twice final {\n};\nstruct Mine {};\n}\n' >"$SCRATCH/twice/b/two.cc"
  expect_found "a type that is defined twice" "halftone::Twice: a/one.h:2, b/two.cc:5" \
    "$(python3 -B "$HERE/one_definition.py" "$SCRATCH/twice" a b || true)"
}

check_file_formats() {
  check_script "no file format in ir, passes, runtime" file_formats.py "$REPO" "$HERE/file_formats.txt" ir passes runtime
  mkdir -p "$SCRATCH/formats/ir"
  printf '// As ONNX does.\nint one = 0;  // not "onnx"\nbool IsOnnx();\nconst char* name = "a graphdef // ";\nauto key = "tf.key";\n' >"$SCRATCH/formats/ir/one.h"
  expect_found "a file format in code" $'ir/one.h:3: bool IsOnnx();\nir/one.h:4: const char* name = "a graphdef // ";\nir/one.h:5: auto key = "tf.key";' \
    "$(python3 -B "$HERE/file_formats.py" "$SCRATCH/formats" /dev/null ir || true)"
}

check_functions() {
  check_script "unused functions" unused_functions.py "$REPO" "$HERE/unused_functions.txt"
  mkdir -p "$SCRATCH/unused/a"
  cat >"$SCRATCH/unused/a/one.h" <<'END'
namespace halftone {
int Used(int x);
std::vector<int> Unused(std::function<void(int)> f = Used(1));  // not UnusedToo()
class Box {
 public:
  explicit Box(int x);
  int Local() const;
  int x() const { return Inner(); }
  int Kept();

 private:
  int Inner() const;
};
}
END
  cat >"$SCRATCH/unused/a/one.cc" <<'END'
#include "a/one.h"
namespace halftone {
int Used(int x) { return x; }
std::vector<int> Unused(std::function<void(int)> f) { return {}; }
int Box::Inner() const { return Local(); }
int Box::Local() const { return 1; }
}
END
  printf '#include "a/one.h"\nint main() { return halftone::Used(halftone::Box(1).x()); }  // Unused()\n' >"$SCRATCH/unused/a/two.cc"
  printf 'a/one.h Kept by a macro\n' >"$SCRATCH/unused/exceptions.txt"
  expect_found "an unused function" $'a/one.h:3: Unused: not used\na/one.h:7: Local: used by a/one.cc only' \
    "$(python3 -B "$HERE/unused_functions.py" "$SCRATCH/unused" "$SCRATCH/unused/exceptions.txt" a || true)"
}

check_words() {
  check_script "retired words" retired_words.py "$REPO" "$HERE/retired_words.txt"
  mkdir -p "$SCRATCH/words"
  printf 'The gizmo of a model.\nThe big gizmo.\n' >"$SCRATCH/words/text.md"
  printf 'A gizmo.\n' >"$SCRATCH/words/CHANGELOG.md"
  printf 'gizmo  gadget\n    find \\bgizmos?\\b\n    except big gizmo  another thing\n' >"$SCRATCH/words/list.txt"
  git -C "$SCRATCH/words" init -q
  git -C "$SCRATCH/words" add .
  expect_found "a retired word" $'text.md:1: "gizmo": gadget\n1 retired words, 1 hits in 1 files' \
    "$(python3 -B "$HERE/retired_words.py" "$SCRATCH/words" "$SCRATCH/words/list.txt" || true)"
}

check_steps() {
  check_script "steps of a job in order" job_steps.py "$REPO/optimizer" "$HERE/job_steps.txt"
  mkdir -p "$SCRATCH/steps"
  printf '#include "optimizer/last.h"\n' >"$SCRATCH/steps/first.cc"
  touch "$SCRATCH/steps/first.h" "$SCRATCH/steps/other.h"
  printf '#include "optimizer/first.h"\n' >"$SCRATCH/steps/last.h"
  printf 'first\nlast\n' >"$SCRATCH/steps/order.txt"
  expect_found "an include of a later step" $'other.h: has no place in '"$SCRATCH/steps/order.txt"$'\nfirst.cc: includes the later last.h' \
    "$(python3 -B "$HERE/job_steps.py" "$SCRATCH/steps" "$SCRATCH/steps/order.txt" || true)"
}

main
