"""The page of an error-rate study, from its raw runs."""

import statistics
from collections import Counter
from dataclasses import dataclass, field

from peers import wilson
from raw_runs import Run
from scores import ours_says_worse, peers_say_worse

OURS = "mirrorscale compare"
GOALS = {0.0: "at most 1 %", 0.01: "at least 95 %", 0.02: "at least 99 %"}


@dataclass(slots=True)
class Situation:
    """Counts of one planted slowdown with so many busy processes beside."""

    runs: int = 0
    worse: Counter = field(default_factory=Counter)  # by judge
    verdicts: Counter = field(default_factory=Counter)
    clocks: Counter = field(default_factory=Counter)
    disagree: int = 0  # the command's verdict against the second writing of its rule
    elapsed_s: list[float] = field(default_factory=list)
    preempted: list[float] = field(default_factory=list)
    changes: list[float] = field(default_factory=list)

    def add(self, run: Run) -> None:
        self.runs += 1
        again = ours_says_worse(run.restarts, run.preempted, run.rule)
        self.worse[OURS] += again
        self.disagree += again != (run.verdict == "worse")
        for judge, says_worse in peers_say_worse(run.restarts).items():
            self.worse[judge] += says_worse
        self.verdicts[run.verdict] += 1
        self.clocks[run.clock] += 1
        self.elapsed_s.append(run.elapsed_s)
        self.preempted.append(run.preempted)
        self.changes.append(run.change)


Key = tuple[float, str]  # planted slowdown, what ran beside


def beside(run: Run) -> str:
    loops = {0: "", 1: "an endless loop"}.get(run.busy, f"{run.busy} endless loops")
    return " and ".join(part for part in (loops, run.beside) if part) or "nothing"


def situations(runs: list[Run]) -> dict[Key, Situation]:
    """By what ran beside (nothing first), then by what was planted."""
    found: dict[Key, Situation] = {}
    for run in runs:
        found.setdefault((run.planted, beside(run)), Situation()).add(run)
    return dict(sorted(found.items(), key=lambda i: (i[0][1] != "nothing", i[0][1], i[0][0])))


def share(hits: int, of: int) -> str:
    low, high = wilson(hits, of)
    return f"{100 * hits / of:.1f} % ({hits}/{of}; {100 * low:.1f}–{100 * high:.1f})"


def row(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def rates(found: dict[Key, Situation]) -> list[str]:
    judges = [OURS, "U test of slices", "U test of restarts", "5 % threshold"]
    lines = [
        row(["planted", "beside it", "goal", *judges]),
        row(["---"] * (3 + len(judges))),
    ]
    for (planted, others), s in found.items():
        what = "nothing (A/A)" if planted == 0 else f"{100 * planted:g} %"
        says = [share(s.worse[judge], s.runs) for judge in judges]
        lines.append(row([what, others, GOALS.get(planted, ""), *says]))
    return lines


def details(found: dict[Key, Situation]) -> list[str]:
    head = "planted, beside|verdicts|median of B's change (5 %, 95 % of runs)|clock|preempted slices|seconds a run"
    lines = [row(head.split("|")), row(["---"] * 6)]
    for (planted, others), s in found.items():
        changes = sorted(s.changes)
        low, high = changes[len(changes) // 20], changes[-1 - len(changes) // 20]
        lines.append(
            row(
                [
                    f"{100 * planted:g} %, {others}",
                    ", ".join(f"{n} {word}" for word, n in sorted(s.verdicts.items())),
                    f"{100 * statistics.median(changes):+.2f} % ({100 * low:+.2f}, {100 * high:+.2f})",
                    ", ".join(f"{n} {word}" for word, n in sorted(s.clocks.items())),
                    f"{100 * statistics.fmean(s.preempted):.0f} %",
                    f"{statistics.fmean(s.elapsed_s):.0f} (at most {max(s.elapsed_s):.0f})",
                ]
            )
        )
    return lines


def page(lines_of_raw: list[dict], runs: list[Run], command: str, raw_name: str) -> str:
    found = situations(runs)
    last = lines_of_raw[-1]
    machine = last["machine"]
    revisions = ", ".join(sorted({line["revision"] for line in lines_of_raw}))
    dates = sorted(line["finished"] for line in lines_of_raw)
    disagreements = sum(s.disagree for s in found.values())
    return "\n".join(
        [
            "# How often `mirrorscale compare` errs",
            "",
            "Runs of `mirrorscale compare` where the truth is known: side B is side A, or is side A with a busy wait of so",
            'many percent of a step planted into every step. Share of runs that said "worse", with 95 % Wilson intervals;',
            "in the first line of each block it is the rate of false alarms, below the rate of detection.",
            "",
            *rates(found),
            "",
            "All judges see the same slices, taken in lockstep. That flatters the others: run one build after the other, as",
            'they usually are, they do far worse. "U test" is Google Benchmark\'s compare.py rule, two-sided at 0.05, said to',
            "be worse when B's median is larger: of all slices as repetitions, and of the restarts' means as repetitions.",
            "",
            *details(found),
            "",
            f"Machine: {machine['cpu_model']}, {machine['cores']} cores, Linux {machine['kernel']}. "
            f"Cell: `{last['cell']}`. Revision: {revisions}. Runs from {dates[0]} to {dates[-1]}.",
            f"Rule: alpha {100 * last['alpha']:g} %, floor {100 * last['floor']:g} %; {len(last['restarts'])} restarts. "
            f"The command's verdicts and a second writing of its rule (tests/studies/scores.py) disagree in "
            f"{disagreements} of {len(runs)} runs.",
            "",
            f"Made by `{command}`; recomputed from `{raw_name}` with `--score-only`.",
            "",
        ]
    )
