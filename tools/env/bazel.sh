# SPDX-License-Identifier: Apache-2.0
# tools/env/bazel.sh: Bazel inside the environment. Sourced by build.sh and test.sh.
#
# Everything that Bazel writes is in the cache, outside the clone: an output base per clone, and one disk cache that all clones
# share. Scripts shut the server down when they end, because it would keep the mounts of this call alive.

REPO=$(cd -P "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
CACHE=$HALFTONE_CACHE
CLONE_DIR=$CACHE/clones/$(sha256sum <<<"$REPO" | cut -c1-12)
KEY=$HALFTONE_ENV_KEY
cd "$REPO"

source "$REPO/tools/env/log.sh"

# One call at a time in a clone: a Bazel client that cannot reach the server of another call would end it.
mkdir -p "$CLONE_DIR"
exec 9>"$CLONE_DIR/bazel.lock"
flock -n 9 || { say "another call builds this clone: waiting"; flock 9; }

# bazel_do COMMAND OPTION...: build, test, query, info, shutdown.
bazel_do() {
  local command=$1 cache=()
  shift
  case $command in build | test) cache=("--disk_cache=$CACHE/disk/$KEY") ;; esac
  bazel --nohome_rc "--output_user_root=$CACHE/bazel/$KEY" "$command" "${cache[@]}" "$@" 9>&-
}

# program_targets: every program outside tests/.
program_targets() {
  bazel_do query --noshow_progress --keep_going "attr(testonly, 0, kind('cc_binary rule', //...))" | grep -v '^//tests/' || true
}

# install_programs TARGET...: copies programs to the clone's folder of programs, side by side as in the image.
install_programs() {
  local bin target path
  bin=$(bazel_do info --noshow_progress bazel-bin 2>/dev/null)
  mkdir -p "$CLONE_DIR/bin"
  for target in "$@"; do
    path=${target#//}
    path=$bin/${path/://}
    if [[ -e $path ]] && ! cmp -s "$path" "$CLONE_DIR/bin/${path##*/}"; then
      cp --reflink=auto "$path" "$CLONE_DIR/bin/.new-${path##*/}"
      chmod 755 "$CLONE_DIR/bin/.new-${path##*/}"
      mv "$CLONE_DIR/bin/.new-${path##*/}" "$CLONE_DIR/bin/${path##*/}"  # a running program keeps its file
    fi
  done
}
