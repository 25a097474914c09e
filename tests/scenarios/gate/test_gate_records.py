"""What the gate says of record files that are torn, bent, incomplete or not new."""

import dataclasses
import pathlib

import pytest
from command_line import COULD_NOT_RUN, GOOD, MISUSE, mirrorscale, refusal
from launch_files import Side, write_side

NOW = Side(seed=2, day=1, revision="bbbbbbbbbbbb")
ONE = dataclasses.replace(NOW, launches=1)


def bent_file(tmp_path: pathlib.Path, change) -> pathlib.Path:
    return write_side(tmp_path / "bent", ONE, change)[0]


def test_a_torn_line_is_dropped_and_told(baseline, tmp_path):
    files = write_side(tmp_path / "c", NOW)
    files[0].write_text(files[0].read_text()[:-30])
    done = mirrorscale("gate", "--store", baseline, *files)
    assert done.returncode == GOOD and "cut short" in done.stdout and "5 : 4" in done.stdout


def test_a_sweep_that_did_not_end_is_told(baseline, tmp_path):
    files = write_side(tmp_path / "c", NOW)
    files[1].write_text("".join(files[1].read_text().splitlines(keepends=True)[:-2]))
    done = mirrorscale("gate", "--store", baseline, *files)
    assert f"{files[1]}: 4 of 6 cells; the sweep did not end" in done.stdout
    files[1].write_text(files[1].read_text().splitlines(keepends=True)[0])
    said = refusal(MISUSE, "gate", "--store", baseline, *files)
    assert f"{files[1]}: no launch with a cell in it" in said


def test_a_candidate_that_is_in_the_baseline_is_refused(baseline, tmp_path):
    files = write_side(tmp_path / "c", Side())
    assert "compared with itself" in refusal(MISUSE, "gate", "--store", baseline, files[4])


@pytest.mark.parametrize("literal", ["NaN", "Infinity", "1e999", "null"])
def test_a_number_that_is_none_is_refused(baseline, tmp_path, literal):
    (path,) = write_side(tmp_path / "c", ONE)
    lines = path.read_text().splitlines(keepends=True)
    start = lines[1].index('"step_p50_s":') + len('"step_p50_s":')
    lines[1] = lines[1][:start] + literal + lines[1][lines[1].index(",", start) :]
    path.write_text("".join(lines))
    assert f"{path}:2" in refusal(COULD_NOT_RUN, "gate", "--store", baseline, path)


def test_another_schema_and_an_unknown_unit_are_refused(baseline, tmp_path):
    (path,) = write_side(tmp_path / "c", ONE)
    text = path.read_text()
    path.write_text(text.replace('{"schema":1,"kind":"cell"', '{"schema":3,"kind":"cell"', 1))
    assert "schema" in refusal(COULD_NOT_RUN, "gate", "--store", baseline, path)
    path.write_text(text.replace('"step_p50_s"', '"step_p50_ms"', 1))
    assert "step_p50" in refusal(COULD_NOT_RUN, "gate", "--store", baseline, path)


def test_a_unit_that_is_wrong_in_silence_is_refused(baseline, tmp_path):
    def in_ms(_, cell: dict) -> None:
        measurement = cell["measurement"]
        for name in ("step_p50_s", "step_p95_s", "step_min_s"):
            measurement[name] *= 1e3
        measurement["step_s"] = [s * 1e3 for s in measurement["step_s"]]

    said = refusal(COULD_NOT_RUN, "gate", "--store", baseline, bent_file(tmp_path, in_ms))
    assert "a unit is wrong" in said


def test_a_clock_that_jumps_back_is_refused(baseline, tmp_path):
    def jumps(_, cell: dict) -> None:
        cell["measurement"]["slice_start_s"][4] = 0

    said = refusal(COULD_NOT_RUN, "gate", "--store", baseline, bent_file(tmp_path, jumps))
    assert "the clock jumped" in said
