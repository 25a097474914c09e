#!/usr/bin/env bash
# scripts/coverage.sh [--no-install] [--help]
#
# Line coverage of the CUDA backend and of its communication, by the tests on emulated GPUs: builds preset
# 'emulated-coverage', runs the tests with the label `emulated`, prints a table, and fails below 95 %.
#
# Exit status: 0 at least 95 %, 1 less or a test failed, 2 misuse, 3 could not run.
set -euo pipefail
ROOT="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)"
for part in say options packages install build results; do
  # shellcheck source=/dev/null
  source "$ROOT/scripts/lib/$part.sh"
done
read_options "${BASH_SOURCE[0]}" "$@"
ensure_packages build test coverage
cd "$ROOT"
build="build/emulated-coverage"
cmake --preset emulated-coverage
cmake --build "$build" --parallel "$(build_jobs)" --target gpu_tests mirrorscale
find "$build" -name '*.gcda' -delete
ctest --test-dir "$build" --label-regex emulated --parallel "$(nproc)" --timeout 300 --output-on-failure
status=0
gcovr --root . --object-directory "$build" --filter 'kernels/cuda/' --filter 'strategies/comm/nccl/' \
  --gcov-ignore-parse-errors --fail-under-line 95 "$build" || status=$?
((status == 0)) || { echo "line coverage is below 95 %, or could not be measured (gcovr: status $status)" >&2; exit 1; }
