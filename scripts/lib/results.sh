# shellcheck shell=bash
# print_counts FILE: 'N passed, N failed, N skipped' from the JUnit record of a ctest run. Needs say.sh.
print_counts() {
  local file="$1" tests failed skipped disabled
  [[ -s $file ]] || cannot "ctest left no results in $file"
  tests="$(junit_count "$file" tests)" failed="$(junit_count "$file" failures)"
  skipped="$(junit_count "$file" skipped)" disabled="$(junit_count "$file" disabled)"
  echo "$((tests - failed - skipped - disabled)) passed, $failed failed, $((skipped + disabled)) skipped"
}

# An attribute of the whole run: those of single tests come after the first <testcase.
junit_count() { sed -n "/<testcase/q;s/.*[[:space:]]$2=\"\\([0-9]*\\)\".*/\\1/p" "$1"; }
