"""The judges of a study on cases computed on paper."""

import itertools
import math
import pathlib
import random
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from peers import mann_whitney_p, wilson  # noqa: E402
from scores import (  # noqa: E402
    Restart,
    Rule,
    judges_cpu_time,
    ours_says_worse,
    pair_mean_median,
    peers_say_worse,
    signed_rank_above,
)


def test_signed_rank_counts_the_choices_of_signs() -> None:
    assert signed_rank_above([0.5, 1, 2]) == 1 / 8
    assert signed_rank_above([1, -2, 3, 4]) == 3 / 16
    assert signed_rank_above([0, 1, 1, -2]) == 5 / 8
    assert signed_rank_above([]) == 1


def test_pair_means() -> None:
    assert pair_mean_median([6, 1, 2]) == 2.75


def test_mann_whitney_is_near_what_all_orders_give() -> None:
    first, second = [1.0, 2, 4, 5, 7, 9], [3.0, 6, 8, 10, 11, 12]
    both = first + second

    def u(chosen: tuple[float, ...]) -> int:
        return sum(x > y for x in chosen for y in both if y not in chosen)

    seen = abs(u(tuple(first)) - 18)
    ways = [abs(u(c) - 18) >= seen for c in itertools.combinations(both, 6)]
    assert mann_whitney_p(first, second) == pytest.approx(sum(ways) / len(ways), rel=0.15)
    assert mann_whitney_p([1, 1], [1, 1]) == 1


def test_wilson() -> None:
    low, high = wilson(0, 300)
    assert low == pytest.approx(0, abs=1e-9) and high == pytest.approx(3.8416 / 303.8416, rel=1e-3)
    assert wilson(5, 10)[0] == pytest.approx(0.2366, abs=1e-3)


def restarts(longer: float, noise: float, cpu_noise: float) -> list[Restart]:
    draw = random.Random(3)

    def slices(factor: float, spread: float) -> list[float]:
        return [0.01 * factor * math.exp(draw.gauss(0, spread)) for _ in range(40)]

    return [
        Restart(
            slices(1, noise),
            slices(1 + longer, noise),
            slices(1, cpu_noise),
            slices(1 + longer, cpu_noise),
        )
        for _ in range(10)
    ]


def test_ours_and_the_peers() -> None:
    rule = Rule(alpha=0.005, floor=0.005)
    assert ours_says_worse(restarts(0.02, 0.01, 0.01), 0, rule)
    assert not ours_says_worse(restarts(0, 0.01, 0.01), 0, rule)
    assert not ours_says_worse(restarts(-0.02, 0.01, 0.01), 0, rule)
    assert not ours_says_worse(restarts(0.003, 0.001, 0.001), 0, rule)  # below the floor
    assert judges_cpu_time(restarts(0.02, 0.5, 0.01), preempted=0.9)
    assert not judges_cpu_time(restarts(0.02, 0.5, 0.01), preempted=0.1)
    assert ours_says_worse(restarts(0.02, 0.5, 0.01), 0.9, rule)
    peers = peers_say_worse(restarts(0.02, 0.01, 0.01))
    assert peers == {"U test of slices": True, "U test of restarts": True, "5 % threshold": False}
    assert peers_say_worse(restarts(0.2, 0.01, 0.01))["5 % threshold"]
