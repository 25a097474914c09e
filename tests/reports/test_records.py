"""The reader: what it gives, what it says, and what only it can refuse."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import GOLDEN, GOLDEN_2, Json, as_bytes, find, golden_lines, make_cell

from mirrorscale_reports.records import RecordError, load, parse


def refusal(data: bytes) -> str:
    with pytest.raises(RecordError) as caught:
        parse(data, "r.jsonl")
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_the_golden_file() -> None:
    file = load(GOLDEN)
    assert len(file.runs) == 1 and len(file.cells) == 9 and file.notes == ()
    cell = file.cells[1]
    assert (cell.replicas, cell.global_batch, cell.local_batch) == (2, 256, 128)
    assert cell.measurement is not None and cell.measurement.efficiency is not None
    assert cell.measurement.efficiency.value == 0.9337
    assert cell.checks[1].invariant == "ONE" and cell.checks[1].verdict == "passed"
    assert file.run_of(cell).environment.cores == 4
    assert file.cells[-1].measurement is None


def test_the_golden_file_of_schema_2() -> None:
    _, two, gpus, disturbed = load(GOLDEN_2).cells
    assert two.evaluation == {"accuracy": 0.8125, "loss": 0.625}
    assert two.measurement is not None and two.measurement.clocks is not None
    assert two.measurement.clocks.preempted_steps == 2
    assert gpus.measurement is not None and gpus.measurement.clocks is not None
    assert gpus.measurement.clocks.gpus[0].throttle_reasons == ("power cap",)
    assert disturbed.reason_kind == "disturbed"


@pytest.mark.parametrize(
    ("name", "value"),
    [("disturbed_steps", 10**6), ("preemptions", [1]), ("cpu_s_per_step", [1, 1, 1])],
)
def test_clocks_fit_the_cell(name: str, value: object) -> None:
    lines = golden_lines(GOLDEN_2)
    lines[2]["measurement"]["clocks"][name] = value
    assert f"r.jsonl:3: field `measurement.clocks.{name}`" in refusal(as_bytes(lines))


def test_messages_name_file_line_and_field(lines: list[Json]) -> None:
    find(lines, 2, 256)["measurement"]["phases_s"]["wait"] = "long"
    assert refusal(as_bytes(lines)) == (
        "r.jsonl:3: field `measurement.phases_s.wait`: expected a finite number, got 'long'"
    )
    del find(lines, 2, 256)["measurement"]["phases_s"]["wait"]
    assert refusal(as_bytes(lines)) == "r.jsonl:3: missing field `measurement.phases_s.wait`"


def test_another_schema_is_refused_by_its_number(lines: list[Json]) -> None:
    lines[4]["schema"] = 3
    assert refusal(as_bytes(lines)) == (
        "r.jsonl:5: field `schema`: this reader knows schemas 1 and 2, the record has 3"
    )


@pytest.mark.parametrize("literal", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_only_finite_numbers(lines: list[Json], literal: str) -> None:
    text = as_bytes(lines).replace(b'"confidence": 0.95', b'"confidence": ' + literal.encode(), 1)
    assert refusal(text) == f"r.jsonl:2: not JSON: {literal} is not a finite number"
    # nor where any value may stand
    text = as_bytes(lines).replace(b'"interval": 0.01', b'"interval": ' + literal.encode(), 1)
    assert refusal(text) == f"r.jsonl:1: not JSON: {literal} is not a finite number"


@pytest.mark.parametrize("keep", [1, 20, 300, -2])
def test_a_torn_last_line_is_dropped_and_said(lines: list[Json], keep: int) -> None:
    whole = as_bytes(lines[:-1])
    file = parse(whole + as_bytes(lines[-1:])[:keep], "r.jsonl")
    assert len(file.cells) == 8
    assert file.notes == ("line 10 is torn (the writer was interrupted); it was dropped",)


def test_torn_inside_a_character(lines: list[Json]) -> None:
    torn = '{"schema":1,"reason":"é'.encode()[:-1]
    assert len(parse(as_bytes(lines) + torn, "r.jsonl").cells) == 9


def test_every_prefix_of_a_file_is_read_or_refused_in_one_line(lines: list[Json]) -> None:
    data = as_bytes([lines[0], lines[1], lines[-1]])
    first_cell_ends = len(as_bytes(lines[:2]))
    for end in range(0, len(data), 37):
        if end >= first_cell_ends:
            parse(data[:end], "r.jsonl")
        else:
            refusal(data[:end])


def test_only_the_newline_is_missing(lines: list[Json]) -> None:
    assert len(parse(as_bytes(lines)[:-1], "r.jsonl").cells) == 9


def test_a_torn_line_in_the_middle_is_refused(lines: list[Json]) -> None:
    data = as_bytes(lines[:2])[:-40] + b"\n" + as_bytes(lines[2:])
    assert refusal(data).startswith("r.jsonl:2: not JSON")


def test_a_whole_last_line_that_does_not_fit_is_refused(lines: list[Json]) -> None:
    lines[-1]["schema"] = 7
    assert "r.jsonl:10: field `schema`" in refusal(as_bytes(lines)[:-1])


def test_the_later_record_of_a_cell_counts(lines: list[Json]) -> None:
    again = {**lines[0], "run_id": "second"}
    cell = {**make_cell(2, 256, speedup=1.5), "run_id": "second"}
    cell["cell_key"] = lines[2]["cell_key"]
    file = parse(as_bytes([*lines, again, cell]), "r.jsonl")
    assert len(file.cells) == 9 and len(file.runs) == 2
    assert file.cells[1].run_id == "second"
    assert file.notes == (
        f"measured more than once, the last record counts: {cell['cell_key']} (line 12 replaces 3)",
    )


def test_mixed_machines_and_plans_are_said(lines: list[Json]) -> None:
    other = {
        **lines[0],
        "run_id": "second",
        "machine_fingerprint": "ab",
        "plan_fingerprint": "cd",
        "environment": {**lines[0]["environment"], "host": "node-b"},
    }
    cell = {**make_cell(2, 512), "run_id": "second"}
    notes = parse(as_bytes([*lines, other, cell]), "r.jsonl").notes
    assert len(notes) == 2
    assert "2 different machines: node-a (51e0a7c2d9b8f643), node-b (ab)" in notes[0]
    assert "2 different plans" in notes[1]
    # a run that wrote no cell mixes nothing
    assert parse(as_bytes([*lines, other]), "r.jsonl").notes == ()


def test_a_cell_without_its_run_is_refused(lines: list[Json]) -> None:
    assert "r.jsonl:1: field `run_id`: no run record" in refusal(as_bytes(lines[1:]))


def test_one_run_id_twice_is_refused(lines: list[Json]) -> None:
    assert "occurs twice" in refusal(as_bytes([*lines, lines[0]]))


@pytest.mark.parametrize("data", [b"", b"\n\n", b"   \n", b"{", b"\xff\xfe"])
def test_nothing_in_it(data: bytes) -> None:
    assert refusal(data).startswith("r.jsonl: no records in it")


def test_no_cell_in_it(run_line: Json) -> None:
    assert "a run but no cell" in refusal(as_bytes([run_line]))


@pytest.mark.parametrize(
    "data", [b"\xff\xfe\n", b"[]\n", b"3\n", b"null\n", b"[" * 100_000 + b"\n"]
)
def test_not_records(data: bytes) -> None:
    assert refusal(data).startswith("r.jsonl:1: not ")


def test_a_number_too_long_is_refused(lines: list[Json]) -> None:
    data = as_bytes(lines[:2]).replace(b'"steps": 32', b'"steps": ' + b"9" * 5000)
    assert "r.jsonl:2: " in refusal(data)


def test_half_a_surrogate_pair_is_refused(lines: list[Json]) -> None:
    lines[1]["workload"] = "\ud800"
    assert "surrogate" in refusal(as_bytes(lines))


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("replicas", 3, "3, but 2 devices are named"),
        ("local_batch", 64, "expected 128"),
    ],
)
def test_counts_that_contradict_each_other(
    lines: list[Json], field: str, value: int, says: str
) -> None:
    find(lines, 2, 256)[field] = value
    assert says in refusal(as_bytes(lines))


def test_a_local_batch_is_rounded_up(run_line: Json) -> None:
    file = parse(as_bytes([run_line, make_cell(3, 256)]), "r.jsonl")
    assert file.cells[0].local_batch == 86


@pytest.mark.parametrize("field", ["slice_samples_per_s", "slice_start_s"])
def test_a_value_a_slice(lines: list[Json], field: str) -> None:
    find(lines, 2, 256)["measurement"][field].pop()
    assert "7 values for 8 slices" in refusal(as_bytes(lines))


def test_an_interval_upside_down(lines: list[Json]) -> None:
    find(lines, 2, 256)["measurement"]["speedup"] = {"value": 2, "low": 3, "high": 1}
    assert "low 3.0 is above high 1.0" in refusal(as_bytes(lines))


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="cannot read it: No such file"):
        load(tmp_path / "none.jsonl")
    with pytest.raises(RecordError, match="cannot read it: Is a directory"):
        load(tmp_path)
