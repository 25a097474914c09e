"""Plants each kind of breach in a small tree and sees it found, and sees each allowed edge pass."""

import pathlib
import subprocess
import sys

import pytest

import include_floors

REFUSED = [
    # floors
    ("harness/measure/a.cpp", '#include "kernels/backend.h"'),
    ("harness/measure/a.cpp", "#include <kernels/backend.h>"),
    ("kernels/cpu/a.cpp", '#include "harness/measure/clock.h"'),
    ("kernels/a.h", '#include "strategies/reducer.h"'),
    ("strategies/a.cpp", '#include "harness/measure/clock.h"'),
    ("strategies/a.cpp", '#  include "scenarios/registry.h"'),
    ("scenarios/a.cpp", '#include "tests/support/approx.h"'),
    ("kernels/cuda/a.cu", '#include "harness/measure/clock.h"'),
    # a path that is not from the root
    ("kernels/a.cpp", '#include "backend.h"'),
    ("kernels/a.cpp", '#include "../strategies/reducer.h"'),
    # inner edges
    ("strategies/engine/a.cpp", '#include "strategies/input/sharder.h"'),
    ("strategies/engine/a.cpp", '#include "strategies/comm/communicator.h"'),
    ("strategies/input/a.h", '#include "strategies/engine/layer.h"'),
    ("strategies/comm/threads/a.h", '#include "strategies/engine/layer.h"'),
    ("strategies/comm/a.h", '#include "strategies/input/sharder.h"'),
    ("strategies/engine/a.h", '#include "strategies/reducer.h"'),
    ("scenarios/oracle/a.cpp", '#include "kernels/matrix.h"'),
    ("scenarios/oracle/a.cpp", '#include "strategies/input/dataset.h"'),
    # third parties
    ("kernels/reference/a.cpp", "#include <hwy/highway.h>"),
    ("kernels/reference/a.cpp", '#include "hwy/highway.h"'),
    ("strategies/engine/a.cpp", "#include <hwy/highway.h>"),
    ("kernels/cpu/a.cpp", "#include <hwloc.h>"),
    ("harness/measure/a.cpp", "#include <benchmark/benchmark.h>"),
    ("harness/gate/a.cpp", "#include <nlohmann/json.hpp>"),
    ("strategies/a.cpp", "#include <nlohmann/json.hpp>"),
    ("harness/sweep/a.cpp", "#include <CLI/CLI.hpp>"),
    ("harness/sweep/a.cpp", "#include <toml++/toml.h>"),
    ("scenarios/a.cpp", "#include <gtest/gtest.h>"),
    ("scenarios/a.cpp", "#include <nvtx3/nvToolsExt.h>"),
    ("kernels/cpu/a.cpp", "#include <dnnl.hpp>"),
    ("kernels/cpu/a.cpp", "#include <cblas.h>"),
    ("kernels/cpu/a.cpp", "#include <cuda_runtime.h>"),
    ("strategies/comm/threads/a.cpp", "#include <nccl.h>"),
    ("strategies/comm/threads/a.cpp", "#include <mpi.h>"),
    ("kernels/a.cpp", "#include <zlib.h>"),
    # reports
    ("reports/mirrorscale_reports/a.py", "import ctypes"),
    ("reports/mirrorscale_reports/a.py", "from subprocess import run"),
]

ALLOWED = [
    ("harness/measure/a.cpp", '#include "harness/measure/clock.h"'),
    ("strategies/engine/a.cpp", '#include "kernels/backend.h"'),
    ("strategies/engine/a.cpp", '#include "strategies/engine/layer.h"'),
    ("strategies/a.cpp", '#include "strategies/comm/communicator.h"'),
    ("scenarios/a.cpp", '#include "strategies/mirrored.h"'),
    ("scenarios/oracle/a.cpp", '#include "harness/check/bound.h"'),
    ("scenarios/a.cpp", "#include <CLI/CLI.hpp>"),
    ("scenarios/sweeps/a.cpp", "#include <benchmark/benchmark.h>"),
    ("kernels/cpu/a.cpp", "#include <hwy/highway.h>"),
    ("kernels/cpu/a-inl.h", '#include "hwy/highway.h"'),
    ("kernels/bench/a.cpp", "#include <dnnl.hpp>"),
    ("kernels/cpu/a.cpp", "#include <cstddef>"),
    ("strategies/comm/a.cpp", "#include <hwloc.h>"),
    ("strategies/a.cpp", "#include <nvtx3/nvToolsExt.h>"),
    ("harness/record/json.cpp", "#include <nlohmann/json.hpp>"),
    ("tests/kernels/a_test.cpp", "#include <gtest/gtest.h>"),
    ("tests/kernels/a_test.cpp", '#include "scenarios/registry.h"'),
    ("reports/mirrorscale_reports/a.py", "import json"),
]


def plant(root: pathlib.Path, name: str, line: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"// a file\n{line}\n", encoding="utf-8")


@pytest.mark.parametrize(("name", "line"), REFUSED)
def test_a_breach_is_found_and_names_the_file(tmp_path, name, line):
    plant(tmp_path, name, line)
    found = include_floors.breaches(tmp_path)
    assert len(found) == 1
    assert found[0].startswith(name)


@pytest.mark.parametrize(("name", "line"), ALLOWED)
def test_an_allowed_edge_passes(tmp_path, name, line):
    plant(tmp_path, name, line)
    assert include_floors.breaches(tmp_path) == []


def test_an_include_in_a_comment_is_no_include(tmp_path):
    plant(tmp_path, "kernels/a.h", '// #include "harness/measure/clock.h"')
    assert include_floors.breaches(tmp_path) == []


@pytest.mark.parametrize(
    ("line", "status"), [('#include "harness/a.h"', 1), ("#include <vector>", 0)]
)
def test_the_script_says_so_in_its_exit_status(tmp_path, line, status):
    plant(tmp_path, "kernels/a.h", line)
    run = subprocess.run(
        [sys.executable, include_floors.__file__, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == status
    assert ("kernels/a.h includes" in run.stdout) == bool(status)
