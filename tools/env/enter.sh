# SPDX-License-Identifier: Apache-2.0
# tools/env/enter.sh: from the host into the environment. Sourced by `dev`.
#
# The environment is the host itself (Debian 13 or newer) or a root in the cache (older Debian, Ubuntu). Only this file
# distinguishes the two.

# host_kind: native, root (needs a root of its own) or other.
host_kind() {
  local id version
  id=$(. /etc/os-release 2>/dev/null && echo "${ID:-}") || true
  version=$(. /etc/os-release 2>/dev/null && echo "${VERSION_ID:-999}") || true  # testing and unstable have no number
  case $(uname -m)/$id in
    x86_64/debian) if ((${version%%.*} >= 13)); then echo native; else echo root; fi ;;
    x86_64/ubuntu) echo root ;;
    *) echo other ;;
  esac
}

HOST_KIND=$(host_kind)

# ensure_tier TIER: installs the packages of the tier unless they are installed.
ensure_tier() {
  tier_packages "$1" >/dev/null
  case $HOST_KIND in
    root) ensure_root "$1" ;;
    native) ensure_native "$1" ;;
    *) die "this host is neither Debian nor Ubuntu on x86-64. Use the Docker image: docker build -f deploy/Dockerfile -t halftone . (see deploy/)" ;;
  esac
}

tier_ready() {
  case $HOST_KIND in
    root) [[ -d $(root_path "$1") ]] ;;
    native) [[ -z $(native_missing "$1") ]] ;;
    *) return 1 ;;
  esac
}

# native_missing TIER: packages that are not installed on the host.
native_missing() {
  comm -13 <(dpkg-query -W -f '${Package} ${db:Status-Status}\n' | awk '$2 == "installed" { print $1 }' | sort -u) \
    <(tier_packages "$1" | sort -u)
}

ensure_native() {
  local missing
  [[ $1 == base ]] || ensure_native base
  mapfile -t missing < <(native_missing "$1")
  ((${#missing[@]})) || return 0
  [[ -z ${HALFTONE_ENV_KEY:-} ]] || die "this environment does not have the tier '$1', and cannot install it from inside; leave it and call: dev shell --tier $1"
  [[ $EUID == 0 ]] ||
    die "installing packages needs root: run 'sudo ./dev setup $1' once, or: apt-get install ${missing[*]}"
  step "install ${#missing[@]} packages ($1)" host_apt_install "${missing[@]}"
}

# env_key [TIER]: identifies the environment's compiler and libraries; each key has its own build results. Only the tier clang
# has another compiler than base.
env_key() {
  local tier=base
  [[ ${1:-} != clang ]] || tier=clang
  if [[ -n ${HALFTONE_ENV_KEY:-} ]]; then
    echo "$HALFTONE_ENV_KEY"
  elif [[ $HOST_KIND == root ]]; then
    basename "$(root_path "$tier")"
  else
    echo "native-$tier-$(dpkg-query -W $(tier_packages base; tier_packages "$tier") 2>/dev/null | sha256sum | cut -c1-12)"
  fi
}

# shared_dir: the folder with test models and data, or nothing.
shared_dir() {
  local dir=${HALFTONE_SHARED:-$REPO/../shared}
  [[ ! -d $dir ]] || (cd "$dir" && pwd)
}

# exec_in TIER CWD PROGRAM ARG...: replaces this process by the program, which gets its streams and signals directly.
exec_in() {
  local tier=$1 cwd=$2 shared setting
  shift 2
  shared=$(shared_dir)
  local settings=(
    "PATH=$CLONE_DIR/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    "LANG=C.UTF-8" "HALFTONE_ENV_KEY=$(env_key "$tier")" "HALFTONE_CACHE=$CACHE"
    ${shared:+"HALFTONE_SHARED=$shared"}
  )
  local unset=() name
  for name in LC_ALL LD_LIBRARY_PATH LD_PRELOAD LIBRARY_PATH CPATH PYTHONHOME; do unset+=(-u "$name"); done
  mkdir -p "$CLONE_DIR/bin"
  if [[ $HOST_KIND == native ]]; then
    exec env --chdir="$cwd" "${unset[@]}" "${settings[@]}" "$@"
  fi
  local as_user=()
  [[ $EUID == 0 ]] || as_user=(--user --map-root-user)
  exec unshare "${as_user[@]}" --mount --propagation private \
    bash "$REPO/tools/env/chroot.sh" "$(root_path "$tier")" "$REPO" "$CACHE" "$cwd" \
    env --chdir="$cwd" "${unset[@]}" "${settings[@]}" "$@"
}

# enter: as exec_in, in a subshell: returns when the program ends.
enter() { (exec_in "$@"); }
