"""Runs that are kept, and the commits since which a cell is slower."""

import json
import pathlib

import pytest
from command_line import COULD_NOT_RUN, MISUSE, good, refusal
from launch_files import CELLS, Side, write_side


def keep(store: pathlib.Path, folder: pathlib.Path, days: range, slow_from: int, **more) -> None:
    for day in days:
        slow = {2: 0.1} if day >= slow_from else {}
        revision = more.get("revision") or f"{day:012x}"
        side = Side(launches=2, day=day, seed=100 + day, slowdown=slow, revision=revision)
        good("history", "add", "--store", store, *write_side(folder / str(day), side))


def show(store: pathlib.Path, folder: pathlib.Path, *options) -> tuple[str, list[dict]]:
    text = good("history", "show", "--store", store, "--json", folder / "h.json", *options)
    return text, json.loads((folder / "h.json").read_text())


def test_a_slower_cell_and_its_first_commits(store, tmp_path):
    keep(store, tmp_path, range(24), slow_from=12)
    text, series = show(store, tmp_path)
    assert len(series) == 6 and all(len(s["points"]) == 24 for s in series)
    changed = [s for s in series if s["changes"]]
    assert [s["cell_key"] for s in changed] == [CELLS[2]["cell_key"]]
    (change,) = changed[0]["changes"]
    assert change["index"] == 12
    assert change["after"] / change["before"] == pytest.approx(1 / 1.1, abs=0.01)
    assert f"worse {CELLS[2]['cell_key']}: -" in text
    assert f"commits {11:012x}..{12:012x}" in text
    assert any(block in text for block in "▁▂▃▄▅▆▇█")


def test_a_change_of_the_machine_has_no_commit(store, tmp_path):
    keep(store, tmp_path, range(24), slow_from=12, revision="cccccccccccc")
    text, _ = show(store, tmp_path, "--cell", "*n=4/b=256")
    assert "no commit: cccccccccccc on both sides" in text


def test_launches_are_kept_once(store, tmp_path):
    files = write_side(tmp_path / "a", Side(launches=3))
    assert "3 launches added, 0 were there" in good("history", "add", "--store", store, *files)
    assert "0 launches added, 3 were there" in good("history", "add", "--store", store, *files)
    _, series = show(store, tmp_path, "--metric", "step_p95")
    assert [len(s["points"]) for s in series] == [1] * 6, "launches of a session are one point"
    assert series[0]["points"][0]["launches"] == 3


def test_the_figure_marks_what_changed(store, tmp_path):
    pytest.importorskip("matplotlib")
    keep(store, tmp_path, range(24), slow_from=12)
    for suffix, begin in (("png", b"\x89PNG"), ("svg", b"<?xml")):
        figure = tmp_path / f"h.{suffix}"
        out = good("history", "show", "--store", store, "--figure", figure)
        assert out.splitlines()[-1] == str(figure), "the figure is named last"
        assert figure.read_bytes().startswith(begin)
    drawn = (tmp_path / "h.svg").read_text()
    assert (drawn.count('id="change"'), drawn.count('id="level"')) == (1, 7), "6 cells, one in two"
    assert sorted(path.name for path in tmp_path.glob("h*")) == ["h.png", "h.svg"]


def test_refusals(store, tmp_path):
    assert "holds no runs" in refusal(COULD_NOT_RUN, "history", "show", "--store", store)
    (path,) = write_side(tmp_path / "a", Side(launches=1))
    path.write_text(path.read_text()[:-10])
    assert "cut short" in refusal(COULD_NOT_RUN, "history", "add", "--store", store, path)
    assert "no metric 'speed'" in refusal(
        MISUSE, "history", "show", "--store", store, "--metric", "speed"
    )
    refusal(MISUSE, "history")
    good("history", "add", "--store", store, *write_side(tmp_path / "b", Side(launches=1)))
    for options in (["--cell", "nothing*"], ["--metric", "accuracy"]):
        said = refusal(MISUSE, "history", "show", "--store", store, *options)
        assert "nothing to show" in said, "golden records of schema 1 have no accuracy"
    assert "a .png or a .svg" in refusal(
        MISUSE, "history", "show", "--store", store, "--figure", tmp_path / "h.pdf"
    )
