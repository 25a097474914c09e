"""exact on emulated GPUs has the bits of the cpu backend; fast stays within the bounds that it prints."""

import pytest
from emulated import GOOD, TRAIN, good, run, weight_hash


@pytest.fixture(scope="module")
def of_the_cpu() -> str:
    return weight_hash(good(*TRAIN))


@pytest.mark.parametrize("devices", [1, 2, 3, 4, 8])
def test_exact_has_the_hash_of_the_cpu_backend(devices, of_the_cpu):
    output = good(*TRAIN, "--backend", "cuda", "--numerics", "exact", "--devices", devices)
    assert weight_hash(output) == of_the_cpu


@pytest.mark.parametrize("ops", ["nccl", "reduction_to_one_device", "hierarchical_copy"])
def test_exact_has_it_with_all_cross_device_ops(ops, of_the_cpu):
    arguments = ["--devices", "cuda:0,cuda:1,cuda:2", "--numerics", "exact"]
    assert weight_hash(good(*TRAIN, *arguments, "--cross-device-ops", ops)) == of_the_cpu


@pytest.mark.parametrize("devices", [1, 4])
def test_graphs_and_registered_buffers_change_no_bit(devices, of_the_cpu):
    arguments = ["--backend", "cuda", "--devices", devices, "--graphs", "--registered-buffers"]
    assert weight_hash(good(*TRAIN, *arguments, "--numerics", "exact")) == of_the_cpu
    plain = weight_hash(good(*TRAIN, *arguments[:4]))
    assert weight_hash(good(*TRAIN, *arguments)) == plain


@pytest.mark.parametrize("devices", [1, 3])
def test_fast_is_the_same_from_run_to_run(devices):
    arguments = [*TRAIN, "--backend", "cuda", "--devices", devices]
    assert weight_hash(good(*arguments)) == weight_hash(good(*arguments))


@pytest.mark.parametrize("precision", ["float32", "tf32", "bfloat16", "float16"])
def test_fast_is_within_the_bounds(precision):
    done = run(
        *("validate", "--backend", "cuda", "--workload", "mlp-small", "--devices", "1,2,3"),
        *("--global-batch", "7,48", "--precision", precision, "--verbose"),
    )
    assert done.returncode == GOOD, done
    assert "FAIL" not in done.stdout and "all invariants hold" in done.stdout
    assert "passed ONE" in done.stdout and "values within their bounds" in done.stdout


def test_exact_is_validated_against_the_cpu_backend():
    done = run(
        *("validate", "--backend", "cuda", "--numerics", "exact", "--workload", "mlp-small"),
        *("--devices", "1,2,5", "--global-batch", "7,40", "--verbose"),
    )
    assert done.returncode == GOOD, done
    assert "XBK" in done.stdout.splitlines()[0]
    assert "all invariants hold" in done.stdout
