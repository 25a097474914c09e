# shellcheck shell=bash
# ensure_packages PURPOSE…: installs what is missing through apt, says before what and why, and touches nothing
# (not even the package lists) when nothing is missing. INSTALL=no only names it.
# Needs say.sh and packages.sh; ROOT is the project. Sets PACKAGES_CHANGED=yes when it installed something.

# True when one package of the requirement is installed, or its command is on the PATH.
is_met() {
  local requirement="$1" command="" name status
  if [[ $requirement == *@* ]]; then
    command="${requirement##*@}"
    command -v "$command" >/dev/null 2>&1 && return 0
  fi
  for name in $(names_of "$requirement"); do
    status="$(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null || true)"
    [[ $status == installed ]] && return 0
  done
  return 1
}

# "? a | b @c" -> "a b"
names_of() {
  local names="${1%%@*}"
  names="${names#\?}"
  echo "${names//|/ }"
}

# The first name of the requirement that apt can install, or nothing.
offered() {
  local name
  for name in $(names_of "$1"); do
    if apt-cache show --no-all-versions "$name" >/dev/null 2>&1; then
      echo "$name"
      return
    fi
  done
}

# Prints the requirements of these purposes that are not met, one a line.
missing_requirements() {
  local purpose requirement
  for purpose in "$@"; do
    while read -r requirement; do
      is_met "$requirement" || echo "$requirement"
    done < <(packages_for "$purpose")
  done
}

# How to become root: nothing, "sudo", or false when there is no way. Without a terminal sudo may not ask.
root_prefix() {
  if [[ $(id -u) == 0 ]]; then
    echo ""
  elif command -v sudo >/dev/null 2>&1 && { [[ -t 0 ]] || sudo -n true 2>/dev/null; }; then
    echo "sudo"
  else
    return 1
  fi
}

reasons_of() {
  local purpose reasons=""
  for purpose in "$@"; do
    reasons+="${reasons:+, }$(package_reason "$purpose")"
  done
  echo "$reasons"
}

ensure_packages() {
  local -a missing=() needed=() sudo=()
  local requirement prefix
  if ! command -v dpkg-query >/dev/null 2>&1; then
    warn "this is no Debian or Ubuntu; needed: $(names_for "$@")"
    [[ ${INSTALL:-yes} == no ]] || cannot "packages can't be installed here; install their like and add --no-install"
    return 0
  fi
  mapfile -t missing < <(missing_requirements "$@")
  for requirement in "${missing[@]}"; do
    [[ $requirement == \?* ]] || needed+=("$requirement")
  done
  if [[ ${#missing[@]} == 0 ]]; then
    say "packages: nothing is missing ($(reasons_of "$@"))"
  elif [[ ${INSTALL:-yes} == no ]]; then
    warn "missing, and left so by --no-install: $(first_names "${missing[@]}")"
  elif prefix="$(root_prefix)"; then
    [[ -z $prefix ]] || sudo=("$prefix")
    if lists_need_refreshing "${#needed[@]}" "${missing[@]}"; then refresh_lists; fi
    install_requirements "$@"
  elif [[ ${#needed[@]} == 0 ]]; then
    warn "going on without what is wanted but not needed: $(first_names "${missing[@]}")"
  else
    cannot "packages are missing, and this user is neither root nor may use sudo. As root, run:
  apt-get update && apt-get install --no-install-recommends $(first_names "${missing[@]}")
then start this script again; or start it with --no-install"
  fi
}

# Installs what these purposes lack, and says for which purpose first.
install_requirements() {
  local -a install=() unavailable=() names=()
  local purpose requirement name
  for purpose in "$@"; do
    names=()
    while read -r requirement; do
      name="$(offered "$requirement")"
      if [[ -n $name ]]; then
        names+=("$name")
      elif [[ $requirement == \?* ]]; then
        warn "$(first_name "$requirement") is not offered here; going on without it"
      else
        unavailable+=("$(first_name "$requirement")")
      fi
    done < <(missing_requirements "$purpose")
    [[ ${#names[@]} == 0 ]] || say "packages: missing $(package_reason "$purpose"): ${names[*]}"
    install+=("${names[@]}")
  done
  if [[ ${#unavailable[@]} != 0 ]]; then
    cannot "not offered by this system's package sources: ${unavailable[*]} (on Ubuntu, enable 'universe')"
  fi
  [[ ${#install[@]} != 0 ]] || return 0
  say "packages: installing them with apt-get install --no-install-recommends"
  if ! succeeds apt_install "${install[@]}"; then
    # Old lists name versions that the servers no longer hold.
    refresh_lists
    quietly apt_install "${install[@]}"
  fi
  # shellcheck disable=SC2034  # build.sh reads it
  PACKAGES_CHANGED=yes
}

# apt as root; `sudo` is ensure_packages' own: empty, or how to become root.
apt_install() {
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 \
    install -y --no-install-recommends "$@"
}

refresh_lists() {
  say "packages: refreshing the package lists (apt-get update)"
  quietly "${sudo[@]}" apt-get -o DPkg::Lock::Timeout=300 update
  mkdir -p "$ROOT/build"
  touch "$ROOT/build/.lists-refreshed"
}

# A fresh system has no lists. What is only wanted may never be offered: that is asked once a day.
lists_need_refreshing() {
  local count_needed="$1"
  shift
  ! all_offered "$@" || return 1
  ((count_needed > 0)) || [[ -z $(find "$ROOT/build/.lists-refreshed" -mmin -1440 2>/dev/null) ]]
}

all_offered() {
  local requirement
  for requirement in "$@"; do
    [[ -n $(offered "$requirement") ]] || return 1
  done
}

first_name() { names_of "$1" | awk '{print $1}'; }
first_names() {
  local requirement
  local joined=""
  for requirement in "$@"; do joined+="${joined:+ }$(first_name "$requirement")"; done
  echo "$joined"
}
names_for() {
  local purpose requirement
  for purpose in "$@"; do
    while read -r requirement; do printf '%s ' "$(first_name "$requirement")"; done < <(packages_for "$purpose")
  done
}

succeeds() { "$@" </dev/null >/dev/null 2>&1; }

# Shows what a command printed only when it failed.
quietly() {
  local output
  if ! output="$("$@" </dev/null 2>&1)"; then
    printf '%s\n' "$output" | tail -n 20 >&2
    cannot "this failed: $*"
  fi
}
