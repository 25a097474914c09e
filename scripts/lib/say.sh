# shellcheck shell=bash
# What a script tells the person who runs it: one quiet line a step, and one clear message when it cannot go on.

say() { printf '==> %s\n' "$*"; }
warn() { printf 'note: %s\n' "$*" >&2; }

# Exit status 3: could not run (2 is misuse, 1 is a finding).
cannot() {
  printf 'error: %s\n' "$*" >&2
  exit 3
}
misuse() {
  printf 'error: %s (see --help)\n' "$*" >&2
  exit 2
}
