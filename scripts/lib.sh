# What scripts/run and scripts/test share. Sourced, never run; callers have set strict mode and stand in the project's root.

# Every build goes into build/PRESET, see CMakePresets.json.
preset=release
build_dir="build/$preset"

say() {
  printf '%s\n' "cleat: $*" >&2
}

die() {
  say "$*"
  exit 1
}

# The packages of scripts/packages.txt that this machine does not have, one a line; with `tests` or `bench` those for
# that purpose as well.
missing_packages() {
  local package program purpose status
  while read -r package program purpose; do
    if [[ -n $program ]] && { [[ ${1-} != "${purpose:-tests}" ]] || command -v "$program" >/dev/null; }; then
      continue
    fi
    status=$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null || true)
    [[ $status == installed ]] || printf '%s\n' "$package"
  done < <(grep -v '^#' scripts/packages.txt)
}

# Runs a command as root: directly, or through sudo where there is one.
as_root() {
  if [[ $EUID -eq 0 ]]; then
    "$@"
  else
    sudo "$@"
  fi
}

# Debian makes and starts services of its own when packages with servers arrive. Cleat needs the programs only, so that is
# switched off while they are installed and left to the machine's owner afterwards.
install_packages() {
  local drop_in=/etc/postgresql-common/createcluster.d/cleat.conf policy=/usr/sbin/policy-rc.d result=0
  as_root mkdir -p "$(dirname "$drop_in")"
  printf 'create_main_cluster = false\n' | as_root tee "$drop_in" >/dev/null
  if [[ -e $policy ]]; then
    policy= # somebody has decided already
  else
    printf '#!/bin/sh\nexit 101\n' | as_root tee "$policy" >/dev/null
    as_root chmod 755 "$policy"
  fi
  as_root env DEBIAN_FRONTEND=noninteractive apt-get update -q >&2 || result=$?
  if [[ $result -eq 0 ]]; then
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "$@" >&2 || result=$?
  fi
  as_root rm -f "$drop_in" ${policy:+"$policy"}
  return "$result"
}

# Makes sure that everything which building and running needs is there; with `tests` or `bench` what that needs as well.
ensure_packages() {
  if ! command -v dpkg-query >/dev/null; then
    say "this is no Debian; install what corresponds to scripts/packages.txt if the build misses something"
    return
  fi
  local missing
  mapfile -t missing < <(missing_packages "$@")
  [[ ${#missing[@]} -gt 0 ]] || return 0
  if [[ $EUID -ne 0 ]] && ! command -v sudo >/dev/null; then
    die "these Debian packages are missing and only root may install them:
  apt-get install --no-install-recommends ${missing[*]}"
  fi
  say "installing ${#missing[@]} Debian packages: ${missing[*]}"
  install_packages "${missing[@]}" || die "apt-get failed (see above); the packages are listed in scripts/packages.txt"
}

# Configures and builds all of Cleat. With arguments, only these targets.
build() {
  say "building into $build_dir (the first time takes some minutes)"
  cmake --preset "$preset" --log-level=WARNING >&2
  cmake --build --preset "$preset" ${1:+--target "$@"} >&2
}
