# shellcheck shell=bash
# build_preset PRESET [TARGET…]: configures build/PRESET when needed and builds it. Needs say.sh; ROOT is the project.

# As many compilers as there are cores, and no more than fit into memory (1.5 GiB each).
build_jobs() {
  local cores memory_kib group="/sys/fs/cgroup/memory.max" group_bytes
  cores="$(nproc)"
  memory_kib="$(awk '/^MemAvailable:/ {print $2}' /proc/meminfo)"
  if [[ -r $group ]]; then
    group_bytes="$(cat "$group")"
    if [[ $group_bytes =~ ^[0-9]+$ ]] && ((group_bytes / 1024 < memory_kib)); then
      memory_kib=$((group_bytes / 1024))
    fi
  fi
  local fit=$((memory_kib / 1572864))
  ((fit >= 1)) || fit=1
  echo $((fit < cores ? fit : cores))
}

# A tree that was copied or moved carries a cache of another place; CMake refuses it, so start afresh.
cache_is_foreign() {
  local cache="$1/CMakeCache.txt"
  [[ -f $cache ]] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$ROOT" "$cache"
}

build_preset() {
  local preset="$1" folder="$ROOT/build/$1" log
  shift
  local -a fresh=() targets=()
  [[ $# == 0 ]] || targets=(--target "$@")
  if [[ -z ${CMAKE_CXX_COMPILER_LAUNCHER:-} ]] && command -v ccache >/dev/null 2>&1; then
    export CMAKE_CXX_COMPILER_LAUNCHER=ccache
  fi
  cache_is_foreign "$folder" && fresh=(--fresh)
  mkdir -p "$folder"
  log="$folder/last_build.log"
  # A package that was installed since may be one that the last configuration looked for in vain.
  if [[ ! -f $folder/build.ninja || ${#fresh[@]} != 0 || ${PACKAGES_CHANGED:-no} == yes ]]; then
    say "configure: build/$preset"
    (cd "$ROOT" && cmake --preset "$preset" "${fresh[@]}") >"$log" 2>&1 </dev/null || build_failed "$log"
  fi
  say "build: build/$preset (what is up to date is kept; log in build/$preset/last_build.log)"
  (cd "$ROOT" && cmake --build "build/$preset" --parallel "$(build_jobs)" "${targets[@]}") >"$log" 2>&1 </dev/null ||
    build_failed "$log"
}

build_failed() {
  grep -E 'error|Error|FAILED' "$1" | head -n 20 >&2 || true
  tail -n 20 "$1" >&2
  cannot "the build failed; all of it is in $1"
}
