"""What becomes of the processes of `mirrorscale compare`: who runs when, and what happens when one goes."""

import os
import pathlib
import signal
import subprocess
import time
from collections.abc import Iterator

import pytest
from command_line import BINARY, COULD_NOT_RUN

LONG = [
    *("compare", "--workload", "mlp-small", "--devices", "2", "--global-batch", "64"),
    *("--budget", "6000", "--wait-limit", "10"),
]


def workers(parent: int) -> dict[int, str]:
    """Processes of the parent that hold a seat: number, and the side."""
    found = {}
    for task in pathlib.Path(f"/proc/{parent}/task").iterdir():
        for child in (task / "children").read_text().split():
            try:
                words = pathlib.Path(f"/proc/{child}/cmdline").read_text().split("\0")
            except OSError:
                continue
            if "--seat" in words:
                found[int(child)] = "AB"[int(words[words.index("--seat") + 1])]
    return found


def both_workers(run: subprocess.Popen) -> dict[int, str]:
    """The kernel's list of children may lack one while processes come and go: until both are on it."""
    found = {}

    def complete() -> bool:
        found.clear()
        found.update(workers(run.pid))
        return sorted(found.values()) == ["A", "B"]

    wait_until("both workers are there", lambda: run.poll() is not None or complete())
    assert run.poll() is None, run.communicate()
    return dict(found)


def states(process: int) -> list[str]:
    """R, S, D … of every thread."""
    letters = []
    for task in pathlib.Path(f"/proc/{process}/task").iterdir():
        try:
            letters.append((task / "stat").read_text().rpartition(")")[2].split()[0])
        except OSError:
            pass
    return letters


def gone(process: int) -> bool:
    try:
        return states(process) in ([], ["Z"])
    except OSError:
        return True


def wait_until(what: str, holds) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline, f"not within 60 s: {what}"
        time.sleep(0.02)


def has_run(process: int) -> float:
    fields = pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.fixture
def run() -> Iterator[subprocess.Popen]:
    process = subprocess.Popen(
        [BINARY, *LONG], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        both = both_workers(process)
        wait_until(
            "both take slices",
            lambda: process.poll() is not None or all(has_run(worker) > 0.2 for worker in both),
        )
        assert process.poll() is None, process.communicate()
        yield process
    finally:
        process.kill()
        process.wait()


def test_a_killed_worker_ends_the_run_with_its_name(run: subprocess.Popen) -> None:
    both = both_workers(run)
    victim = next(worker for worker, side in both.items() if side == "B")
    os.kill(victim, signal.SIGKILL)
    out, errors = run.communicate(timeout=30)
    assert (run.returncode, out) == (COULD_NOT_RUN, ""), errors
    assert errors.count("\n") == 1 and "side B" in errors and "signal 9" in errors
    assert str(victim) in errors
    assert all(gone(worker) for worker in both)


def test_a_worker_that_stands_still_is_missed(run: subprocess.Popen) -> None:
    both = both_workers(run)
    victim = next(worker for worker, side in both.items() if side == "A")
    os.kill(victim, signal.SIGSTOP)
    out, errors = run.communicate(timeout=60)
    assert (run.returncode, out) == (COULD_NOT_RUN, ""), errors
    assert errors.count("\n") == 1 and "side A" in errors and "was missing" in errors
    assert all(gone(worker) for worker in both)


def test_workers_end_with_their_parent(run: subprocess.Popen) -> None:
    both = both_workers(run)
    run.kill()
    run.wait()
    for worker in both:
        wait_until("the worker is gone", lambda worker=worker: gone(worker))


def looks(first: int, second: int) -> tuple[int, int]:
    """In how many of 300 looks both ran, and in how many one of them."""
    both_ran, one_ran = 0, 0
    for _ in range(300):
        # The look takes a moment, in which the token may move on; a thread that wakes late is seen at most once.
        before, other, after = ("R" in states(p) for p in (first, second, first))
        both_ran += before and other and after
        one_ran += before or other
        time.sleep(0.003)
    return both_ran, one_ran


def test_who_has_no_token_sleeps(run: subprocess.Popen) -> None:
    """While the one runs, all threads of the other sleep: looked at again and again.

    A thread that has given the token away but lost its core before it could lie down is seen as ready for some
    milliseconds. That comes in bursts, on a busy machine: one quiet round of several is enough, for who doesn't sleep is
    seen in most looks of every round.
    """
    first, second = both_workers(run)
    rounds = []
    while len(rounds) < 5 and not (rounds and rounds[-1][0] <= 3):
        rounds.append(looks(first, second))
    assert all(one_ran > 20 for _, one_ran in rounds)
    assert rounds[-1][0] <= 3, rounds
