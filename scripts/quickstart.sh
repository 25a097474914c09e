#!/usr/bin/env bash
# scripts/quickstart.sh [--no-install] [--help]
#
# From a clone to a report: builds mirrorscale, trains an image classifier on Fashion-MNIST on 1, 2 and 4 virtual
# devices with two global batches, checks every point against one device, and draws the report. Installs what is
# missing (Debian, Ubuntu; as root or through sudo), says what it installs, and installs nothing when nothing is
# missing. Run again, it keeps what is built and measured.
#
#   --no-install   install nothing; name what is missing and go on without it
#
# MIRRORSCALE_DATA=DIR   a folder of IDX files to use in place of Debian's dataset-fashion-mnist
#
# Exit status: 0 good, 1 a check failed, 2 misuse, 3 could not run.
set -euo pipefail
ROOT="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)"
for part in say options packages install build; do
  # shellcheck source=/dev/null
  source "$ROOT/scripts/lib/$part.sh"
done

packaged_data="${PACKAGED_DATA:-/usr/share/datasets/fashion-mnist}"
data="${MIRRORSCALE_DATA:-fashion-mnist}"
records="runs/quickstart.jsonl"
report="report"

check_data() {
  if [[ -n ${MIRRORSCALE_DATA:-} ]]; then
    [[ -d $MIRRORSCALE_DATA ]] || cannot "MIRRORSCALE_DATA=$MIRRORSCALE_DATA is not a folder"
    data="$(cd -- "$MIRRORSCALE_DATA" && pwd -P)"
  elif [[ ! -d $packaged_data ]]; then
    cannot "the Fashion-MNIST images are not in $packaged_data (Debian package dataset-fashion-mnist). Where that
  package is not offered, put the four IDX files (train and t10k, images and labels, gzip or plain) into a folder and
  run: MIRRORSCALE_DATA=FOLDER scripts/quickstart.sh"
  fi
}

read_options "${BASH_SOURCE[0]}" "$@"
ensure_packages build reports
if [[ -z ${MIRRORSCALE_DATA:-} ]]; then ensure_packages data; fi
check_data
build_preset release
cd "$ROOT"
mkdir -p runs
mirrorscale="build/release/scenarios/mirrorscale"

say "sweep: 1, 2, 4 devices, global batch 256 and 1024; each cell is checked, then measured (minutes the first time)"
status=0
"$mirrorscale" sweep --workload mlp --data "$data" --devices 1,2,4 --global-batch 256,1024 \
  --records "$records" </dev/null || status=$?
# 1 is a finding, and a report of it is what people want to see.
((status <= 1)) || cannot "the sweep ended with status $status; nothing is drawn"

say "report: from $records"
drawn=0
"$mirrorscale" report "$records" --out "$report/" </dev/null || drawn=$?
if ((drawn > 1)) || [[ ! -s $report/report.html ]]; then cannot "the report could not be drawn (status $drawn)"; fi
((status == 0)) || warn "a check failed; the table and the report name it"
echo "The report is in $ROOT/$report/report.html"
exit "$status"
