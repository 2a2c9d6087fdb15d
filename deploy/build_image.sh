#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# build_image.sh [NAME]: the image of deploy/Dockerfile without a Docker engine, then the demo against it.
#
#   ./dev run --tier image deploy/build_image.sh            buildah of the environment
#   sudo deploy/build_image.sh                              buildah of the host
#
# Needs root (chroot isolation). Ends with exit code 0 when the image was built and its programs worked.
#
#   BASE_IMAGE        base of both stages (default: debian:trixie-slim)
#   BASE_ROOT         a Debian 13 root (folder or tar) to use instead of a base image; without it, and when the registry
#                     cannot be reached, debootstrap makes one
#   DEBIAN_MIRROR     where debootstrap fetches packages (default: its own)
#   IMAGE_STORE       where images are kept (default: $HALFTONE_CACHE/images, else ~/.cache/halftone/images)
#   BUILD_CACHE       a folder for Bazel's results, to be fast the next time; only of builds with the same Debian packages
#   IMAGE_OCI         also write the image as an OCI archive to this file
#   SKIP_BUILD=1      only try the image that is there

set -euo pipefail
shopt -s inherit_errexit

REPO=$(cd -P "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
NAME=${1:-localhost/halftone:latest}
STORE=${IMAGE_STORE:-${HALFTONE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/halftone}/images}
BASE_IMAGE=${BASE_IMAGE:-debian:trixie-slim}
OWN_BASE=localhost/halftone-base:trixie
LIMITS=()
WORK=

say() { printf 'build_image: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

cleanup() { [[ -z $WORK ]] || rm -rf "$WORK"; }
trap cleanup EXIT

b() { buildah --storage-driver vfs --root "$STORE/root" --runroot "$STORE/run" "$@"; }

# In a plain chroot the root folder is no mount point, and buildah cannot unpack layers there: make it one.
ensure_root_is_a_mount() {
  ! awk '$5 == "/" { found = 1 } END { exit !found }' /proc/self/mountinfo || return 0
  [[ -z ${HALFTONE_IMAGE_REMOUNTED:-} ]] || die "the root folder is no mount point"
  HALFTONE_IMAGE_REMOUNTED=1 exec unshare --mount --propagation unchanged bash -euc '
    root=$(mktemp -d); here=$PWD
    mount --rbind / "$root"
    exec chroot "$root" bash -c "cd \"\$0\" && exec \"\$@\"" "$here" "$@"' bash "$REPO/deploy/build_image.sh" "$NAME"
}

# Limits that are not above those of this shell: buildah wants higher ones, which not every root may set.
limits() {
  local files processes
  files=$(ulimit -Hn) processes=$(ulimit -Hu)
  [[ $files == unlimited ]] || printf '%s\n' --ulimit "nofile=$files:$files"
  [[ $processes == unlimited ]] || printf '%s\n' --ulimit "nproc=$processes:$processes"
}

main() {
  command -v buildah >/dev/null || die "buildah is missing: ./dev run --tier image deploy/build_image.sh, or apt-get install buildah"
  [[ $EUID == 0 ]] || die "needs root: chroot isolation"
  ensure_root_is_a_mount
  mkdir -p "$STORE"
  mapfile -t LIMITS < <(limits)
  WORK=$(mktemp -d)
  without_netavark
  if [[ -z ${SKIP_BUILD:-} ]]; then build; fi
  try_image
  [[ -z ${IMAGE_OCI:-} ]] || b push "$NAME" "oci-archive:$IMAGE_OCI:${NAME##*/}"
  say "$NAME is ready in $STORE"
}

# buildah wants its network helper at the start, also when it never calls it: only the host's network is used here.
without_netavark() {
  [[ ! -x /usr/lib/podman/netavark && ! -x /usr/libexec/podman/netavark ]] || return 0
  mkdir -p "$WORK/helpers"
  printf '#!/bin/sh\necho "no netavark: only --network host" >&2\nexit 1\n' >"$WORK/helpers/netavark"
  chmod +x "$WORK/helpers/netavark"
  printf '[engine]\nhelper_binaries_dir = ["%s"]\n' "$WORK/helpers" >"$WORK/containers.conf"
  export CONTAINERS_CONF=$WORK/containers.conf
}

build() {
  local base revision cache=()
  base=$(base_image)
  revision=$(git -C "$REPO" rev-parse HEAD 2>/dev/null || echo unknown)
  say "building on $base"
  if [[ -n ${BUILD_CACHE:-} ]]; then
    mkdir -p "$BUILD_CACHE"
    cache=(--volume "$BUILD_CACHE:/cache" --build-arg BAZEL_FLAGS=--disk_cache=/cache)
  fi
  b bud "${cache[@]}" "${LIMITS[@]}" --isolation chroot --network host --format docker \
    --build-arg "BASE=$base" --build-arg "REVISION=$revision" --build-arg "CREATED=$(date -u +%Y-%m-%dT%H:%M:%SZ)" \
    --file "$REPO/deploy/Dockerfile" --tag "$NAME" "$REPO"
}

# base_image: the name of the base; the registry's, else one made here.
base_image() {
  if [[ -z ${BASE_ROOT:-} ]]; then
    if b inspect --type image "$BASE_IMAGE" >/dev/null 2>&1 || timeout 120 buildah --storage-driver vfs --root "$STORE/root" \
      --runroot "$STORE/run" pull --quiet "$BASE_IMAGE" >&2; then
      echo "$BASE_IMAGE"
      return
    fi
    say "$BASE_IMAGE cannot be fetched: making a base of one's own"
  fi
  b inspect --type image "$OWN_BASE" >/dev/null 2>&1 || import_base
  echo "$OWN_BASE"
}

import_base() {
  local root=${BASE_ROOT:-} container
  if [[ -z $root ]]; then
    command -v debootstrap >/dev/null || die "neither registry nor debootstrap: apt-get install debootstrap, or set BASE_ROOT"
    root=$WORK/trixie
    debootstrap --variant=minbase --include=ca-certificates trixie "$root" ${DEBIAN_MIRROR:+"$DEBIAN_MIRROR"} >&2
    rm -rf "$root"/var/cache/apt/archives/*.deb "$root"/var/lib/apt/lists/*
  fi
  container=$(b from scratch)
  b add --quiet "$container" "$root" / >/dev/null
  b config --cmd bash "$container"
  b commit --quiet --rm "$container" "$OWN_BASE" >&2
}

# try_image: the programs run as the image's user, a server starts and is healthy, and the demo goes through it.
try_image() {
  local container
  container=$(b from "${LIMITS[@]}" "$NAME")
  b copy --quiet "$container" "$REPO/deploy/try_in_image.sh" /tmp/try_in_image.sh >/dev/null
  b copy --quiet "$container" "$REPO/tests/demo" /tmp/demo >/dev/null
  b run --isolation chroot --network host --user 65532:65532 "$container" -- bash /tmp/try_in_image.sh || {
    b rm "$container" >/dev/null
    die "the image does not work"
  }
  b rm "$container" >/dev/null
}

main
