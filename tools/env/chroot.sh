# SPDX-License-Identifier: Apache-2.0
# tools/env/chroot.sh ROOT REPO CACHE CWD PROGRAM ARG...: becomes PROGRAM inside ROOT, with the host's folders at the same paths.
#
# Runs in its own mount namespace (see enter.sh), so every mount made here ends with the program.

set -euo pipefail

root=$1 repo=$2 cache=$3 cwd=$4
shift 4

# Top-level folders of the host that the root has its own version of.
is_system() { [[ " bin boot dev etc lib lib32 lib64 libx32 lost+found proc run sbin sys usr var " == *" $1 "* ]]; }

bind() {
  [[ -d $root$1 ]] || mkdir -p "$root$1"
  mount --rbind "$1" "$root$1"
}

# Folders of the caller inside one of those, such as /var/lib/ci/build.
bind_inside_system() {
  local dir=$1 top=${1#/}
  top=${top%%/*}
  if is_system "$top" && [[ -d $dir && ! -d $root$dir ]]; then bind "$dir"; fi
}

for path in /*; do
  [[ -d $path && ! -L $path ]] && ! is_system "${path#/}" && bind "$path"
done
for path in "$repo" "$(dirname "$repo")/shared" "$cache" "$cwd" "${HOME:-/root}" "${TMPDIR:-/tmp}" "${HALFTONE_SHARED:-/tmp}"; do
  bind_inside_system "$path"
done
for path in /proc /sys /dev; do bind "$path"; done
for path in /etc/resolv.conf /etc/hosts; do
  [[ ! -e $path ]] || mount --bind "$path" "$root$path"
done

exec chroot "$root" "$@"
