"""What others would have said of the same numbers, and how sure a rate of alarms is. Plain Python."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from statistics import median

MOST_ENUMERATED = 20_000


def mann_whitney_p(first: Sequence[float], second: Sequence[float]) -> float:
    """Two-sided p value of the U test, as Google Benchmark's compare.py takes it: exact by enumeration for small
    samples, else the normal approximation with corrections for ties and continuity."""
    n, m = len(first), len(second)
    pooled = sorted([*first, *second])
    ranks: dict[float, float] = {}
    ties = 0.0
    for value, group in itertools.groupby(range(n + m), key=lambda i: pooled[i]):
        members = list(group)
        ranks[value] = (members[0] + members[-1]) / 2 + 1
        ties += len(members) ** 3 - len(members)
    u = sum(ranks[v] for v in first) - n * (n + 1) / 2
    away = abs(u - n * m / 2)
    if math.comb(n + m, n) <= MOST_ENUMERATED:
        all_ranks = [ranks[v] for v in pooled]
        as_far = total = 0
        for chosen in itertools.combinations(all_ranks, n):
            total += 1
            as_far += abs(sum(chosen) - n * (n + 1) / 2 - n * m / 2) >= away - 1e-9
        return as_far / total
    size = n + m
    variance = n * m / 12 * (size + 1 - ties / (size * (size - 1)))
    if variance <= 0:
        return 1.0
    z = max(0.0, away - 0.5) / math.sqrt(variance)
    return math.erfc(z / math.sqrt(2))


def u_test_alarms(
    baseline: Sequence[float], candidate: Sequence[float], alpha: float = 0.05
) -> bool:
    """compare.py's marking, with the eye of its reader: different at alpha, and slower."""
    slower = median(candidate) < median(baseline)
    return slower and mann_whitney_p(baseline, candidate) < alpha


def threshold_alarms(
    baseline: Sequence[float], candidate: Sequence[float], limit: float = 0.05
) -> bool:
    """A plain threshold on medians of throughput."""
    return median(candidate) < (1 - limit) * median(baseline)


def wilson(hits: int, trials: int, z: float = 1.96) -> tuple[float, float]:
    """95 % interval of a rate; holds at 0 and at all of them too."""
    if trials == 0:
        return 0.0, 1.0
    share = hits / trials
    scale = 1 + z * z / trials
    middle = (share + z * z / (2 * trials)) / scale
    half = z / scale * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials**2))
    return max(0.0, middle - half), min(1.0, middle + half)
