#!/usr/bin/env bash
# scripts/gpu_check.sh [--skip PART]… [--out FOLDER] [--architecture N] [--build FOLDER] [--minutes N] [--quick] [--help]
#
# On a machine with a GPU: builds with nvcc, then checks that the GPUs give what they should, and how fast they are.
# Needs nvcc, CMake, a C++20 compiler, and the development packages of README (no internet, no root: what is missing is
# named, and nothing is installed). Records, logs and summary.md are written to FOLDER (default gpu_check). All of it
# ends within N minutes (default 8): a part still running then is stopped, and fails; parts after it fail too. --quick
# trains a small model on small batches in `hash` and `sweep`: whether it works, not how fast it is.
#
# Parts, in this order; each can be skipped (--skip NAME, or in SKIP, separated by spaces):
#   build       preset 'cuda' (the library, the command, and the tests where GoogleTest is installed); --build FOLDER
#               checks what was built there before, and implies --skip build
#   devices     mirrorscale doctor: versions, GPUs, peer access, and the ceilings: FMA peak, products, copies
#   conformance what the engine relies on in CUDA, cuBLAS, cuBLASLt and NCCL, by their interfaces alone
#   kernels     every op against the reference, on a GPU
#   collectives communicators and training on as many GPUs as there are
#   hash        exact numerics: the weight hash of the cpu backend and of 1 and all GPUs must be equal
#   sweep       throughput over batches, on 1 and all GPUs, fast numerics
#   sanitizer   compute-sanitizer over the kernel tests, where it is installed, as far as the time goes
#
# Exit status: 0 all parts passed or were skipped, 1 a part failed, 2 misuse, 3 there is no GPU, or something needed is
# missing.
# shellcheck disable=SC2317  # functions are called through part
set -euo pipefail
ROOT="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)"
PARTS=(build devices conformance kernels collectives hash sweep sanitizer)
skipped=" ${SKIP:-} " out="$ROOT/gpu_check" architecture="" BUILD="$ROOT/build/cuda" minutes=8 quick=""

misuse() {
  echo "gpu_check.sh: $*; see scripts/gpu_check.sh --help" >&2
  exit 2
}
missing() {
  echo "gpu_check.sh: $*" >&2
  exit 3
}
while (($# > 0)); do
  case "$1" in
    --skip) [[ " ${PARTS[*]} " == *" ${2:-} "* ]] || misuse "--skip ${2:-}: expected one of ${PARTS[*]}"
            skipped+=" $2 "; shift 2 ;;
    --out) [[ -n ${2:-} ]] || misuse "--out: expected a folder"
           out="$(mkdir -p "${2:?}" && cd "$2" && pwd -P)"; shift 2 ;;
    --architecture) [[ -n ${2:-} ]] || misuse "--architecture: expected a compute capability such as 90"
                    architecture="$2"; shift 2 ;;
    --build) BUILD="$(cd -- "${2:-/nowhere}" && pwd -P)" || misuse "--build ${2:-}: no such folder"; skipped+=" build "; shift 2 ;;
    --minutes) [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || misuse "--minutes ${2:-}: expected a whole number"; minutes="$2"; shift 2 ;;
    --quick) quick=yes; shift ;;
    --help | -h) sed -n '2,/^set -euo/{/^set -euo/d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}"; exit 0 ;;
    *) misuse "unknown option '$1'" ;;
  esac
done

for name in $skipped; do
  [[ " ${PARTS[*]} " == *" $name "* ]] || misuse "SKIP has '$name': expected some of ${PARTS[*]}"
done

cd "$ROOT"
NVCC="${CUDACXX:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}"
[[ -x $NVCC || $skipped == *" build "* ]] || missing "no nvcc on PATH or in /usr/local/cuda/bin; install the CUDA toolkit (12.4 or newer)"
command -v cmake >/dev/null || missing "no cmake; install CMake 3.25 or newer"
command -v nvidia-smi >/dev/null || missing "no nvidia-smi: is the NVIDIA driver installed?"
GPUS="$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | grep -c . || true)"
((GPUS > 0)) || missing "nvidia-smi lists no GPU"
if [[ -z $architecture ]]; then
  architecture="$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | tr -d '. ' | sort -u | paste -sd';')"
fi
command -v ninja >/dev/null && generator=(-G Ninja) || generator=(-G "Unix Makefiles")
testing=ON
found="$(find /usr /opt -name GTestConfig.cmake -print -quit 2>/dev/null || true)"  # some folders can't be read
if [[ -z $found && -z ${GTest_DIR:-} && $skipped != *" build "* ]]; then
  testing=OFF
  echo "GoogleTest is not installed (libgtest-dev, or GTest_DIR): conformance, kernels, collectives and sanitizer are"
  echo "skipped, and NOTHING but the weight hash checks these GPUs"
  skipped+=" conformance kernels collectives sanitizer "
fi
mkdir -p "$out"
failed=0
lines=()
MIRRORSCALE="$BUILD/scenarios/mirrorscale"

left() { echo $((minutes * 60 - SECONDS)); }
# part NAME TITLE COMMAND…: runs it with its output in FOLDER/NAME.log; it is killed when the time is up.
part() {
  local name="$1" title="$2" begin=$SECONDS status=0 word pid watch limit
  shift 2
  if [[ $skipped == *" $name "* ]]; then
    lines+=("| $name | $title | skipped | |")
    printf '%-12s %-60s skipped\n' "$name" "$title"
    return
  fi
  printf '%-12s %-60s ' "$name" "$title"
  limit="$(left)"
  if ((limit <= 0)); then
    failed=1
    lines+=("| $name | $title | NOT RUN: $minutes minutes were over | |")
    echo "NOT RUN: $minutes minutes were over (--minutes)"
    return
  fi
  set -m  # a process group of its own, so that all of it can be killed
  (set -euo pipefail; "$@") >"$out/$name.log" 2>&1 </dev/null &
  pid=$!
  (sleep "$limit"; kill -- "-$pid" 2>/dev/null) &
  watch=$!
  set +m
  wait "$pid" || status=$?
  kill -- "-$watch" 2>/dev/null || true
  case "$status" in
    0) word=passed ;;
    77) word="skipped: $(tail -n 1 "$out/$name.log")" ;;
    *) word="FAILED ($status)"; ((SECONDS - begin < limit)) || word="FAILED (stopped: $minutes minutes were over)"
       failed=1 ;;
  esac
  printf '%s, %d s\n' "$word" $((SECONDS - begin))
  lines+=("| $name | $title | $word | $((SECONDS - begin)) s |")
  if [[ $word == FAILED* ]]; then tail -n 20 "$out/$name.log" | sed 's/^/    /'; fi
}

build() {
  cmake -S . -B "$BUILD" "${generator[@]}" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DMIRRORSCALE_CUDA=ON \
    -DCMAKE_CUDA_COMPILER="$NVCC" -DCMAKE_CUDA_ARCHITECTURES="$architecture" -DBUILD_TESTING="$testing" \
    -DMIRRORSCALE_BENCHMARKS=OFF
  local targets=(mirrorscale)
  if [[ $testing == ON ]]; then targets+=(gpu_tests); fi
  cmake --build "$BUILD" --parallel "$(nproc)" --target "${targets[@]}"
}
# run_tests PATTERN…: the test programs of these names, each once (starting CUDA takes a second).
run_tests() {
  local pattern test count=0 status=0
  for pattern in "$@"; do
    while read -r test; do
      count=$((count + 1))
      echo "== ${test##*/}"
      "$test" --gtest_brief=1 || status=1
    done < <(find "$BUILD/tests" -type f -executable -name "$pattern" | sort)
  done
  ((count > 0)) || { echo "no test programs in $BUILD/tests"; return 1; }
  return "$status"
}
if [[ $quick ]]; then
  training=(--workload mlp-small --data clusters) batches=32,64 rows=512
else
  training=(--workload mlp --data fashion-twin) batches='[256:16384:*4]' rows=4096
fi
count_gpus() { "$MIRRORSCALE" list | grep -c '^cuda, cuda:' || true; }
hash_of() {
  "$MIRRORSCALE" train "${training[@]}" --limit-rows "$rows" --epochs 1 --backend "$1" --devices "$2" \
    "${@:3}" | sed -n 's/^weight hash: //p'
}
compare_hashes() {
  local cpu gpu n
  cpu="$(hash_of cpu 1)"
  echo "cpu: $cpu"
  [[ -n $cpu ]] || return 1
  for n in $(printf '1\n%d\n' "$GPUS" | sort -nu); do
    gpu="$(hash_of cuda "$n" --numerics exact)"
    echo "cuda, $n GPU(s), exact: $gpu"
    [[ $gpu == "$cpu" ]] || { echo "the hashes differ"; return 1; }
  done
}
sanitize() {
  command -v compute-sanitizer >/dev/null || { echo "compute-sanitizer is not installed"; exit 77; }
  local test status=0
  for test in "$BUILD"/tests/kernels/cuda/kernels.cuda.*_test; do
    (($(left) > 45)) || { echo "the time is up before $(basename "$test"); no error until there"; exit 77; }
    timeout "$(($(left) - 20))" compute-sanitizer --error-exitcode 1 --leak-check no "$test" --gtest_brief=1 || status=$?
    ((status != 124)) || { echo "the time was up in $(basename "$test"); no error until there"; exit 77; }
    ((status == 0)) || return "$status"
  done
}
sweep() {
  "$MIRRORSCALE" sweep --backend cuda "${training[@]}" \
    --devices "$(printf '1\n%d\n' "$GPUS" | sort -nu | paste -sd,)" --global-batch "$batches" \
    --records "$out/records.jsonl" --budget 5
}
part build "nvcc, architecture $architecture" build
if [[ -x $MIRRORSCALE ]]; then
  GPUS="$(count_gpus)"  # of those, what CUDA_VISIBLE_DEVICES leaves
  ((GPUS > 0)) || { "$MIRRORSCALE" doctor --no-speed; missing "the engine finds no GPU, see above"; }
fi
part devices "the devices, as the engine sees them, and their ceilings" "$MIRRORSCALE" doctor
part conformance "CUDA, cuBLAS, cuBLASLt and NCCL do what we rely on" run_tests 'conformance.*_test' 'emulated.*_test'
part kernels "every op against the reference" run_tests 'kernels.cuda.*_test'
part collectives "communicators and training on $GPUS GPU(s)" run_tests 'strategies.comm.nccl.*_test' 'strategies.cuda.*_test'
part hash "exact numerics: the hash of the cpu backend" compare_hashes
part sweep "throughput over batches, 1 and $GPUS GPU(s)" sweep
part sanitizer "compute-sanitizer over the kernel tests" sanitize

{
  printf '# GPU check\n\n%s, %s GPU(s): %s; %s; architecture %s\n\n' "$(date -u +%FT%TZ)" "$GPUS" \
    "$(nvidia-smi --query-gpu=name --format=csv,noheader | sort | uniq -c | sed 's/^ *//' | paste -sd';')" \
    "driver $(nvidia-smi --query-gpu=driver_version --format=csv,noheader | head -n 1)" "$architecture"
  printf '| part | what | result | time |\n|---|---|---|---|\n'
  printf '%s\n' "${lines[@]}"
  for log in devices hash sweep; do
    [[ -s $out/$log.log ]] || continue
    printf '\n## %s\n\n' "$log"
    tail -n 40 "$out/$log.log" | sed 's/^/    /'
  done
} >"$out/summary.md"
echo "summary: $out/summary.md ($SECONDS s)"
exit "$failed"
