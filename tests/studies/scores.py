"""Scores of one comparison from its raw slices: ours, written down a second time, and what others would have said.

Ours is the rule of harness/judge/paired_change.h; this copy shares no code with it, so that a study finds out when the
two disagree. Peers see the very same slices.
"""

import math
import statistics
from dataclasses import dataclass

from peers import mann_whitney_p


@dataclass(frozen=True, slots=True)
class Restart:
    """Seconds and CPU seconds of the slices of both sides, pair by pair."""

    a_s: list[float]
    b_s: list[float]
    a_cpu_s: list[float]
    b_cpu_s: list[float]


@dataclass(frozen=True, slots=True)
class Rule:
    alpha: float
    floor: float


def signed_rank_above(values: list[float]) -> float:
    """Exact p of Wilcoxon's signed-rank test against values above 0, ties and all."""
    kept = sorted((v for v in values if v != 0), key=abs)
    doubled: list[int] = []
    for value in kept:
        below = sum(abs(v) < abs(value) for v in kept)
        equal = sum(abs(v) == abs(value) for v in kept)
        doubled.append(2 * below + equal + 1)
    seen = sum(r for r, v in zip(doubled, kept) if v > 0)
    ways = {0: 1}
    for rank in doubled:
        more = dict(ways)
        for total, count in ways.items():
            more[total + rank] = more.get(total + rank, 0) + count
        ways = more
    return sum(n for total, n in ways.items() if total >= seen) / 2 ** len(kept)


def pair_mean_median(values: list[float]) -> float:
    """Hodges-Lehmann: the median of the means of all pairs, each value with itself too."""
    return statistics.median((x + y) / 2 for i, x in enumerate(values) for y in values[i:])


def log_ratios(restart: Restart, cpu: bool) -> list[float]:
    pairs = zip(restart.a_cpu_s, restart.b_cpu_s) if cpu else zip(restart.a_s, restart.b_s)
    return [math.log(b / a) for a, b in pairs]


def deviation(values: list[float]) -> float:
    middle = statistics.median(values)
    return 1.4826 * statistics.median(abs(v - middle) for v in values)


def judges_cpu_time(restarts: list[Restart], preempted: float) -> bool:
    """Whether slices were preempted so often that CPU time is judged, where it is the quieter one."""

    def spread(cpu: bool) -> float:
        return sum(pair_mean_median(log_ratios(restart, cpu)) ** 2 for restart in restarts)

    return preempted > 0.25 and spread(True) < spread(False)


def ours_says_worse(restarts: list[Restart], preempted: float, rule: Rule) -> bool:
    cpu = judges_cpu_time(restarts, preempted)
    pairs = [log_ratios(restart, cpu) for restart in restarts]
    values = [pair_mean_median(p) for p in pairs]
    own = [max(1e-6, 1.0233 * deviation(p) / math.sqrt(len(p))) for p in pairs]
    # What restarts differ by beyond their own uncertainty, of their sizes (DerSimonian and Laird).
    weights = [u**-2 for u in own]
    total = sum(weights)
    middle = sum(abs(v) * w for v, w in zip(values, weights)) / total
    q = sum(w * (abs(v) - middle) ** 2 for v, w in zip(values, weights))
    beyond = max(0.0, (q - (len(values) - 1)) / (total - sum(w * w for w in weights) / total))
    scales = [math.sqrt(u * u + beyond) for u in own]
    weighted_means = [
        (v / s + w / t) / (1 / s + 1 / t)
        for i, (v, s) in enumerate(zip(values, scales))
        for w, t in list(zip(values, scales))[i:]
    ]
    p = signed_rank_above([v / s for v, s in zip(values, scales)])
    return p <= rule.alpha and math.expm1(statistics.median(weighted_means)) >= rule.floor


def u_test_says_worse(a_s: list[float], b_s: list[float], alpha: float = 0.05) -> bool:
    """Google Benchmark's compare.py: the U test of repetitions, and B's median is the larger one."""
    return mann_whitney_p(a_s, b_s) < alpha and statistics.median(b_s) > statistics.median(a_s)


def peers_say_worse(restarts: list[Restart]) -> dict[str, bool]:
    all_a = [s for restart in restarts for s in restart.a_s]
    all_b = [s for restart in restarts for s in restart.b_s]
    means_a = [statistics.fmean(restart.a_s) for restart in restarts]
    means_b = [statistics.fmean(restart.b_s) for restart in restarts]
    return {
        "U test of slices": u_test_says_worse(all_a, all_b),
        "U test of restarts": u_test_says_worse(means_a, means_b),
        "5 % threshold": statistics.fmean(all_b) > 1.05 * statistics.fmean(all_a),
    }
