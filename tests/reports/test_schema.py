"""The schema accepts the golden file and refuses every way of bending it; the reader refuses the same."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from typing import Any

import jsonschema
import pytest
from conftest import GOLDEN, GOLDEN_2, SCHEMA, Json, as_bytes, find, golden_lines

from mirrorscale_reports.records import RecordError, parse

VALIDATOR = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(VALIDATOR.schema)


def test_every_golden_line_is_valid() -> None:
    lines = golden_lines() + golden_lines(GOLDEN_2)
    assert [e.message for line in lines for e in VALIDATOR.iter_errors(line)] == []


def test_the_golden_file_holds_every_kind_of_cell() -> None:
    cells = golden_lines()[1:]
    points = {(c["replicas"], c["global_batch"]) for c in cells if c["status"] == "ok"}
    assert {(n, b) for n in (1, 2, 4) for b in (256, 1024)} < points
    assert any(cell["oversubscribed"] for cell in cells)
    assert {cell["status"] for cell in cells} == {"ok", "failed", "error"}
    assert GOLDEN.read_bytes().endswith(b"\n")


def test_the_golden_numbers_agree_with_each_other() -> None:
    for cell in golden_lines()[1:]:
        m = cell["measurement"]
        if not m:
            continue
        assert m["steps"] == m["slices"] * m["steps_per_slice"] == len(m["step_s"])
        # golden values carry five to seven digits
        base = next((c for c in golden_lines()[1:] if c["cell_key"] == m["base_key"]), None)
        if m["speedup"] and base:
            ratio = m["samples_per_s"]["value"] / base["measurement"]["samples_per_s"]["value"]
            assert m["speedup"]["value"] == pytest.approx(ratio, rel=1e-4)
            assert m["efficiency"]["value"] == pytest.approx(ratio / cell["replicas"], rel=1e-4)
        mean_s = sum(m["step_s"]) / len(m["step_s"])
        assert sum(m["phases_s"].values()) == pytest.approx(mean_s, rel=1e-3)


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every object field in it; of a list only the first element."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in ("plan", "libraries", "variables", "not_measured", "evaluation"):
                yield (*path, key)
                continue
            yield (*path, key)
            yield from paths(inner, (*path, key))
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        yield from paths(value[0], (*path, 0))


def changed(line: Json, path: tuple[Any, ...], change: Callable[[Any, Any], None]) -> Json:
    line = copy.deepcopy(line)
    inner: Any = line
    for key in path[:-1]:
        inner = inner[key]
    change(inner, path[-1])
    return line


RUN = golden_lines()[0]
CELL = find(golden_lines(), 2, 256)
ON_GPUS = golden_lines(GOLDEN_2)[3]  # of schema 2
MAY_MISS = [("measurement", "clocks"), ("evaluation",)]
ALL_FIELDS = (
    [(RUN, path) for path in paths(RUN)]
    + [(CELL, path) for path in paths(CELL)]
    + [
        (ON_GPUS, path)
        for path in paths(ON_GPUS["measurement"]["clocks"], ("measurement", "clocks"))
    ]
    + [(ON_GPUS, path) for path in MAY_MISS]
)


def name_of(case: tuple[Json, tuple[Any, ...]]) -> str:
    return f"{case[0]['kind']}{case[0]['schema']}." + ".".join(map(str, case[1]))


def both_refuse(line: Json) -> None:
    assert not VALIDATOR.is_valid(line), "the schema accepts it"
    with pytest.raises(RecordError):
        run = {**RUN, "run_id": line["run_id"]} if line.get("run_id") else RUN
        parse(as_bytes([run, line] if line.get("kind") == "cell" else [line, CELL]), "file")


@pytest.mark.parametrize("case", [c for c in ALL_FIELDS if c[1] not in MAY_MISS], ids=name_of)
def test_a_missing_field_is_refused(case: tuple[Json, tuple[Any, ...]]) -> None:
    both_refuse(changed(case[0], case[1], lambda inner, key: inner.pop(key)))


@pytest.mark.parametrize("case", ALL_FIELDS, ids=name_of)
def test_a_wrong_type_is_refused(case: tuple[Json, tuple[Any, ...]]) -> None:
    # no field is a list of lists
    both_refuse(changed(case[0], case[1], lambda inner, key: inner.__setitem__(key, [[1]])))


@pytest.mark.parametrize("case", ALL_FIELDS, ids=name_of)
def test_an_unknown_neighbour_is_refused(case: tuple[Json, tuple[Any, ...]]) -> None:
    both_refuse(changed(case[0], case[1], lambda inner, key: inner.__setitem__("extra", 1)))


BENT: list[tuple[str, Json, tuple[Any, ...], Any]] = [
    ("another schema", CELL, ("schema",), 3),
    ("schema as text", CELL, ("schema",), "1"),
    ("another kind", CELL, ("kind",), "verdict"),
    ("no date", RUN, ("started",), "yesterday"),
    ("a local date", RUN, ("started",), "2024-06-07T09:30:00+02:00"),
    ("empty command", RUN, ("command",), []),
    ("empty run_id", RUN, ("run_id",), ""),
    ("no hex", RUN, ("plan_fingerprint",), "XYZ"),
    ("no cores", RUN, ("environment", "cores"), 0),
    ("numerics", RUN, ("environment", "numerics"), "roughly"),
    ("library version as number", RUN, ("environment", "libraries"), {"highway": 1.0}),
    ("true is no number", CELL, ("seed",), True),
    ("1 is no truth", CELL, ("oversubscribed",), 1),
    ("half a device", CELL, ("replicas",), 1.5),
    ("no devices", CELL, ("devices",), []),
    ("strategy", CELL, ("strategy",), "magic"),
    ("reduction", CELL, ("reduction",), "guessed"),
    ("scaling", CELL, ("scaling",), "none"),
    ("precision", CELL, ("precision",), "fp64"),
    ("status", CELL, ("status",), "good"),
    ("negative batch", CELL, ("global_batch",), -256),
    ("verdict", CELL, ("checks", 0, "verdict"), "maybe"),
    ("good with a failed check", CELL, ("checks", 0, "verdict"), "failed"),
    ("good with a reason", CELL, ("reason",), "because"),
    ("good without a measurement", CELL, ("measurement",), None),
    ("good without a hash", CELL, ("weight_hash",), ""),
    ("hash in capitals", CELL, ("weight_hash",), "ABC"),
    ("error with a measurement", CELL, ("status",), "error"),
    ("oversubscribed with a claim", CELL, ("oversubscribed",), True),
    ("exact in tf32", CELL, ("precision",), "tf32"),
    ("cross-device ops", CELL, ("cross_device_ops",), "ring"),
    ("emulated as a word", CELL, ("emulated",), "yes"),
    ("emulated with a claim", CELL, ("emulated",), True),
    ("kind of reason", CELL, ("reason_kind",), "bad_luck"),
    ("good with a kind of reason", CELL, ("reason_kind",), "out_of_memory"),
    ("GPUs as a word", RUN, ("environment", "cuda_devices"), "two"),
    ("a GPU with a name only", RUN, ("environment", "cuda_devices"), [{"name": "cuda:0"}]),
    ("stop reason", CELL, ("measurement", "stop_reason"), "bored"),
    ("confidence 1", CELL, ("measurement", "confidence"), 1),
    ("confidence 0", CELL, ("measurement", "confidence"), 0),
    ("negative time", CELL, ("measurement", "step_p50_s"), -1e-3),
    ("infinite", CELL, ("measurement", "step_p50_s"), float("inf")),
    ("an interval as a number", CELL, ("measurement", "samples_per_s"), 1.0),
    ("no slices", CELL, ("measurement", "slices"), 0),
    ("no steps", CELL, ("measurement", "step_s"), []),
    ("2001 steps", CELL, ("measurement", "step_s"), [1e-3] * 2001),
    ("evaluation in schema 1", CELL, ("evaluation",), {"loss": 1.0}),
    ("clocks in schema 1", CELL, ("measurement", "clocks"), ON_GPUS["measurement"]["clocks"]),
    ("an accuracy in words", ON_GPUS, ("evaluation", "accuracy"), "high"),
    ("an infinite loss", ON_GPUS, ("evaluation", "loss"), float("inf")),
    ("steal above 1", ON_GPUS, ("measurement", "clocks", "steal_share"), 1.5),
    ("a count below 0", ON_GPUS, ("measurement", "clocks", "preempted_steps"), -1),
    ("a GPU never looked at", ON_GPUS, ("measurement", "clocks", "gpus", 0, "looks"), 0),
    ("a text among steps", CELL, ("measurement", "step_s"), ["fast"]),
]


@pytest.mark.parametrize(("line", "path", "value"), [b[1:] for b in BENT], ids=[b[0] for b in BENT])
def test_a_bent_value_is_refused(line: Json, path: tuple[Any, ...], value: Any) -> None:
    both_refuse(changed(line, path, lambda inner, key: inner.__setitem__(key, value)))


def test_disturbed_came_with_schema_2() -> None:
    disturbed = golden_lines(GOLDEN_2)[-1]
    both_refuse({**disturbed, "schema": 1})


@pytest.mark.parametrize("field", ["core_hz", "steal_share"])
def test_what_the_system_does_not_tell_is_null(field: str) -> None:
    line = changed(
        ON_GPUS, ("measurement", "clocks", field), lambda c, key: c.__setitem__(key, None)
    )
    assert VALIDATOR.is_valid(line)
    parse(as_bytes([{**RUN, "run_id": line["run_id"]}, line]), "file")


def test_failed_needs_a_failed_check_and_a_reason(lines: list[Json]) -> None:
    failed = find(lines, 3, 256)
    both_refuse({**failed, "checks": [c for c in failed["checks"] if c["verdict"] != "failed"]})
    both_refuse({**failed, "reason": ""})


GPU = {
    "name": "cuda:0",
    "model": "NVIDIA H200",
    "uuid": "GPU-0",
    "pci": "0000:3b:00.0",
    "compute_capability": "9.0",
    "memory_bytes": 150_000_000_000,
    "emulated": False,
}


def test_what_gpus_add_may_be_there() -> None:
    run = changed(RUN, ("environment", "cuda_devices"), lambda e, key: e.__setitem__(key, [GPU]))
    cell = {
        **CELL,
        **{"backend": "cuda", "numerics": "fast", "precision": "bf16", "reduction": "bucketed"},
        **{"cross_device_ops": "nccl", "emulated": False, "reason_kind": "other"},
        **{"graphs": True, "registered_buffers": True},
    }
    for line in (run, cell):
        assert [error.message for error in VALIDATOR.iter_errors(line)] == []
    read = parse(as_bytes([run, cell]), "file")
    assert read.runs[0].environment.cuda_devices[0].model == "NVIDIA H200"
    assert read.cells[0].graphs and read.cells[0].registered_buffers
    assert (read.cells[0].precision, read.cells[0].emulated) == ("bf16", False)


def test_records_without_what_gpus_add_are_read_as_before() -> None:
    read = parse(as_bytes([RUN, CELL]), "file")
    assert read.runs[0].environment.cuda_devices == ()
    assert not read.cells[0].emulated and read.cells[0].cross_device_ops == "default"


@pytest.mark.parametrize("field", ["speedup", "efficiency", "fma_peak_share"])
def test_null_where_it_may_be(field: str) -> None:
    line = changed(CELL, ("measurement", field), lambda inner, key: inner.__setitem__(key, None))
    assert VALIDATOR.is_valid(line)
    parse(as_bytes([RUN, line]), "file")
