#!/usr/bin/env bash
# scripts/test.sh [--no-install] [--help]
#
# Builds mirrorscale and runs its tests: what needs no GPU and takes seconds (`ctest --preset slow` has the rest).
# Installs what is missing (Debian, Ubuntu; as root or through sudo), says what it installs, and installs nothing when
# nothing is missing.
#
#   --no-install   install nothing; name what is missing and go on without it
#
# Exit status: 0 all tests passed, 1 a test failed, 2 misuse, 3 could not run.
set -euo pipefail
ROOT="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)"
for part in say options packages install build results; do
  # shellcheck source=/dev/null
  source "$ROOT/scripts/lib/$part.sh"
done

read_options "${BASH_SOURCE[0]}" "$@"
ensure_packages build test data reports peers
build_preset release

say "test: ctest, preset release"
cd "$ROOT"
results="build/release/test_results.xml"
rm -f "$results"
status=0
ctest --preset release --parallel "$(nproc)" --output-junit "$ROOT/$results" </dev/null || status=1

print_counts "$results"
exit "$status"
