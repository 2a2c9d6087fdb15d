# SPDX-License-Identifier: Apache-2.0
# tools/env/root.sh: a Debian 13 root in the cache, for hosts that are older. Sourced by `dev`.
#
# Each package set has its own directory, $CACHE/roots/<tier>-<hash of the list>. It is made under a lock and a temporary name
# and renamed when complete. After that nothing changes it.
# Needs: say, die, step (tools/env/log.sh), packages.sh, CACHE.

ROOT_FORMAT=1  # increase when this file makes roots differently

# tier_packages TIER: the packages that a tier adds to the base.
tier_packages() {
  case $1 in
    base) printf '%s\n' "${PACKAGES_BASE[@]}" ;;
    bench) printf '%s\n' "${PACKAGES_BENCH[@]}" ;;
    image) printf '%s\n' "${PACKAGES_IMAGE[@]}" ;;
    clang) printf '%s\n' "${PACKAGES_CLANG[@]}" ;;
    *) die "no such tier: $1 (base, bench, image or clang)" ;;
  esac
}

# root_path TIER: where the tier's root is, or will be.
root_path() {
  local key
  key=$({ echo "$ROOT_FORMAT $SUITE $(dpkg --print-architecture)"; tier_packages base; echo "$1"; tier_packages "$1"; } |
    sha256sum | cut -c1-12)
  echo "$CACHE/roots/$1-$key"
}

# ensure_root TIER: makes the root unless it exists. Of two calls at once the second waits for the first.
ensure_root() {
  local tier=$1 root
  root=$(root_path "$tier")
  [[ -d $root ]] && return
  [[ $EUID == 0 ]] || die "the environment '$tier' is not made yet, and making it (debootstrap, chroot) needs root: run 'sudo HALFTONE_CACHE=$CACHE ./dev setup $tier' once"
  [[ $tier == base ]] || ensure_root base
  mkdir -p "$CACHE/roots" "$CACHE/locks"
  [[ -z ${SUDO_UID:-} ]] || chown "$SUDO_UID:$SUDO_GID" "$CACHE" "$CACHE/roots" "$CACHE/locks"  # the caller owns the cache, root the files in the roots
  local lock
  exec {lock}>"$CACHE/locks/root-$(basename "$root")"
  flock -n "$lock" || { say "another call is making the environment '$tier': waiting"; flock "$lock"; }
  [[ -d $root ]] || make_root "$tier" "$root"
  exec {lock}>&-
}

# make_root TIER ROOT: called under the lock.
make_root() {
  local tier=$1 root=$2
  rm -rf "$root".making.*  # left by an interrupted call; as we hold the lock, it is not in use
  local new=$root.making.$$
  say "making the Debian 13 environment '$tier' in $root (once; later calls start at once)"
  if [[ $tier == base ]]; then
    ensure_debootstrap
    step "bootstrap Debian $SUITE" bootstrap "$new"
  else
    step "copy the base environment" cp -a --reflink=auto "$(root_path base)" "$new"
  fi
  step "install $(tier_packages "$tier" | wc -l) packages ($tier)" install_packages "$new" $(tier_packages "$tier")
  mv "$new" "$root"
}

ensure_debootstrap() {
  command -v debootstrap >/dev/null && return
  step "install debootstrap on the host" host_apt_install debootstrap debian-archive-keyring
}

host_apt_install() {
  export DEBIAN_FRONTEND=noninteractive
  apt-get install -y --no-install-recommends "$@" || { apt-get update && apt-get install -y --no-install-recommends "$@"; }
}

# host_mirror: the Debian mirror of the host's own apt, if it has one that debootstrap can use.
host_mirror() {
  local id codename
  id=$(. /etc/os-release && echo "$ID") codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
  [[ $id == debian && -n $codename ]] || return 0
  apt-get indextargets --format '$(RELEASE) $(REPO_URI)' 2>/dev/null |
    awk -v c="$codename" '$1 == c && $2 ~ /^(https?|file):/ { sub(/\/$/, "", $2); print $2; exit }'
}

# apt_acquire_settings: proxies, certificates and similar settings of the host's apt.
apt_acquire_settings() {
  apt-config dump | grep -E '^Acquire::(http|https|ftp|Check-|Retries|Force)' | grep -v '::Dl-Limit' || true
}

bootstrap() {
  local root=$1 mirror proxy done=
  proxy=$(apt-config dump Acquire::http::Proxy | sed -n 's/^Acquire::http::Proxy "\(.*\)";$/\1/p')
  [[ -z $proxy || $proxy == DIRECT ]] || export http_proxy="${http_proxy:-$proxy}"
  for mirror in $(host_mirror) ""; do  # "": debootstrap's own choice
    rm -rf "$root"
    debootstrap --variant=minbase --include=ca-certificates "$SUITE" "$root" ${mirror:+"$mirror"} && done=1 && break
  done
  [[ -n $done ]] || return 1
  [[ -z $mirror ]] || echo "deb $mirror $SUITE main" >"$root/etc/apt/sources.list"
  printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d" && chmod +x "$root/usr/sbin/policy-rc.d"
  printf '%s\n' force-unsafe-io 'path-exclude /usr/share/doc/*' 'path-exclude /usr/share/man/*' \
    'path-exclude /usr/share/locale/*' >"$root/etc/dpkg/dpkg.cfg.d/halftone"
}

# install_packages ROOT PACKAGE...: uses the host's apt settings, and removes its passwords from the root afterwards.
install_packages() {
  local root=$1 etc
  shift
  etc=$root/etc/apt
  apt_acquire_settings >"$etc/apt.conf.d/00host"
  cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
  [[ ! -e /etc/apt/auth.conf ]] || cp /etc/apt/auth.conf "$etc/"
  cp -r /etc/apt/auth.conf.d /etc/apt/keyrings "$etc/" 2>/dev/null || true
  if [[ -d /usr/local/share/ca-certificates ]]; then
    cp -r /usr/local/share/ca-certificates "$root/usr/local/share/"
  fi
  unshare --mount --propagation private bash -euc '
    root=$1; shift
    for d in proc sys dev; do mount --rbind /$d "$root/$d"; done
    export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin
    chroot "$root" update-ca-certificates
    chroot "$root" apt-get update
    chroot "$root" apt-get install -y --no-install-recommends "$@"
    chroot "$root" apt-get clean
  ' install "$root" "$@"
  rm -rf "$etc/auth.conf" "$etc/auth.conf.d" "$etc/apt.conf.d/00host" "$root"/var/lib/apt/lists/*
}
