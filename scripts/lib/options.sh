# shellcheck shell=bash
# What every script understands: --help, --no-install. Sets INSTALL; prints the comment at the top of the script as
# its help. Needs say.sh.
# shellcheck disable=SC2034  # install.sh reads INSTALL
read_options() {
  local script="$1"
  shift
  INSTALL=yes
  while [[ $# != 0 ]]; do
    case "$1" in
      -h | --help)
        awk 'NR > 1 && !/^#/ {exit} NR > 1 {sub(/^# ?/, ""); print}' "$script"
        exit 0
        ;;
      --no-install) INSTALL=no ;;
      *) misuse "unknown argument '$1'" ;;
    esac
    shift
  done
}
