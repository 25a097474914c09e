"""`mirrorscale report` starts the Python package and hands on what it says."""

import os
import pathlib

import pytest
from command_line import COULD_NOT_RUN, FINDING, MISUSE, mirrorscale, refusal

GOLDEN = pathlib.Path(__file__).parents[2] / "golden" / "records_v1.jsonl"


def script(path: pathlib.Path, body: str) -> str:
    path.write_text("#!/bin/sh\n" + body)
    path.chmod(0o755)
    return str(path)


def test_draws_the_golden_records(tmp_path):
    pytest.importorskip("matplotlib")
    records = tmp_path / "run.jsonl"
    records.write_bytes(GOLDEN.read_bytes())
    done = mirrorscale("report", records)
    # The golden records hold failed cells: the report is written, and says so by its status.
    assert done.returncode == FINDING, done
    page = tmp_path / "run-report" / "report.html"
    assert page.read_text().startswith("<!doctype html") or "<html" in page.read_text()
    assert str(page) in done.stdout


def test_arguments_and_status_are_handed_on(tmp_path):
    python = script(
        tmp_path / "python",
        f'case "$1" in -c) echo 1;; *) for a in "$@"; do echo "$a"; done; echo "$PYTHONPATH" > {tmp_path}/path; exit 7;; esac\n',
    )
    records = tmp_path / "a b.jsonl"
    records.write_text("")
    done = mirrorscale(
        *("report", records, "--out", tmp_path / "out ; x", "--title", "T $HOME"),
        MIRRORSCALE_PYTHON=python,
        PYTHONPATH="/elsewhere",
    )
    assert done.returncode == 7
    assert done.stdout.splitlines() == [
        *(
            "-m",
            "mirrorscale_reports",
            str(records),
            "--out",
            str(tmp_path / "out ; x"),
            "--title",
            "T $HOME",
        )
    ]
    first, *rest = (tmp_path / "path").read_text().strip().split(os.pathsep)
    assert (pathlib.Path(first) / "mirrorscale_reports" / "__main__.py").is_file()
    assert rest == ["/elsewhere"]


def test_no_records(tmp_path):
    message = refusal(COULD_NOT_RUN, "report", tmp_path / "none.jsonl")
    assert str(tmp_path / "none.jsonl") in message


def test_no_matplotlib(tmp_path):
    python = script(tmp_path / "python", 'case "$2" in pass) exit 0;; *) exit 1;; esac\n')
    message = refusal(COULD_NOT_RUN, "report", GOLDEN, "--out", tmp_path, MIRRORSCALE_PYTHON=python)
    assert "apt-get install python3-matplotlib" in message


def test_a_python_that_is_none(tmp_path):
    message = refusal(
        COULD_NOT_RUN, "report", GOLDEN, "--out", tmp_path, MIRRORSCALE_PYTHON="/no/python"
    )
    assert "MIRRORSCALE_PYTHON" in message and "/no/python" in message


def test_a_bad_option_is_misuse():
    assert "--wrong" in refusal(MISUSE, "report", GOLDEN, "--wrong")
