"""Sentences and number formats."""

from __future__ import annotations

import pytest
from conftest import Json, as_bytes, find, make_cell

from mirrorscale_reports import words
from mirrorscale_reports.metrics import groups_of, tally
from mirrorscale_reports.records import parse

S = words.NARROW_SPACE


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (4.1e-3, "4.10"),
        (15.6e-3, "15.6"),
        (1.2404, "1240"),
        (41.2e-6, "0.0412"),
        (9.999e-3, "10.0"),
        (0.99996e-3, "1.00"),
        (123.4, f"123{S}400"),
    ],
)
def test_milliseconds(value: float, text: str) -> None:
    assert words.milliseconds(value) == text


def test_other_formats() -> None:
    assert words.per_second(115222.1) == f"115{S}222"
    assert words.per_second(9999.6) == f"10{S}000"
    assert words.per_second(12.34) == "12.3"
    assert words.thousands("1024") == "1024" and words.thousands("-65536") == f"-65{S}536"
    assert words.size(512) == "512 B" and words.size(32768) == "32 KiB"
    assert words.size(16642998272) == "15.5 GiB" and words.size(109 * 2**20) == "109 MiB"
    assert words.significant(1e20) == "1.00e+20" and words.significant(-0.5) == "-0.500"
    assert words.plain("a\nb\x00c\u2028d") == "a b c d"
    assert words.plain("x" * 100, 10) == "x" * 9 + "…"
    assert words.spell_list(["a"]) == "a" and words.spell_list(["a", "b", "c"]) == "a, b and c"
    assert words.spell_list(list("abcd"), most=2) == "a, b and 2 more"


def test_the_verdict_of_the_golden_file(lines: list[Json]) -> None:
    file = parse(as_bytes(lines), "r.jsonl")
    (group,) = groups_of(file)
    assert words.scaling_sentence(group) == (
        "4 devices train 3.63× as fast as one at global batch 1024 (efficiency 0.91 [0.89, 0.92]), "
        "and 3.33× at global batch 256 (efficiency 0.83 [0.82, 0.84])"
    )
    assert words.checks_sentence(tally(file.cells)) == (
        "1 of 9 cells FAILED its checks: 3 devices at global batch 256; 1 cell could not run: "
        f"4 devices at global batch 4{S}096{S}000; the other 7 cells passed all checks; 1 check skipped"
    )
    assert "same bits at every device count" in words.hash_sentence(file.cells)
    assert "largest part is wait" in words.loss_sentence(group)


def test_all_good(run_line: Json) -> None:
    file = parse(as_bytes([run_line, make_cell(1, 256), make_cell(2, 256, 1.86)]), "r.jsonl")
    assert words.checks_sentence(tally(file.cells)) == "both cells passed all checks"
    (group,) = groups_of(file)
    assert words.scaling_sentence(group) == (
        "2 devices train 1.86× as fast as one at global batch 256 (efficiency 0.93 [0.93, 0.93])"
    )


def test_a_base_of_two(run_line: Json) -> None:
    cells = [make_cell(2, 256, base_key="key 2 256 strong"), make_cell(4, 256, 1.9)]
    cells[1]["measurement"]["base_key"] = "key 2 256 strong"
    (group,) = groups_of(parse(as_bytes([run_line, *cells]), "r.jsonl"))
    assert "4 devices train 1.90× as fast as 2 at" in words.scaling_sentence(group)


def test_why_there_is_no_speedup(run_line: Json, lines: list[Json]) -> None:
    def sentence(*cells: Json) -> str:
        (group,) = groups_of(parse(as_bytes([run_line, *cells]), "r.jsonl"))
        return words.scaling_sentence(group)

    no = "no speed-up to show: "
    assert sentence(make_cell(1, 256), make_cell(1, 512)) == no + "only 1 device was measured"
    assert sentence(make_cell(2, 256)) == no + "only 2 devices were measured"
    over = find(lines, 8, 1024)
    assert sentence(over) == no + (
        "every measured cell is oversubscribed (more devices than cores)"
    )
    assert "only 1 device was measured; the other cells are over" in sentence(
        make_cell(1, 256), over
    )
    assert sentence(find(lines, 3, 256)) == no + "no cell was measured"
    unbased = [make_cell(1, 256), make_cell(2, 512, 1.8)]
    assert (
        sentence(*unbased) == no + "no cell has a base with fewer devices at the same global batch"
    )


def test_disagreeing_hashes_are_loud(lines: list[Json]) -> None:
    find(lines, 4, 256)["weight_hash"] = "0badc0de"
    said = words.hash_sentence(parse(as_bytes(lines), "r.jsonl").cells)
    assert "DISAGREE" in said and "0badc0de" in said


def test_one_device_alone_proves_nothing_of_hashes(run_line: Json) -> None:
    file = parse(as_bytes([run_line, make_cell(1, 256), make_cell(1, 512)]), "r.jsonl")
    assert words.hash_sentence(file.cells) == ""
