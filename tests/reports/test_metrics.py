"""Metrics on numbers worked out on paper."""

from __future__ import annotations

import pytest
from conftest import Json, as_bytes, find, make_cell

from mirrorscale_reports.metrics import (
    Group,
    amdahl_fit,
    base_of,
    compared,
    groups_of,
    gustafson,
    hashes_agree,
    ideal_speedup,
    is_base,
    karp_flatt,
    lost_time,
    same_training,
    serial_fractions,
    tally,
    throughput_ratio,
)
from mirrorscale_reports.records import RecordFile, parse


def file_of(*cells: Json, run: Json) -> RecordFile:
    return parse(as_bytes([run, *cells]), "r.jsonl")


def only_group(file: RecordFile) -> Group:
    (group,) = groups_of(file)
    return group


def test_amdahls_law_gives_its_own_fraction_back() -> None:
    # s = 1/4: S(2) = 1/(1/4 + 3/8) = 1.6, S(4) = 1/(1/4 + 3/16) = 16/7
    assert karp_flatt(1.6, 2) == pytest.approx(0.25)
    assert karp_flatt(16 / 7, 4) == pytest.approx(0.25)
    assert amdahl_fit([(2, 1.6), (4, 16 / 7)]) == pytest.approx(0.25)


def test_fractions_at_the_ends() -> None:
    assert karp_flatt(4, 4) == 0  # ideal
    assert karp_flatt(1, 4) == 1  # no gain
    assert karp_flatt(5, 4) < 0  # better than ideal
    assert gustafson(4, 4) == 0
    assert gustafson(1, 4) == 1
    assert gustafson(2.5, 4) == pytest.approx(0.5)
    assert ideal_speedup(6, 2) == 3


def test_a_fit_between_two_fractions() -> None:
    # p = 2, S = 1.6: x = 1/2, y = 1/8.  p = 4, S = 2: x = 3/4, y = 1/4.
    # sum(x y) = 1/16 + 3/16 = 1/4; sum(x x) = 1/4 + 9/16 = 13/16; s = 4/13
    assert amdahl_fit([(2, 1.6), (4, 2)]) == pytest.approx(4 / 13)
    assert amdahl_fit([(1, 1.0)]) is None
    assert amdahl_fit([]) is None


def test_serial_fractions_of_a_file(run_line: Json) -> None:
    file = file_of(
        make_cell(1, 256),
        make_cell(2, 256, 1.6, half_width=0.1),
        make_cell(4, 256, 16 / 7),
        make_cell(1, 512),
        make_cell(2, 512, 2.0),
        run=run_line,
    )
    first, second = serial_fractions(only_group(file))
    assert first.batch == 256 and first.fitted == pytest.approx(0.25)
    at_two = first.by_devices[2]
    # S = 1.7: (1/1.7 - 1/2) / (1/2) = 3/17; S = 1.5: (2/3 - 1/2) / (1/2) = 1/3
    assert (at_two.low, at_two.high) == (pytest.approx(3 / 17), pytest.approx(1 / 3))
    assert second.by_devices[2].value == 0 and second.fitted is None  # one point is no fit


def test_weak_scaling_uses_gustafson_and_the_local_batch(run_line: Json) -> None:
    file = file_of(
        make_cell(1, 64, scaling="weak", base_key="key 1 64 weak"),
        make_cell(2, 128, 1.5, scaling="weak", base_key="key 1 64 weak"),
        make_cell(4, 256, 2.5, scaling="weak", base_key="key 1 64 weak"),
        run=run_line,
    )
    group = only_group(file)
    assert group.batch_name == "local batch" and group.batches() == [64]
    assert [cell.replicas for cell in group.at_batch(64)] == [1, 2, 4]
    (fractions,) = serial_fractions(group)
    assert fractions.by_devices[4].value == pytest.approx(0.5)
    assert fractions.fitted is None


def test_lost_time_strong(run_line: Json) -> None:
    # base 4 ms; two devices at 1.6x: 2.5 ms, a perfect share is 2 ms, 0.5 ms are lost, all of it waiting
    file = file_of(make_cell(1, 256), make_cell(2, 256, 1.6), run=run_line)
    base, cell = only_group(file).cells
    lost = lost_time(cell, base)
    assert lost is not None
    assert (lost.ideal_s, lost.actual_s) == (pytest.approx(2e-3), pytest.approx(2.5e-3))
    assert lost.lost_s == pytest.approx(0.5e-3)
    assert lost.largest() == "wait" and lost.by_phase_s["wait"] == pytest.approx(0.5e-3)
    assert lost.by_phase_s["forward"] == pytest.approx(0)


def test_lost_time_weak_has_the_bases_step_as_its_share(run_line: Json) -> None:
    # twice the batch on twice the devices: the perfect step is the base's
    file = file_of(
        make_cell(1, 64, scaling="weak", base_key="key 1 64 weak"),
        make_cell(2, 128, 1.0, base_s=5e-3, scaling="weak", base_key="key 1 64 weak"),
        run=run_line,
    )
    base, cell = only_group(file).cells
    lost = lost_time(cell, base)
    assert lost is not None and lost.ideal_s == pytest.approx(4e-3)
    assert lost.lost_s == pytest.approx(1e-3)


def test_groups_keep_apart_what_must_not_be_compared(run_line: Json) -> None:
    cells = [
        make_cell(1, 256),
        make_cell(2, 256, 1.8),
        make_cell(2, 128, 1.7, scaling="weak", base_key="key 1 64 weak"),
        {**make_cell(2, 256, 1.9), "cell_key": "other seed", "seed": 8},
        {**make_cell(2, 256, 1.9), "cell_key": "other workload", "workload": "cnn"},
    ]
    groups = groups_of(file_of(*cells, run=run_line))
    assert [len(group.cells) for group in groups] == [2, 1, 1, 1]


def test_a_base_of_another_reduction_starts_the_line(run_line: Json) -> None:
    file = file_of(make_cell(1, 256), make_cell(2, 256, 1.5, reduction="replicated"), run=run_line)
    replicated = groups_of(file)[1]
    assert [cell.replicas for cell in replicated.cells] == [2]
    assert [cell.replicas for cell in replicated.at_batch(256)] == [1, 2]
    assert [cell.replicas for cell in compared(replicated)] == [2]


def test_bases_and_claims_of_the_golden_file(lines: list[Json]) -> None:
    file = parse(as_bytes(lines), "r.jsonl")
    group = only_group(file)
    assert [(c.replicas, c.global_batch) for c in compared(group)] == [
        (2, 256),
        (4, 256),
        (2, 1024),
        (4, 1024),
    ]
    over = group.at(8, 1024)
    assert over is not None and over.oversubscribed
    base = group.bases[over.cell_key]
    assert (base.replicas, base.global_batch) == (1, 1024)
    assert throughput_ratio(over, base) == pytest.approx(219519.4 / 64920.04)
    assert is_base(base, group) and not is_base(over, group)
    assert group.at(3, 1024) is None
    assert group.batches() == [256, 1024, 4096000] and group.device_counts() == [1, 2, 3, 4, 8]


def test_a_base_that_is_not_in_the_file(run_line: Json) -> None:
    file = file_of(make_cell(2, 256, 1.8), run=run_line)
    cell = file.cells[0]
    assert base_of(cell, {cell.cell_key: cell}) is None
    assert compared(only_group(file)) == []


def test_tally_of_the_golden_file(lines: list[Json]) -> None:
    count = tally(parse(as_bytes(lines), "r.jsonl").cells)
    assert (count.cells, count.measured) == (9, 7)
    assert [len(x) for x in (count.failed, count.errors, count.skipped, count.unchecked)] == [
        1,
        1,
        0,
        0,
    ]
    assert len(count.oversubscribed) == 1
    assert (count.checks_passed, count.checks_failed, count.checks_skipped) == (54, 1, 1)


def test_a_cell_without_a_passed_check_is_unchecked(lines: list[Json]) -> None:
    for check in find(lines, 2, 256)["checks"]:
        check["verdict"] = "skipped"
    find(lines, 4, 256)["checks"] = []
    count = tally(parse(as_bytes(lines), "r.jsonl").cells)
    assert [cell.replicas for cell in count.unchecked] == [2, 4]


def test_weight_hashes(lines: list[Json]) -> None:
    file = parse(as_bytes(lines), "r.jsonl")
    sets = same_training(file.cells)
    assert [len(cells) for cells in sets] == [3, 4]
    assert all(hashes_agree(cells) for cells in sets)
    find(lines, 4, 256)["weight_hash"] = "0badc0de"
    sets = same_training(parse(as_bytes(lines), "r.jsonl").cells)
    assert [hashes_agree(cells) for cells in sets] == [False, True]
    for line in lines[1:]:
        line["numerics"] = "fast"
    assert same_training(parse(as_bytes(lines), "r.jsonl").cells) == []


def test_an_oversubscribed_cell_is_no_base(run_line: Json, lines: list[Json]) -> None:
    over = find(lines, 8, 1024)
    file = file_of(over, run=run_line)
    assert only_group(file).bases == {}
