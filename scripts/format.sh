#!/usr/bin/env bash
# scripts/format.sh [--check] [--help]
#
# Formats every C++ and Python file of the project, by people and by CI alike. With --check it changes nothing,
# shows what it would change, and ends with status 1.
#
# clang-format 14 is the reference; another version is used with a note where 14 is not installed.
set -euo pipefail
ROOT="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)"
# shellcheck source=scripts/lib/say.sh
source "$ROOT/scripts/lib/say.sh"
# shellcheck source=scripts/lib/options.sh
source "$ROOT/scripts/lib/options.sh"

check=no
case "${1:-}" in
  --check) check=yes ;;
  "") ;;
  *) read_options "${BASH_SOURCE[0]}" "$1" && misuse "unknown argument '$1'" ;;
esac

cd "$ROOT"
# What git knows or would take: build folders are ignored.
files_of() { git ls-files -z --cached --others --exclude-standard -- "$@" | sort -zu | existing; }
existing() { while IFS= read -r -d '' file; do [[ ! -f $file ]] || printf '%s\0' "$file"; done; }

clang_format="$(command -v clang-format-14 || command -v clang-format || true)"
[[ -n $clang_format ]] || cannot "clang-format is not installed (Debian package clang-format-14)"
version="$("$clang_format" --version | grep -oE '[0-9]+\.[0-9.]+' | head -n 1)"
[[ $version == 14.* ]] || warn "clang-format $version is used where 14 is meant; it may differ in places"
how=(-i)
[[ $check == no ]] || how=(--dry-run --Werror)
say "clang-format $version: C++"
status=0
files_of '*.h' '*.cpp' '*.cu' '*.cuh' | xargs -0 -r "$clang_format" "${how[@]}" || status=1

if command -v black >/dev/null 2>&1; then
  how=(--quiet)
  [[ $check == no ]] || how=(--check --diff --quiet)
  say "black: Python"
  files_of '*.py' | xargs -0 -r black "${how[@]}" --config reports/pyproject.toml || status=1
else
  warn "black is not installed; Python is left as it is"
fi
exit "$status"
