#!/usr/bin/env bash
# scripts/tidy.sh [--seconds N] [FILE…] [--help]
#
# Runs clang-tidy (19; see .clang-tidy) with the commands of build/dev (configured here when needed): on the FILEs named,
# else on the sources that changed since the last commit or in it, and then on as many others as N seconds allow
# (default: all of them; the order is another one for each commit, so that in time all come round).
#
# Exit status: 0 nothing found, 1 findings, 2 misuse, 3 could not run.
set -euo pipefail
ROOT="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)"
# shellcheck source=scripts/lib/say.sh
source "$ROOT/scripts/lib/say.sh"
# shellcheck source=scripts/lib/options.sh
source "$ROOT/scripts/lib/options.sh"

seconds=""
if [[ ${1:-} == --seconds ]]; then
  [[ ${2:-} =~ ^[0-9]+$ ]] || misuse "--seconds wants a whole number, not '${2:-}'"
  seconds="$2"
  shift 2
fi
named=()
for argument in "$@"; do
  case "$argument" in
    -*) read_options "${BASH_SOURCE[0]}" "$argument" && misuse "unknown argument '$argument'" ;;
    *) named+=("$(realpath --relative-to="$ROOT" -- "$argument")") ;;
  esac
done

cd "$ROOT"
tidy="$(command -v clang-tidy-19 || command -v clang-tidy-18 || true)"
[[ -n $tidy ]] || cannot "clang-tidy-19 is not installed (14 can't read this code)"
commands="build/dev/compile_commands.json"
{ cmake --preset dev && cmake --build build/dev --target mirrorscale_version; } >/dev/null ||
  cannot "build/dev can't be configured; run: cmake --preset dev"

compiled="$(sed -n 's/^ *"file": "\(.*\)",\{0,1\}$/\1/p' "$commands" | sed "s|^$ROOT/||" | grep -v '^build/' | sort -u)"

# Sources that changed, and those that carry the name of a header that changed.
changed() {
  { git diff --name-only HEAD~1 2>/dev/null || true; git ls-files --others --exclude-standard; } |
    sed -E 's/(-inl)?\.h$/.cpp/' | sort -u | grep -xF "$compiled" || true
}
rotated() {
  local seed name
  seed="$(git rev-parse HEAD)"
  while IFS= read -r name; do printf '%s %s\n' "$(cksum <<<"$seed$name" | cut -d' ' -f1)" "$name"; done | sort -n | cut -d' ' -f2-
}

if [[ ${#named[@]} != 0 ]]; then
  files=("${named[@]}")
else
  mapfile -t files < <({ changed; rotated <<<"$compiled"; } | awk '!seen[$0]++')
fi

results="$(mktemp -d)"
trap 'rm -rf "$results"' EXIT
deadline=""
[[ -z $seconds ]] || deadline=$(($(date +%s) + seconds))

# One file: nothing once the time is up; else an empty mark when clean, the findings when not.
tidy_one() {
  local mark="$results/${1//\//+}"
  [[ -z $deadline ]] || (($(date +%s) < deadline)) || return 0
  if ! "$tidy" --quiet -p build/dev "$1" >"$mark.found" 2>"$mark.errors"; then
    { cat "$mark.found"; grep -E 'error|Error' "$mark.errors" || true; } >"$mark.failed"
  fi
  touch "$mark.done"
}
export -f tidy_one
export results deadline tidy
# shellcheck disable=SC2016  # the inner shell expands it
printf '%s\0' "${files[@]}" | xargs -0 -P "$(nproc)" -I{} bash -c 'tidy_one "$1"' - {}

looked_at="$(find "$results" -name '*.done' | wc -l)"
found="$(find "$results" -name '*.failed' | wc -l)"
find "$results" -name '*.failed' -exec cat {} +
say "clang-tidy: $looked_at of ${#files[@]} files looked at${seconds:+ in $seconds s}, findings in $found"
[[ $looked_at != 0 ]] || cannot "no file was looked at"
((found == 0))
