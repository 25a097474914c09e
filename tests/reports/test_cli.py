"""The command as a caller meets it: exit statuses, one message, files that are whole or not there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import GOLDEN, ROOT, Json, as_bytes, make_cell

from mirrorscale_reports import cli


def command(*arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mirrorscale_reports", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT / "reports"), "PYTHONDONTWRITEBYTECODE": "1"},
    )


@pytest.fixture
def good(tmp_path: Path, run_line: Json) -> Path:
    path = tmp_path / "good.jsonl"
    path.write_bytes(as_bytes([run_line, make_cell(1, 256), make_cell(2, 256, 1.86)]))
    return path


def test_good(good: Path, tmp_path: Path) -> None:
    out = tmp_path / "deep" / "report"
    done = command(good, "--out", out, "--title", "Our <node>")
    assert (done.returncode, done.stderr) == (0, "")
    written = [Path(line) for line in done.stdout.splitlines()]
    assert written[0] == out / "report.html"
    assert sorted(path.name for path in written) == sorted(path.name for path in out.iterdir())
    assert len(written) == 13
    assert (out / "speedup.png").read_bytes().startswith(b"\x89PNG")
    assert (out / "speedup.svg").read_text().startswith("<?xml")
    assert "<title>Our &lt;node&gt;</title>" in (out / "report.html").read_text(encoding="utf-8")


def test_a_failed_cell_is_status_1_and_the_report_is_written(tmp_path: Path) -> None:
    done = command(GOLDEN, "--out", tmp_path)
    assert (done.returncode, done.stderr) == (1, "")
    assert "FAILED" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_a_cell_that_could_not_run_is_status_1(lines: list[Json], tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_bytes(as_bytes([lines[0], lines[1], lines[-1]]))
    assert command(path, "--out", tmp_path / "out").returncode == 1


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["r.jsonl"],
        ["r.jsonl", "--out"],
        ["r.jsonl", "--out", "d", "--fancy"],
        ["a", "b", "--out", "d"],
    ],
)
def test_misuse_is_status_2(arguments: list[str]) -> None:
    done = command(*arguments)
    assert done.returncode == 2 and "usage:" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "cannot read it: No such file"),
        (b"", "no records in it"),
        (
            b'{"schema": 9, "kind": "run"}\n',
            ":1: field `schema`: this reader knows schemas 1 and 2",
        ),
        (b"\x89PNG\r\n\x1a\n", ":1: not UTF-8"),
    ],
)
def test_bad_input_is_status_3_and_one_line(
    content: bytes | None, says: str, tmp_path: Path
) -> None:
    path = tmp_path / "r.jsonl"
    if content is not None:
        path.write_bytes(content)
    done = command(path, "--out", tmp_path / "out")
    assert done.returncode == 3 and done.stdout == ""
    assert says in done.stderr and done.stderr.count("\n") == 1
    assert done.stderr.startswith("mirrorscale_reports: ")
    assert not (tmp_path / "out").exists()


def test_a_place_that_cannot_be_written_is_status_3(good: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = command(good, "--out", tmp_path / "file" / "out")
    assert (
        done.returncode == 3 and "Not a directory" in done.stderr and done.stderr.count("\n") == 1
    )


def test_a_torn_line_is_noted_on_stderr(good: Path, tmp_path: Path) -> None:
    with good.open("ab") as stream:
        stream.write(b'{"schema": 1, "ki')
    done = command(good, "--out", tmp_path / "out")
    assert done.returncode == 0
    assert done.stderr == (
        "mirrorscale_reports: note: line 4 is torn (the writer was interrupted); it was dropped\n"
    )


def test_the_installed_layout_runs_too(good: Path, tmp_path: Path) -> None:
    """Only the package folder, elsewhere, and no write access needed beside it."""
    place = tmp_path / "share" / "mirrorscale" / "reports"
    place.mkdir(parents=True)
    source = ROOT / "reports" / "mirrorscale_reports"
    (place / "mirrorscale_reports").mkdir()
    for pattern in ("*.py", "*.css"):
        for path in source.glob(pattern):
            (place / "mirrorscale_reports" / path.name).write_bytes(path.read_bytes())
    done = subprocess.run(
        [sys.executable, "-I", "-c",
         f"import sys; sys.path.insert(0, {str(place)!r}); import mirrorscale_reports.cli as c; "
         f"sys.exit(c.main([{str(good)!r}, '--out', {str(tmp_path / 'out')!r}]))"],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


def test_a_write_that_fails_leaves_the_old_file_and_no_litter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "report.html"
    cli.write_atomically(path, b"old")

    def broken(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(OSError, match="No space"):
        cli.write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_files_are_readable_by_others(tmp_path: Path) -> None:
    mask = os.umask(0o022)
    try:
        cli.write_atomically(tmp_path / "f", b"x")
    finally:
        os.umask(mask)
    assert (tmp_path / "f").stat().st_mode & 0o777 == 0o644
