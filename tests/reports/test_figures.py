"""Figures hold what they should: labels, marks, values, words; and they leave no trace elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable

import matplotlib
import numpy as np
import pytest
from conftest import Json, as_bytes, find, make_cell
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text

from mirrorscale_reports import figures, style
from mirrorscale_reports.metrics import Group, groups_of
from mirrorscale_reports.records import parse

Draw = Callable[[Group, str], Figure]

ALL: list[Draw] = [
    figures.speedup_figure,
    figures.efficiency_figure,
    figures.throughput_figure,
    figures.step_time_figure,
    figures.phase_figure,
    figures.steadiness_figure,
]


def group_of(lines: list[Json]) -> Group:
    (group,) = groups_of(parse(as_bytes(lines), "r.jsonl"))
    return group


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.findobj(Text) if text.get_text()]


def with_gid(axes: Axes, gid: str) -> list[matplotlib.artist.Artist]:
    return [artist for artist in axes.get_children() if artist.get_gid() == gid]


def overlaps(figure: Figure, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Pairs of drawn texts whose boxes overlap by more than a pixel, and texts that leave the figure."""
    drawn: list[Text] = []
    draw_text = Text.draw

    def recording(self: Text, renderer: object, *more: object, **named: object) -> None:
        if self.get_visible() and self.get_text().strip():
            drawn.append(self)
        draw_text(self, renderer, *more, **named)

    with style.settings():
        monkeypatch.setattr(Text, "draw", recording)
        figure.canvas.draw()
        monkeypatch.undo()
        renderer = figure.canvas.get_renderer()
        boxes = [(text.get_text(), text.get_window_extent(renderer)) for text in drawn]
    found = []
    for i, (one, a) in enumerate(boxes):
        if a.x0 < 0 or a.y0 < 0 or a.x1 > figure.bbox.x1 or a.y1 > figure.bbox.y1:
            found.append((one, "the figure's edge"))
        for other, b in boxes[i + 1 :]:
            wide = min(a.x1, b.x1) - max(a.x0, b.x0)
            high = min(a.y1, b.y1) - max(a.y0, b.y0)
            if wide > 1 and high > 1:
                found.append((one, other))
    assert len(boxes) > 10
    return found


def test_the_overlap_test_sees_an_overlap(monkeypatch: pytest.MonkeyPatch) -> None:
    figure = style.new_figure()
    for i in range(11):
        figure.text(0.05, (i + 1) / 13, str(i))
    assert overlaps(figure, monkeypatch) == []
    figure.text(0.055, 6 / 13, "over")
    figure.text(0.98, 0.5, "beyond")
    assert set(overlaps(figure, monkeypatch)) == {("5", "over"), ("beyond", "the figure's edge")}


def test_speedup(lines: list[Json]) -> None:
    figure = figures.speedup_figure(group_of(lines), "the subtitle")
    (axes,) = figure.axes
    assert axes.get_xlabel() == "devices" and axes.get_ylabel() == "speed-up over 1 device"
    by_label = {line.get_label(): line for line in axes.lines}
    assert {"ideal", "global batch 256", "global batch 1024"} <= set(by_label)
    ideal = by_label["ideal"]
    assert np.allclose(ideal.get_xdata(), ideal.get_ydata()) and ideal.get_xdata()[-1] == 8
    assert list(by_label["global batch 256"].get_ydata()) == [1, 1.8674, 3.3262]
    assert np.allclose(by_label["global batch 256"].get_xdata(), [1, 2, 4], atol=0.1)
    (hollow,) = with_gid(axes, "oversubscribed")
    assert hollow.get_ydata()[0] == pytest.approx(219519.4 / 64920.04)
    assert matplotlib.colors.same_color(hollow.get_markerfacecolor(), "white")
    intervals = with_gid(axes, "intervals")
    assert len(intervals) == 2
    low, high = intervals[0].get_segments()[1][:, 1]
    claim = find(lines, 2, 256)["measurement"]["speedup"]
    assert (low, high) == (claim["low"], claim["high"])
    assert any("oversubscribed" in text for text in texts(figure))
    assert "Speed-up against devices" in texts(figure) and "the subtitle" in texts(figure)


def test_speedup_without_oversubscribed_cells_does_not_speak_of_them(run_line: Json) -> None:
    figure = figures.speedup_figure(
        group_of([run_line, make_cell(1, 256), make_cell(2, 256, 1.8)]), ""
    )
    assert not any("oversubscribed" in text for text in texts(figure))


def test_speedup_of_many_devices_is_logarithmic(run_line: Json) -> None:
    cells = [make_cell(n, 4096, n**0.9) for n in (1, 2, 4, 8, 16, 32, 64)]
    figure = figures.speedup_figure(group_of([run_line, *cells]), "")
    (axes,) = figure.axes
    assert axes.get_xscale() == "log" and axes.get_yscale() == "log"
    assert [text.get_text() for text in axes.get_xticklabels()] == [
        "1",
        "2",
        "4",
        "8",
        "16",
        "32",
        "64",
    ]


def test_efficiency(lines: list[Json]) -> None:
    figure = figures.efficiency_figure(group_of(lines), "")
    axes = figure.axes[0]
    (image,) = axes.images
    expected = np.array(
        [[1, 0.9337, np.nan, 0.83155, np.nan], [1, 0.95835, np.nan, 0.90777, np.nan]]
    )
    values = image.get_array().filled(np.nan)
    assert np.array_equal(values[:2], expected, equal_nan=True) and np.isnan(values[2]).all()
    assert [text.get_text() for text in axes.get_xticklabels()] == ["1", "2", "3", "4", "8"]
    assert axes.get_ylabel() == "global batch"
    written = [text.get_text() for text in with_gid(axes, "value")]
    assert written == [
        "1\nbase",
        "0.93\n[0.91, 0.96]",
        "0.83\n[0.82, 0.84]",
        "1\nbase",
        "0.96\n[0.95, 0.97]",
        "0.91\n[0.89, 0.92]",
    ]
    said = [text.get_text() for text in with_gid(axes, "words")]
    assert said.count("FAILED\nits checks") == 1 and said.count("could\nnot run") == 1
    assert said.count("over-\nsubscribed") == 1 and len(said) == 9


def test_throughput(lines: list[Json]) -> None:
    figure = figures.throughput_figure(group_of(lines), "")
    (axes,) = figure.axes
    assert axes.get_xlabel().startswith("global batch") and axes.get_ylabel() == "samples a second"
    by_label = {line.get_label(): line for line in axes.lines}
    assert list(by_label) == ["1 device", "2 devices", "4 devices", "8 devices\n(oversubscribed)"]
    assert list(by_label["2 devices"].get_xdata()) == [256, 1024]
    assert list(by_label["2 devices"].get_ydata()) == [115222.1, 124434.9]
    assert len(with_gid(axes, "intervals")) == 4


def test_step_times(lines: list[Json]) -> None:
    figure = figures.step_time_figure(group_of(lines), "")
    assert len(figure.axes) == 2  # a panel a measured batch
    first, second = figure.axes
    assert first.get_title(loc="left") == "global batch 256"
    assert len(first.lines) == 3 and len(second.lines) == 4
    line = first.lines[1]
    assert line.get_label() == "2 devices: p50 2.23, p95 2.84 ms"
    x, y = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
    measured = find(lines, 2, 256)["measurement"]
    assert np.allclose(x[1:-1], np.sort(measured["step_s"]) / measured["step_p50_s"])
    assert np.allclose(y[1:-1], np.arange(1, 33) / 32)
    assert y[0] == 0 and y[-1] == 1
    assert second.get_title(loc="right").startswith("2 steps beyond, up to 1.25")


def test_step_times_of_2000_steps_are_thinned_but_keep_their_ends(run_line: Json) -> None:
    cell = make_cell(1, 256)
    cell["measurement"]["step_s"] = list(np.linspace(3e-3, 6e-3, 2000))
    figure = figures.step_time_figure(group_of([run_line, cell]), "")
    x = np.asarray(figure.axes[0].lines[0].get_xdata())
    assert len(x) == 402
    assert x[1] == pytest.approx(3 / 4) and x[-2] == pytest.approx(6 / 4)


def test_phases(lines: list[Json]) -> None:
    figure = figures.phase_figure(group_of(lines), "")
    left, right = figure.axes
    assert left.get_xlabel() == "mean milliseconds a step"
    assert len(left.patches) == len(right.patches) == 6 * 7  # phases x measured cells
    phases = find(lines, 4, 256)["measurement"]["phases_s"]
    widths = [left.patches[phase * 7 + 2].get_width() for phase in range(6)]
    assert np.allclose(widths, np.array(list(phases.values())) * 1e3)
    starts = [left.patches[phase * 7 + 2].get_x() for phase in range(6)]
    assert np.allclose(starts, np.cumsum([0, *widths[:-1]]))
    shares = [right.patches[phase * 7 + 2].get_width() for phase in range(6)]
    assert sum(shares) == pytest.approx(100)
    assert [text.get_text() for text in left.get_yticklabels()][-1] == "8 × 1024 †"
    assert {"input", "forward", "backward", "reduction", "optimizer", "wait"} <= set(texts(figure))


def test_steadiness(lines: list[Json]) -> None:
    figure = figures.steadiness_figure(group_of(lines), "")
    (axes,) = figure.axes
    by_label = {line.get_label(): line for line in axes.lines}
    assert len(by_label["1 device"].get_xdata()) == 16  # two cells of eight slices
    y = np.asarray(by_label["4 devices"].get_ydata())
    assert np.median(y[:8]) == pytest.approx(1)


def big_plan(run: Json) -> list[Json]:
    batches = [2**k for k in range(5, 17, 2)]
    return [run] + [
        make_cell(n, b, n**0.95, base_s=b * 1e-5)
        for b in batches
        for n in (1, 2, 3, 4, 5, 6, 7, 8)
    ]


@pytest.mark.parametrize("draw", ALL)
@pytest.mark.parametrize("size", ["golden", "small", "big"])
def test_no_label_lies_on_another(
    draw: Draw, size: str, lines: list[Json], monkeypatch: pytest.MonkeyPatch
) -> None:
    small = [lines[0], make_cell(1, 256), make_cell(2, 256, 1.8)]
    chosen = {"golden": lines, "small": small, "big": big_plan(lines[0])}[size]
    figure = draw(group_of(chosen), "mlp on fashion-mnist, strong scaling")
    assert overlaps(figure, monkeypatch) == []


@pytest.mark.parametrize("draw", ALL)
def test_no_global_state(draw: Draw, lines: list[Json]) -> None:
    before = dict(matplotlib.rcParams)
    figure = draw(group_of(lines), "")
    style.rendered(figure, "png")
    assert dict(matplotlib.rcParams) == before
    assert "matplotlib.pyplot" not in sys.modules


@pytest.mark.parametrize("draw", ALL)
def test_same_records_same_bytes(draw: Draw, lines: list[Json]) -> None:
    for suffix in ("png", "svg"):
        first, second = (style.rendered(draw(group_of(lines), "x"), suffix) for _ in range(2))
        assert first == second


@pytest.mark.parametrize("draw", ALL)
def test_a_name_is_no_formula(draw: Draw, lines: list[Json]) -> None:
    figure = draw(group_of(lines), r"$\frac{1$ <b> 漢字")
    assert style.rendered(figure, "png").startswith(b"\x89PNG")


def test_all_zero_times_are_drawn(run_line: Json) -> None:
    cell = make_cell(1, 256)
    m = cell["measurement"]
    m.update(
        step_p50_s=0,
        step_p95_s=0,
        step_min_s=0,
        step_s=[0, 0],
        phases_s=dict.fromkeys(m["phases_s"], 0),
    )
    m["samples_per_s"] = {"value": 0, "low": 0, "high": 0}
    m["slice_samples_per_s"] = [0, 0]
    for draw in ALL:
        style.rendered(draw(group_of([run_line, cell]), ""), "svg")


def test_phases_of_very_different_steps_are_drawn_a_sample(run_line: Json) -> None:
    # 4 ms at batch 100 is 40 us a sample; 400 ms at batch 10000 is 40 us a sample
    cells = [make_cell(1, 100), make_cell(1, 10000, base_s=0.4)]
    left = figures.phase_figure(group_of([run_line, *cells]), "").axes[0]
    assert left.get_xlabel() == "microseconds a sample; beside it ms a step"
    forward, backward = left.patches[2:4], left.patches[4:6]
    assert [patch.get_width() for patch in forward] == pytest.approx([10, 10])
    assert [patch.get_width() for patch in backward] == pytest.approx([30, 30])
    assert [text.get_text() for text in left.texts] == ["4.00 ms", "400 ms"]
