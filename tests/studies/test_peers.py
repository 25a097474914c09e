"""The yardsticks of the study, on cases worked out on paper."""

import pytest
from peers import mann_whitney_p, threshold_alarms, u_test_alarms, wilson


def test_exact_u_by_enumeration():
    # 3 against 3, all apart: 2 of the 20 ways are as far out.
    assert mann_whitney_p([1, 2, 3], [4, 5, 6]) == pytest.approx(0.1)
    # U = 1 of 0..9: the ways with U in {0, 1, 8, 9} are 1 + 1 + 1 + 1 of 20.
    assert mann_whitney_p([1, 2, 4], [3, 5, 6]) == pytest.approx(0.2)
    assert mann_whitney_p([1, 1], [1, 1]) == 1


def test_normal_approximation_agrees_with_the_exact_one():
    first = [float(i) for i in range(8)]
    second = [i + 2.5 for i in range(8)]
    exact = mann_whitney_p(first, second)
    near = mann_whitney_p([*first, *first], [*second, *second])
    assert 0 < near < exact < 0.2


def test_alarms_are_for_losses_only():
    slow, fast = [90.0, 91, 92, 93, 94], [100.0, 101, 102, 103, 104]
    assert u_test_alarms(fast, slow) and not u_test_alarms(slow, fast)
    assert threshold_alarms(fast, slow) and not threshold_alarms(slow, fast)
    assert not threshold_alarms([100.0], [96.0])


def test_wilson_in_textbooks():
    low, high = wilson(10, 100)
    assert (low, high) == (pytest.approx(0.0552, abs=1e-3), pytest.approx(0.1744, abs=1e-3))
    assert wilson(0, 300) == (0.0, pytest.approx(0.01264, abs=1e-4))
    assert wilson(0, 0) == (0.0, 1.0)
