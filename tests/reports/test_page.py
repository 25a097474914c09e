"""The page: complete, self-contained, escaped, the same for the same records."""

from __future__ import annotations

import base64
import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from conftest import GOLDEN, Json, as_bytes, find, make_cell

from mirrorscale_reports.page import Drawn, draw_all, render
from mirrorscale_reports.records import RecordFile, load, parse


class Page(HTMLParser):
    """Tables as lists of rows of texts, tags with their attributes, all text; fails on unbalanced tags."""

    VOID = {"meta", "br", "img"}

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.tables: list[list[list[str]]] = []
        self.row_classes: list[str] = []
        self.text = ""
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
            self.row_classes.append(dict(attrs).get("class") or "")
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")
        elif tag == "br":
            self.handle_data(" ")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data
        if "td" in self.open or "th" in self.open:
            self.tables[-1][-1][-1] += data

    def table(self, *columns: str) -> list[list[str]]:
        """The rows of the table whose heads begin with these."""
        for table in self.tables:
            if table[0][: len(columns)] == list(columns):
                return table[1:]
        raise AssertionError(f"no table with {columns}: {[t[0] for t in self.tables]}")


def page_of(lines: list[Json], drawn: list[list[Drawn]] | None = None) -> tuple[str, Page]:
    file = parse(as_bytes(lines), "dir/r.jsonl")
    html = render(file, drawn or [[] for _ in range(99)])
    return html, Page(html)


@pytest.fixture(scope="module")
def golden_file() -> RecordFile:
    return load(GOLDEN)


@pytest.fixture(scope="module")
def golden_html(golden_file: RecordFile) -> str:
    return render(golden_file, draw_all(golden_file))


def test_the_results_table_has_every_cell(golden_html: str) -> None:
    rows = Page(golden_html).table("devices", "global batch", "local batch", "step p50 ms")
    plain = [[text.replace("\u202f", " ") for text in row] for row in rows]
    assert len(plain) == 9
    assert plain[0] == "1|256|256|4.15|4.26|61 702|[61 246, 62 159]|1|1|base|passed 7/7".split("|")
    assert plain[1] == (
        "2|256|128|2.23|2.84|115 222|[111 699, 118 745]|1.87×|0.93|[0.91, 0.96]|passed 7/7".split(
            "|"
        )
    )
    assert plain[2] == "3|256|86|–|–|–||–|–||FAILED ONE".split("|")
    over = next(row for row in plain if row[0] == "8")
    assert over[5] == "219 519" and over[7:9] == ["–", "–"] and "oversubscribed" in over[-1]
    assert plain[-1][-1] == "could not run"


def test_every_verdict_is_there_with_its_evidence(golden_html: str, lines: list[Json]) -> None:
    page = Page(golden_html)
    rows = page.table("devices", "global batch", "invariant")
    cells = [line for line in lines if line["kind"] == "cell"]
    expected = {
        (str(c["replicas"]), str(c["global_batch"]), k["invariant"], k["verdict"], k["evidence"])
        for c in cells
        for k in c["checks"]
    }
    assert {tuple(row) for row in rows} == expected and len(rows) == 56
    assert rows[0][:4] == ["3", "256", "ONE", "failed"]  # failed ones first
    matrix = page.table("devices", "global batch", "scaling", "workload", "SHP", "ONE")
    assert matrix[0][:6] == ["3", "256", "strong", "mlp", "✓", "✘ failed"]
    assert len(matrix) == 8 and all(row[4:] == ["✓"] * 7 for row in matrix[1:])


def test_a_failure_is_loud(golden_html: str) -> None:
    page = Page(golden_html)
    assert ("div", {"class": "verdict bad"}) in page.tags
    assert ("div", {"class": "failure"}) in page.tags
    start = page.text.index("FAILED")
    assert start < page.text.index("Results")
    assert "1 of 9 cells FAILED its checks" in page.text


def test_what_was_left_out_and_why(golden_html: str) -> None:
    rows = Page(golden_html).table("devices", "global batch", "scaling", "workload", "what")
    assert [(row[0], row[4]) for row in rows] == [
        ("3", "failed"),
        ("4", "could not run"),
        ("8", "measured, shown apart"),
    ]
    assert rows[1][5].startswith("needs 14.3 GB a device")
    assert rows[2][5] == "oversubscribed: 8 devices on 4 cores, so no scaling claim"


def test_environment_command_plan_and_method(golden_html: str) -> None:
    text = Page(golden_html).text
    for part in (
        "Example CPU 4-Core Processor, 4 cores usable, 1 NUMA node",
        "L1d 32 KiB, L2 512 KiB, L3 16 MiB",
        "mirrorscale sweep --workload mlp --data fashion-mnist --devices 1,2,3,4,8",
        "global_batch = [256, 1024]",
        "intervals are 95 %, by bootstrap over paired slices",
        "“budget”: the time was spent",
        "highway 1.0.3",
        "MIRRORSCALE_TARGET=AVX2",
        "0.1.0, revision unknown",
    ):
        assert part in text


def test_lost_time_and_serial_fraction_tables(golden_html: str, lines: list[Json]) -> None:
    page = Page(golden_html)
    lost = page.table("devices", "global batch", "ideal step ms")
    assert [row[:2] for row in lost] == [["2", "256"], ["4", "256"], ["2", "1024"], ["4", "1024"]]
    one, two = find(lines, 1, 256)["measurement"], find(lines, 2, 256)["measurement"]
    wait_ms = 1e3 * (two["phases_s"]["wait"] - one["phases_s"]["wait"] / 2)
    assert lost[0][-1] == f"+{wait_ms:.3f}"
    (first, _) = page.table("global batch", "2 devices")
    # (1/1.8674 - 1/2) / (1/2) = 0.0710
    assert first[1] == "0.071 [0.046, 0.097]"


def test_it_loads_nothing(golden_html: str) -> None:
    page = Page(golden_html)
    for tag, attributes in page.tags:
        assert tag not in ("script", "link", "iframe", "object", "embed", "base", "form", "a")
        assert not any(name.startswith("on") for name in attributes)
        if "src" in attributes:
            assert tag == "img" and str(attributes["src"]).startswith("data:image/svg+xml;base64,")
    css = re.search(r"<style>(.*?)</style>", golden_html, re.S)
    assert css and "url(" not in css[1] and "@import" not in css[1]
    outside = re.sub(r"base64,[A-Za-z0-9+/=]+", "", golden_html)
    assert "http://" not in outside and "https://" not in outside


def test_the_images_are_the_figures_and_load_nothing(
    golden_file: RecordFile, golden_html: str
) -> None:
    ((*drawn,),) = draw_all(golden_file)
    names = ["speedup", "efficiency", "throughput", "step-time", "phases", "steadiness"]
    assert [figure.name for figure in drawn] == names
    embedded = [
        base64.b64decode(data) for data in re.findall(r"svg\+xml;base64,([^\"]+)", golden_html)
    ]
    assert embedded == [figure.svg for figure in drawn]
    for svg in embedded:
        # xlink:href may only point into the same file
        assert all(
            ref.startswith(b"#") or ref.startswith(b"data:")
            for ref in re.findall(rb'href="([^"]*)"', svg)
        )


def test_same_records_same_page(golden_file: RecordFile, golden_html: str) -> None:
    assert render(golden_file, draw_all(golden_file)) == golden_html


EVIL = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>&amp;</style></main>"


def poisoned(value: object) -> object:
    """The same record with every free text made hostile."""
    fixed = {
        "kind",
        "status",
        "verdict",
        "scaling",
        "strategy",
        "reduction",
        "numerics",
        "precision",
        "stop_reason",
        "started",
        "plan_fingerprint",
        "machine_fingerprint",
        "weight_hash",
        "run_id",
        "base_key",
        "cell_key",
    }
    if isinstance(value, dict):
        return {
            key: inner if key in fixed or (key == "reason" and not inner) else poisoned(inner)
            for key, inner in value.items()
        }
    if isinstance(value, list):
        return [poisoned(inner) for inner in value]
    return EVIL if isinstance(value, str) else value


def test_hostile_records_are_only_text(lines: list[Json]) -> None:
    hostile = [poisoned(line) for line in lines]
    for line in hostile:
        line["run_id"] = EVIL  # type: ignore[index]
    environment = hostile[0]["environment"]  # type: ignore[index]
    environment["variables"] = {EVIL: EVIL}
    hostile[0]["plan"] = {EVIL: {EVIL: EVIL}}  # type: ignore[index]
    file = parse(as_bytes(hostile), f"dir/{EVIL}")  # type: ignore[arg-type]
    drawn = draw_all(file)
    html = render(file, drawn, title=EVIL)
    page = Page(html)
    kinds = {tag for tag, _ in page.tags}
    assert "script" not in kinds
    assert [a for t, a in page.tags if t == "img" and "onerror" in a] == []
    assert html.count("<img") == 6 and html.count("</main>") == 1 and html.count("</style>") == 1
    assert EVIL in page.text
    for svg in (figure.svg for figures in drawn for figure in figures):
        elements = list(ElementTree.fromstring(svg).iter())
        assert not any(element.tag.endswith(("script", "foreignObject")) for element in elements)
        assert not any(name.startswith("on") for element in elements for name in element.attrib)


def test_one_device_count_says_that_there_is_no_speedup(run_line: Json) -> None:
    file = parse(as_bytes([run_line, make_cell(1, 256), make_cell(1, 512)]), "r.jsonl")
    drawn = draw_all(file)
    assert [figure.name for figure in drawn[0]] == [
        "throughput",
        "step-time",
        "phases",
        "steadiness",
    ]
    text = Page(render(file, drawn)).text
    assert "No speed-up to show: only 1 device was measured." in text
    assert "no speed-up" in text and "Serial fraction" not in text


def test_nothing_measured(lines: list[Json]) -> None:
    file = parse(as_bytes([lines[0], find(lines, 3, 256)]), "r.jsonl")
    assert draw_all(file) == [[]]
    text = Page(render(file, [[]])).text
    assert "1 of 1 cell FAILED its checks" in text and "no cell was measured" in text.lower()


def test_emulated_cells_are_shown_without_times_and_claims(run_line: Json) -> None:
    cells = [make_cell(n, 256, emulated=True, backend="cuda") for n in (1, 2)]
    for cell in cells:
        cell["measurement"].update(speedup=None, efficiency=None, base_key="")
    html, _ = page_of([run_line, *cells])
    assert html.count('<td class="n">emulated</td>') == 2 * 3
    assert "checked, not timed" in html and "stand-ins that run on the host" in html
    assert "they run on the host), so times say nothing" in html
    assert draw_all(parse(as_bytes([run_line, *cells]), "r.jsonl")) == [[]]


def test_what_the_machine_did_meanwhile_and_what_the_weights_are_worth(run_line: Json) -> None:
    cell = make_cell(2, 256, schema=2, evaluation={"loss": 0.123456789, "accuracy": 0.9140625})
    cell["measurement"]["clocks"] = {
        "preempted_steps": 1,
        "throttled_steps": 2,
        "disturbed_steps": 3,
        "cpu_s_per_step": [0.001, 0.003],
        "preemptions": [4, 0],
        "core_wait_s_per_step": [0.0005, 0.0007],
        "instructions_per_step": [],
        "core_hz": {"value": 3.1e9, "low": 2.9e9, "high": 3.2e9},
        "steal_share": 0.25,
        "gpus": [
            {
                "uuid": "GPU-1",
                "looks": 9,
                "sm_hz": {"value": 1.98e9, "low": 1.98e9, "high": 1.98e9},
                "memory_hz": None,
                "temperature_c": {"value": 71, "low": 65, "high": 78},
                "power_w": None,
                "throttle_reasons": ["sw_thermal<slowdown>"],
            }
        ],
        "not_measured": {"instructions_per_step": "no permission"},
    }
    html, page = page_of([run_line, make_cell(1, 256), cell])
    row = page.text[page.text.index("What else the machine did") :]
    for text in ("0.75", "0.50", "2.00", "0.60", "3.10 (2.90–3.20)", "0.25"):
        assert text in row, text
    assert "1980 MHz, 71.0 (65.0–78.0) °C, slowed down: sw_thermal<slowdown>" in row
    assert "sw_thermal&lt;slowdown&gt;" in html
    worth = page.text[page.text.index("What the checked weights are worth") :]
    assert "accuracy" in worth and "0.914062" in worth and "0.123457" in worth


def test_all_good_says_good_and_answers_the_question_first(run_line: Json) -> None:
    _, page = page_of([run_line, make_cell(1, 256), make_cell(2, 256, 1.86)])
    assert ("div", {"class": "verdict "}) in page.tags
    assert "GOOD2 devices train 1.86× as fast as one at global batch 256" in page.text
    assert "Both cells passed all checks." in page.text
    assert "Nothing: every cell was measured" in page.text


def test_disagreeing_hashes_make_the_verdict_bad(run_line: Json) -> None:
    cells = [make_cell(1, 256), make_cell(2, 256, 1.86, weight_hash="bad")]
    _, page = page_of([run_line, *cells])
    assert ("div", {"class": "verdict bad"}) in page.tags and "DISAGREE" in page.text


def test_several_groups_have_sections_and_files_of_their_own(run_line: Json) -> None:
    cells = [
        make_cell(1, 256),
        make_cell(2, 256, 1.8),
        make_cell(1, 64, scaling="weak"),
        make_cell(2, 128, 1.9, scaling="weak", base_key="key 1 64 weak"),
    ]
    file = parse(as_bytes([run_line, *cells]), "r.jsonl")
    drawn = draw_all(file)
    names = [figure.name for figures in drawn for figure in figures]
    assert len(names) == len(set(names)) == 12
    assert "speedup-2-mlp-weak" in names
    page = Page(render(file, drawn))
    assert "mlp on fashion-mnist, weak scaling" in page.text
    assert "1.90× as fast as one at local batch 64" in page.text


def test_notes_of_the_reader_are_shown(lines: list[Json]) -> None:
    file = parse(as_bytes(lines) + b'{"sch', "r.jsonl")
    text = Page(render(file, [[]])).text
    assert "Line 11 is torn (the writer was interrupted); it was dropped." in text
