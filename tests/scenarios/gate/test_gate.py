"""The gate on launches whose truth is known: they are drawn, not measured."""

import json
import pathlib
import xml.etree.ElementTree

import jsonschema
import pytest
from command_line import COULD_NOT_RUN, FINDING, GOOD, MISUSE, mirrorscale, refusal
from launch_files import CELLS, Side, write_side

SCHEMA = json.loads(
    (pathlib.Path(__file__).parents[3] / "reports" / "gate.schema.json").read_text()
)


class Gate:
    """Runs the gate on a candidate and reads all that it writes."""

    def __init__(self, folder: pathlib.Path, store: pathlib.Path):
        self.folder, self.store = folder, store

    def __call__(self, side: Side, *options, change=None, status: int = GOOD) -> dict:
        files = write_side(self.folder / f"candidate{side.seed}", side, change)
        self.outputs = {
            kind: self.folder / f"gate.{kind}" for kind in ("json", "junit", "markdown")
        }
        writes = [word for kind, path in self.outputs.items() for word in (f"--{kind}", path)]
        done = mirrorscale("gate", "--store", self.store, *files, *writes, *options)
        assert (done.returncode, done.stderr) == (status, ""), done
        self.text = done.stdout
        result = json.loads(self.outputs["json"].read_text())
        jsonschema.validate(result, SCHEMA)
        assert result["verdict"] == ("passed" if status == GOOD else "failed")
        return result

    def config(self, text: str) -> pathlib.Path:
        path = self.folder / "gate.toml"
        path.write_text(text)
        return path


@pytest.fixture(name="gate")
def a_gate(tmp_path, baseline) -> Gate:
    return Gate(tmp_path, baseline)


NOW = Side(seed=2, day=1, revision="bbbbbbbbbbbb")


def side(**changes) -> Side:
    return Side(**{**NOW.__dict__, **changes})


def verdict(result: dict, cell: int, metric: str = "throughput") -> str:
    return finding(result, cell, metric)["verdict"]


def finding(result: dict, cell: int, metric: str = "throughput") -> dict:
    found = [
        f
        for f in result["findings"]
        if f["cell_key"] == CELLS[cell]["cell_key"] and f["metric"] == metric
    ]
    assert len(found) == 1
    return found[0]


def test_the_same_program_passes(gate):
    result = gate(NOW)
    assert result["counts"]["worse"] == result["counts"]["missing"] == 0
    assert (
        result["counts"]["same"] == len(result["findings"]) == 6 * 5 + 4
    )  # two bases lack efficiency
    assert "gate: passed" in gate.text and "strength:" in gate.text
    assert "mirrorscale compare" in gate.text, "how much weaker it is than pairs"


def test_one_slow_cell_is_named(gate):
    result = gate(side(slowdown={2: 0.15}), status=FINDING)
    assert verdict(result, 2) == "worse"
    assert [verdict(result, i) for i in (0, 1, 3, 4, 5)] == ["same"] * 5
    assert finding(result, 2)["relative_change"] == pytest.approx(1 / 1.15 - 1, abs=0.01)
    assert "against the other cells" in finding(result, 2)["detail"]
    first = gate.text.splitlines()[3]
    assert first.startswith("FAIL worse") and CELLS[2]["cell_key"] in first


def test_a_speed_up_never_fails(gate):
    result = gate(side(slowdown={2: -0.3, 3: -0.3, 4: -0.3, 5: -0.3}))
    assert [verdict(result, i) for i in (2, 3, 4, 5)] == ["better"] * 4
    assert result["counts"]["worse"] == 0, "nor are the others worse for it"


def test_a_machine_that_is_slower_today_is_no_regression(gate):
    assert gate(side(machine=0.2))["counts"]["worse"] == 0
    # Even beyond the limit: the reference loop says it was the machine.
    assert gate(side(machine=0.6))["counts"]["worse"] == 0


def test_all_cells_slower_than_the_machine_explains(gate):
    result = gate(side(slowdown=dict.fromkeys(range(6), 0.5)), status=FINDING)
    assert [verdict(result, i) for i in range(6)] == ["worse"] * 6


def test_noise_makes_it_ambiguous_and_that_passes_unless_asked(gate):
    noisy = side(noise=0.5)
    assert gate(noisy)["counts"]["ambiguous"] > 0
    strict = gate.config('ambiguous = "fail"\n')
    assert gate(noisy, "--config", strict, status=FINDING)["counts"]["ambiguous"] > 0


def test_one_launch_each_is_ambiguous(tmp_path, store):
    files = write_side(tmp_path / "one", Side(launches=1))
    assert mirrorscale("baseline", "save", "--store", store, *files).returncode == GOOD
    result = Gate(tmp_path, store)(side(launches=1))
    assert verdict(result, 0) == "ambiguous"
    assert "no test is possible" in finding(result, 0)["detail"]


def test_five_sessions_replace_the_drift_limit(tmp_path, store):
    files = []
    for day in range(8):
        files += write_side(tmp_path / str(day), Side(launches=3, day=day, seed=20 + day))
    assert mirrorscale("baseline", "save", "--store", store, *files).returncode == GOOD
    gate = Gate(tmp_path, store)
    later = side(day=20)
    assert gate(later)["counts"]["worse"] == 0
    assert finding(gate(later), 0)["unit"] == "session"
    slower = side(day=20, slowdown=dict.fromkeys(range(6), 0.1))
    result = gate(slower, status=FINDING)
    assert (
        verdict(result, 0) == "worse"
    ), "10 % on all cells, which the drift limit would have let pass"
    assert "more days" not in gate.text


def test_other_bits_are_worse_with_one_launch(gate):
    def other_bits(_, cell: dict) -> None:
        if cell["cell_key"] == CELLS[1]["cell_key"]:
            cell["weight_hash"] = "0123456789abcdef"

    result = gate(side(launches=1), change=other_bits, status=FINDING)
    assert verdict(result, 1, "results") == "worse"
    assert "other bits: 0123456789abcdef" in finding(result, 1, "results")["detail"]


def test_a_failed_check_is_worse_and_its_numbers_are_not_missed(gate):
    def fails(_, cell: dict) -> None:
        if cell["cell_key"] == CELLS[1]["cell_key"]:
            check = {"invariant": "ONE", "verdict": "failed", "evidence": "w differs"}
            cell.update(status="failed", reason="ONE: w differs", checks=[check], measurement=None)

    result = gate(NOW, change=fails, status=FINDING)
    assert verdict(result, 1, "results") == "worse"
    assert "ONE: w differs" in finding(result, 1, "results")["detail"]


def learned(accuracy: float, loss: float, numerics: str = "exact"):
    def change(_, cell: dict) -> None:
        cell.update(schema=2, numerics=numerics, evaluation={"accuracy": accuracy, "loss": loss})

    return change


@pytest.mark.parametrize(
    ("numerics", "now", "expected"),
    [
        ("exact", (0.75, 0.5), ("same", "same")),
        ("exact", (0.7499, 0.5), ("worse", "same")),
        ("exact", (0.75, 0.50001), ("same", "worse")),
        ("exact", (0.8, 0.4), ("better", "better")),
        ("fast", (0.749, 0.501), ("same", "same")),
        ("fast", (0.73, 0.49), ("worse", "better")),
    ],
)
def test_what_was_learned_is_compared_without_statistics(tmp_path, store, numerics, now, expected):
    files = write_side(tmp_path / "base", Side(), learned(0.75, 0.5, numerics))
    assert mirrorscale("baseline", "save", "--store", store, *files).returncode == GOOD
    result = Gate(tmp_path, store)(
        side(launches=1),
        change=learned(*now, numerics),
        status=FINDING if "worse" in expected else GOOD,
    )
    assert (verdict(result, 0, "accuracy"), verdict(result, 0, "validation_loss")) == expected


def test_launches_that_others_disturbed_are_ambiguous_not_worse(gate):
    def disturbed(_, cell: dict) -> None:
        cell.update(schema=2, status="error", reason="9 of 10 steps were disturbed")
        cell.update(reason_kind="disturbed", measurement=None)

    result = gate(NOW, change=disturbed)
    assert verdict(result, 1, "results") == "ambiguous"
    assert "the machine, not the program" in finding(result, 1, "results")["detail"]


def test_memory_that_grows_is_worse(gate):
    def grows(_, cell: dict) -> None:
        cell["memory"]["process_peak_bytes"] = int(cell["memory"]["process_peak_bytes"] * 1.2)

    result = gate(NOW, change=grows, status=FINDING)
    assert verdict(result, 0, "memory") == "worse"


def renamed(_, cell: dict) -> None:
    if cell["cell_key"] == CELLS[5]["cell_key"]:
        cell["cell_key"] += "/renamed"


def test_missing_and_new_cells(gate):
    result = gate(NOW, change=renamed, status=FINDING)
    assert verdict(result, 5, "results") == "missing"
    new = [f for f in result["findings"] if f["verdict"] == "new"]
    assert [f["cell_key"] for f in new] == [CELLS[5]["cell_key"] + "/renamed"]
    gate(NOW, "--config", gate.config('missing = "pass"\n'), change=renamed)


def test_a_waiver_holds_until_its_day(gate):
    slow = side(slowdown={2: 0.15})
    waiver = '[[waiver]]\nmatch = "*n=4/b=256"\nuntil = {}\nreason = "known, ticket 7"\n'
    result = gate(slow, "--config", gate.config(waiver.format("2199-12-31")))
    assert finding(result, 2)["waiver"] == {"until": "2199-12-31", "reason": "known, ticket 7"}
    assert "waived worse" in gate.text and "; 3 waived)" in gate.text
    result = gate(slow, "--config", gate.config(waiver.format("2020-01-31")), status=FINDING)
    assert finding(result, 2)["waiver"] is None
    assert any("ended on 2020-01-31" in note for note in result["notes"])


def test_limits_by_metric_and_by_cell(gate):
    slow = side(slowdown={2: 0.15})
    assert (
        verdict(
            gate(
                slow,
                "--config",
                gate.config(
                    "[metric.throughput]\neffect = 0.2\n[metric.efficiency]\ngate = false\n[metric.step_min]\ngate = false\n"
                ),
            ),
            2,
        )
        != "worse"
    )
    one = '[[cell]]\nmatch = "*n=4/b=256"\neffect = 0.2\n'
    assert gate(slow, "--config", gate.config(one))["counts"]["worse"] == 0


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("alpha = 2\n", "'alpha' needs a number"),
        ("alhpa = 0.01\n", "'alhpa' is not known"),
        ("[metric.speed]\neffect = 0.1\n", "no metric 'speed'"),
        ("[metric.throughput]\neffect = -1\n", "'effect' needs a number"),
        ("[metric.throughput]\neffect = 5\n", "'effect' needs a number"),
        ("[metric.throughput]\neffct = 1\n", "'effct' is not known"),
        (
            '[[waiver]]\nmatch = "*"\nuntil = 2030-01-01\n',
            "needs 'match', 'until' (its last day) and 'reason'",
        ),
        ('[[waiver]]\nmatch = "*"\nuntil = "soon"\nreason = "x"\n', "'until' needs a date"),
        ("[[cell]]\neffect = 0.1\n", "needs 'match'"),
        ('ambiguous = "perhaps"\n', 'needs "fail" or "pass"'),
        ("alpha = \n", "gate.toml:1"),
    ],
)
def test_a_config_that_is_wrong_is_refused_with_its_line(gate, tmp_path, text, word):
    files = write_side(tmp_path / "c", NOW)
    said = refusal(MISUSE, "gate", "--store", gate.store, "--config", gate.config(text), *files)
    assert word in said and "gate.toml:" in said


def test_junit_and_markdown(gate):
    result = gate(side(slowdown={2: 0.15}), status=FINDING)
    root = xml.etree.ElementTree.parse(gate.outputs["junit"]).getroot()
    (suite,) = root.findall("testsuite")
    cases = suite.findall("testcase")
    assert int(suite.get("tests")) == len(cases) == len(result["findings"])
    failed = [case for case in cases if case.find("failure") is not None]
    assert int(suite.get("failures")) == len(failed) == sum(f["fails"] for f in result["findings"])
    assert {case.get("classname") for case in failed} == {CELLS[2]["cell_key"]}
    page = gate.outputs["markdown"].read_text()
    assert page.startswith("## mirrorscale gate: FAILED") and "| FAIL worse" in page


def test_a_junit_consumer_reads_it(gate):
    junitparser = pytest.importorskip("junitparser", reason="Debian: python3-junitparser")
    waiver = '[[waiver]]\nmatch = "*n=2/b=256"\nuntil = 2199-12-31\nreason = "<known> & told"\n'
    slow = side(slowdown={1: 0.3, 2: 0.3})
    result = gate(slow, "--config", gate.config(waiver), status=FINDING)
    (suite,) = junitparser.JUnitXml.fromfile(str(gate.outputs["junit"]))
    cases = {(case.classname, case.name): [type(r) for r in case.result] for case in suite}
    expected = {}
    for f in result["findings"]:
        skipped = f["waiver"] or f["verdict"] == "ambiguous"
        kinds = [junitparser.Failure] if f["fails"] else [junitparser.Skipped] if skipped else []
        expected[f["cell_key"], f["metric"]] = kinds
    assert cases == expected
    assert suite.failures == sum(f["fails"] for f in result["findings"]) > 0
    assert suite.skipped > 0 and suite.tests == len(cases)


def test_another_machine_is_refused_unless_asked_for(gate, tmp_path):
    def elsewhere(run: dict, _) -> None:
        run["machine_fingerprint"] = "abc"

    files = write_side(tmp_path / "c", NOW, elsewhere)
    assert "no baseline of this plan on this machine" in refusal(
        COULD_NOT_RUN, "gate", "--store", gate.store, *files
    )
    assert "is of another machine" in refusal(
        MISUSE, "gate", "--store", gate.store, "--baseline", "2", *files
    )
    result = gate(NOW, "--baseline", "2", "--other-machine", change=elsewhere)
    assert result["other_machine"] is True


def test_a_candidate_older_than_its_baseline_is_told(gate):
    result = gate(side(day=-3))
    assert any("set back" in note for note in result["notes"])


def test_misuse(gate, tmp_path):
    (path,) = write_side(tmp_path / "c", side(launches=1))
    assert "nothing to judge" in refusal(MISUSE, "gate", "--store", gate.store)
    for options in (
        ["--confirm", path],
        ["--measure", "0"],
        ["--measure", "3", path],
        ["--strict"],
    ):
        refusal(MISUSE, "gate", "--store", gate.store, *options)
    assert "has none" in refusal(COULD_NOT_RUN, "gate", "--store", tmp_path / "none", path)
    assert "can't" in refusal(
        COULD_NOT_RUN, "gate", "--store", gate.store, path, "--junit", path / "below"
    )
