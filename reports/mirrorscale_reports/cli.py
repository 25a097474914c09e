"""The command line: RECORDS.jsonl in, report.html and figures out."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from mirrorscale_reports import __version__
from mirrorscale_reports.records import RecordError, load

GOOD, FINDING, MISUSE, CANNOT = 0, 1, 2, 3

_EPILOG = """exit status: 0 good; 1 a cell failed its checks or could not run (the report is written);
2 misuse; 3 the records could not be read or the report could not be written"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit status; argparse exits by itself with 2 on misuse."""
    parser = argparse.ArgumentParser(
        prog="mirrorscale_reports",
        description="Draw a mirrorscale record file: DIR/report.html (self-contained), and PNG and SVG of "
        "each figure.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("records", type=Path, metavar="RECORDS.jsonl", help="what a sweep wrote")
    parser.add_argument(
        "--out", type=Path, required=True, metavar="DIR", help="made if it is not there"
    )
    parser.add_argument("--title", help="the page's title (default: made from the records)")
    parser.add_argument("--version", action="version", version=__version__)
    chosen = parser.parse_args(arguments)
    try:
        return _report(chosen.records, chosen.out, chosen.title)
    except (RecordError, OSError, ImportError) as error:
        print(f"mirrorscale_reports: {_one_line(error)}", file=sys.stderr)
        return CANNOT


def _report(records: Path, out: Path, title: str | None) -> int:
    file = load(records)  # before matplotlib is imported: a bad file is refused at once
    from mirrorscale_reports.metrics import has_failed
    from mirrorscale_reports.page import draw_all, render

    for note in file.notes:
        print(f"mirrorscale_reports: note: {note}", file=sys.stderr)
    drawn = draw_all(file)
    page = render(file, drawn, title)
    out.mkdir(parents=True, exist_ok=True)
    contents = {
        f"{figure.name}.{suffix}": data
        for figures in drawn
        for figure in figures
        for suffix, data in (("png", figure.png), ("svg", figure.svg))
    }
    contents["report.html"] = page.encode("utf-8")  # last: where it is, its figures are
    for name, data in contents.items():
        write_atomically(out / name, data)
    for name in reversed(contents):
        print(out / name)
    bad = any(has_failed(cell) or cell.status == "error" for cell in file.cells)
    return FINDING if bad else GOOD


def write_atomically(path: Path, data: bytes) -> None:
    """`path` holds either what it held or all of `data`, whatever happens meanwhile."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)  # mkstemp makes it private
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _one_line(error: Exception) -> str:
    if isinstance(error, ImportError):
        return f"{error}; install matplotlib and numpy (Debian: python3-matplotlib)"
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or 'output'}: {error.strerror}"
    return " ".join(str(error).split())
