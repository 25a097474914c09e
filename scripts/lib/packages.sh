# shellcheck shell=bash
# The Debian and Ubuntu packages that mirrorscale uses, by purpose. One requirement a line:
#   name | alternative     either will do; the first one that the system offers is installed
#   name @command          also met by a command of that name on the PATH, wherever it came from
#   ? name …               wanted, not needed: left out with a note where the system does not offer it

package_purposes() { echo build test data reports peers lint docs coverage races; }

package_reason() {
  case "$1" in
    build) echo "to build" ;;
    test) echo "to run the tests" ;;
    data) echo "to train on Fashion-MNIST" ;;
    reports) echo "to draw reports" ;;
    peers) echo "to compare our kernels with other libraries" ;;
    lint) echo "to check format and code" ;;
    docs) echo "to make the API pages" ;;
    coverage) echo "to measure line coverage" ;;
    races) echo "to look for data races on emulated GPUs" ;;
  esac
}

# Prints the requirements of one purpose.
packages_for() {
  case "$1" in
    build)
      cat <<'EOF'
g++ @g++
cmake @cmake
ninja-build @ninja
git @git
pkg-config | pkgconf @pkg-config
python3
libhwy-dev
libhwloc-dev
libcli11-dev
nlohmann-json3-dev
libtomlplusplus-dev
libfmt-dev
zlib1g-dev
libzip-dev
libbenchmark-dev
libgtest-dev
libgmock-dev
EOF
      ;;
    test)
      cat <<'EOF'
python3-pytest
python3-jsonschema
? python3-junitparser
? libbenchmark-tools
EOF
      ;;
    data) echo "? dataset-fashion-mnist" ;;
    coverage) echo "gcovr" ;;
    races)
      cat <<'EOF'
? clang-14 @clang++-14
? libclang-rt-14-dev
EOF
      ;;
    reports)
      cat <<'EOF'
python3-numpy
python3-matplotlib
EOF
      ;;
    peers)
      cat <<'EOF'
? libdnnl-dev
? ocl-icd-opencl-dev
? libopenblas-dev
? libblis-serial-dev
EOF
      ;;
    lint)
      cat <<'EOF'
clang-format-14 | clang-format
? clang-tidy-19 | clang-tidy-18
? cppcheck @cppcheck
? shellcheck @shellcheck
? black @black
? ccache @ccache
EOF
      ;;
    docs) echo "doxygen @doxygen" ;;
    *) return 1 ;;
  esac
}
