"""The store of baselines: what goes in, what comes out, and what is refused."""

import json
import pathlib

from command_line import COULD_NOT_RUN, FINDING, MISUSE, good, mirrorscale, refusal
from launch_files import Side, write_lines, write_side


def saved_files(store: pathlib.Path) -> list[pathlib.Path]:
    return sorted(store.rglob("*.baseline.jsonl"))


def header(path: pathlib.Path) -> dict:
    return json.loads(path.read_text().splitlines()[0])


def test_save_list_show(baseline):
    (path,) = saved_files(baseline)
    first = header(path)
    assert (first["launches"], first["cells"], first["note"]) == (5, 6, "first")
    assert first["command"][1:3] == ["baseline", "save"]
    assert path.parent.name == first["plan_fingerprint"] == "9c5d1b7e20a4f386"
    assert path.parent.parent.name == first["machine_fingerprint"] == "51e0a7c2d9b8f643"
    assert first["measured_revision"] == "aaaaaaaaaaaa"
    listed = good("baseline", "list", "--store", baseline)
    assert first["id"] in listed and "first" in listed
    shown = good("baseline", "show", first["id"][:20], "--store", baseline)
    assert first["content_sha256"] + " (agrees)" in shown
    assert shown.count("6 cells") == 5


def test_one_launch_is_saved_and_called_weak(store, tmp_path):
    files = write_side(tmp_path / "a", Side(launches=1))
    assert "weak baseline" in good("baseline", "save", "--store", store, *files)


def test_add_takes_the_earlier_launches_along(baseline, tmp_path):
    more = write_side(tmp_path / "more", Side(day=1, seed=2))
    out = good("baseline", "save", "--add", "--store", baseline, *more)
    assert "10 launches in 2 sessions" in out
    assert len(saved_files(baseline)) == 2, "the earlier baseline stays"
    assert "is there twice" in refusal(
        MISUSE, "baseline", "save", "--add", "--store", baseline, *more
    )


def test_prune_keeps_the_newest(baseline, tmp_path):
    for seed in (2, 3):
        files = write_side(tmp_path / str(seed), Side(seed=seed, day=seed))
        good("baseline", "save", "--store", baseline, *files)
    before = saved_files(baseline)
    assert "2 removed" in good("baseline", "prune", "--keep", 1, "--store", baseline)
    assert saved_files(baseline) == before[-1:]


def test_prune_does_not_count_what_is_damaged(baseline, tmp_path):
    (good_one,) = saved_files(baseline)
    good("baseline", "save", "--store", baseline, *write_side(tmp_path / "2", Side(seed=2, day=2)))
    newest = saved_files(baseline)[-1]
    newest.write_text(newest.read_text().replace("aaaaaaaaaaaa", "abaaaaaaaaaa", 1))
    said = good("baseline", "prune", "--keep", 1, "--store", baseline)
    assert "0 removed" in said and "damaged, not counted and not removed" in said
    assert good_one.exists() and newest.exists()


def test_launches_of_a_baseline_must_agree_on_the_weights(store, tmp_path):
    def other_bits(run, cell: dict) -> None:
        if run["run_id"].endswith("3"):
            cell["weight_hash"] = "deadbeefdeadbeef"

    files = write_side(tmp_path / "a", Side(), other_bits)
    said = refusal(COULD_NOT_RUN, "baseline", "save", "--store", store, *files)
    assert "one of them is wrong" in said and "deadbeefdeadbeef" in said


def test_a_sweep_that_did_not_end_is_no_baseline(store, tmp_path):
    files = write_side(tmp_path / "a", Side())
    files[2].write_text("".join(files[2].read_text().splitlines(keepends=True)[:-2]))
    said = refusal(COULD_NOT_RUN, "baseline", "save", "--store", store, *files)
    assert f"{files[2]}: 4 of 6 cells; the sweep did not end" in said


def test_an_empty_store_is_said_to_be_empty(store):
    assert "no baselines" in good("baseline", "list", "--store", store)


def test_tampering_is_seen(baseline, tmp_path):
    (path,) = saved_files(baseline)
    text = path.read_text()
    ident = header(path)["id"]
    candidate = write_side(tmp_path / "c", Side(seed=9, day=1))
    bent = {
        "a number": text.replace('"samples_per_s":{"value":', '"samples_per_s":{"value":1', 1),
        "the note": text.replace('"note":"first"', '"note":"fifth"', 1),
        "a line less": "".join(text.splitlines(keepends=True)[:-1]),
        "cut short": text[:-10],
    }
    for what, content in bent.items():
        assert content != text, what
        path.write_text(content)
        for command in (["baseline", "show", ident], ["gate", *candidate]):
            said = refusal(COULD_NOT_RUN, *command, "--store", baseline)
            assert "was changed since it was saved" in said, what
        done = mirrorscale("baseline", "list", "--store", baseline)
        assert done.returncode == FINDING and "DAMAGED" in done.stdout
    path.write_text(text)
    good("baseline", "show", ident, "--store", baseline)


def test_a_file_that_is_no_baseline(baseline):
    (path,) = saved_files(baseline)
    for content in ("", "{}\n", '{"kind":"run"}\n', "not JSON\n"):
        path.write_text(content)
        assert "no baseline of mirrorscale" in refusal(
            COULD_NOT_RUN, "baseline", "show", "2", "--store", baseline
        )
    path.write_text('{"kind":"baseline","schema":2}\n')
    assert "schema 2" in refusal(COULD_NOT_RUN, "baseline", "show", "2", "--store", baseline)


def test_what_save_refuses(store, tmp_path):
    files = write_side(tmp_path / "a", Side())

    def refused(status: int, *records: pathlib.Path) -> str:
        said = refusal(status, "baseline", "save", "--store", store, *records)
        assert not saved_files(store)
        return said

    torn = tmp_path / "torn.jsonl"
    torn.write_text(files[0].read_text()[:-20])
    assert "cut short" in refused(COULD_NOT_RUN, torn)
    assert "is there twice" in refused(MISUSE, files[0], files[0])
    assert "can't read" in refused(COULD_NOT_RUN, tmp_path / "none.jsonl")

    def with_change(name: str, change) -> pathlib.Path:
        return write_side(tmp_path / name, Side(launches=1, seed=7), change)[0]

    def set_run(field: str, value: str):
        return lambda run, _: run.__setitem__(field, value)

    other_plan = with_change("plan", set_run("plan_fingerprint", "abc"))
    assert "two plans" in refused(MISUSE, *files, other_plan)
    other_machine = with_change("machine", set_run("machine_fingerprint", "abc"))
    assert "two machines" in refused(MISUSE, *files, other_machine)
    future = with_change("future", set_run("started", "2199-01-01T00:00:00Z"))
    assert "clocks is wrong" in refused(COULD_NOT_RUN, future)

    def fails(_, cell: dict) -> None:
        cell.update(status="error", reason="no luck", measurement=None)

    assert "good cells only" in refused(MISUSE, with_change("bad", fails))


def test_a_sweep_that_did_nothing_is_no_launch(store, tmp_path):
    (path,) = write_side(tmp_path / "a", Side(launches=1))
    run = json.loads(path.read_text().splitlines()[0])
    write_lines(path, [run])
    said = refusal(MISUSE, "baseline", "save", "--store", store, path)
    assert "no launch with a cell" in said


def test_an_id_must_name_one(baseline, tmp_path):
    good("baseline", "save", "--store", baseline, *write_side(tmp_path / "b", Side(seed=2)))
    assert "more than one" in refusal(MISUSE, "baseline", "show", "2", "--store", baseline)
    assert "nothing" in refusal(MISUSE, "baseline", "show", "1999", "--store", baseline)
