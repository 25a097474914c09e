"""Runs the mirrorscale command as a person would; the build says where it is."""

import os
import re
import subprocess

BINARY = os.environ["MIRRORSCALE_BINARY"]
GOOD, FINDING, MISUSE, COULD_NOT_RUN = 0, 1, 2, 3

# The smallest training that has everything: uneven shards on 3, 5 and 8 devices, a short last batch, two epochs.
SMALL = [
    *(
        "train",
        "--workload",
        "mlp-small",
        "--data",
        "clusters",
        "--epochs",
        "2",
        "--global-batch",
        "48",
    ),
    *("--limit-rows", "200", "--limit-test-rows", "100"),
]


def mirrorscale(*arguments: object, **variables: str) -> subprocess.CompletedProcess:
    environment = {k: v for k, v in os.environ.items() if k != "MIRRORSCALE_CPU_TARGET"} | variables
    return subprocess.run(
        [BINARY, *map(str, arguments)],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=250,
    )


def good(*arguments: object, **variables: str) -> str:
    """The output of a run that must succeed in silence."""
    done = mirrorscale(*arguments, **variables)
    assert (done.returncode, done.stderr) == (GOOD, ""), done
    return done.stdout


def refusal(status: int, *arguments: object, **variables: str) -> str:
    """The one line on standard error of a run that must end with `status`."""
    done = mirrorscale(*arguments, **variables)
    assert done.returncode == status, done
    assert done.stderr.startswith("mirrorscale: ") and done.stderr.count("\n") == 1, done.stderr
    return done.stderr


def weight_hash(output: str) -> str:
    found = re.findall(r"^weight hash: ([0-9a-f]{16})$", output, re.MULTILINE)
    assert len(found) == 1, output
    return found[0]


def epochs(output: str) -> list[str]:
    """What each epoch's line says of losses and metrics; times differ from run to run."""
    return re.findall(r"^epoch .* samples/s - (.*)$", output, re.MULTILINE)


def cpu_targets() -> list[str]:
    return re.findall(r"^cpu, (\w+)", good("list"), re.MULTILINE)
