"""A study in small: runs, goes on where it was, scores; the same page from the raw runs alone."""

import os
import pathlib
import subprocess
import sys

STUDY = pathlib.Path(__file__).parent / "compare_error_rates.py"
SHORT = "--workload mlp-small --devices 1 --global-batch 64 --budget 0.8 --restarts 4 --alpha 10% --slice-ms 2"


def study(folder: pathlib.Path, *more: str) -> str:
    done = subprocess.run(
        [
            *(sys.executable, str(STUDY), "--binary", os.environ["MIRRORSCALE_BINARY"]),
            *("--compare", SHORT, "--planted", "0,1.5", "--busy", "0"),
            *("--raw", str(folder / "raw.jsonl.gz"), "--page", str(folder / "page.md"), *more),
        ],
        capture_output=True,
        text=True,
        timeout=250,
    )
    assert done.returncode == 0, done
    return done.stdout


def test_a_study_in_small(tmp_path: pathlib.Path) -> None:
    study(tmp_path, "--runs", "1")
    out = study(tmp_path, "--runs", "2")
    assert "1/2 planted" in out and "2/2 planted" in out  # one of each was there already
    page = (tmp_path / "page.md").read_text()
    assert "nothing (A/A)" in page and "150 %" in page
    assert "(2/2;" in page  # two of two saw 150 %
    assert "disagree in 0 of 4 runs" in page
    again = study(tmp_path, "--score-only")
    tables = [line for line in page.splitlines() if line.startswith("|")]
    assert tables == [line for line in again.splitlines() if line.startswith("|")]
