"""Every wait of the engine's CUDA part is needed: without any one of them ThreadSanitizer sees a data race.

    removed_waits.py PROGRAM SOURCES [--sanitized]

PROGRAM is all_waits, linked with order_without_a_wait.cpp; SOURCES the root of the project. Without --sanitized (a
plain build) only checks that the program uses every wait that the sources have. Exit status 0 or 1.
"""

import os
import pathlib
import re
import subprocess
import sys

FOLDERS = ("kernels/cuda", "strategies/comm/nccl", "strategies/comm/copies")
# Order no data, so that no race can tell: without its wait the driver itself refuses to read a time.
EXEMPT = {"order.cpp", "clock.cpp"}
CALL = re.compile(r"\b(?:wait_for_mark|wait_on_host|order_after)\(")


def places_in(root: pathlib.Path) -> set[str]:
    """Where the sources wait: "folder/file.cpp:line"."""
    found = set()
    for folder in FOLDERS:
        for path in sorted((root / folder).glob("*.cpp")):
            if path.name in EXEMPT:
                continue
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
                if CALL.search(line.split("//")[0]):
                    found.add(f"{path.parent.name}/{path.name}:{number}")
    return found


def run(program: str, removed: str | None) -> subprocess.CompletedProcess:
    environment = dict(os.environ)
    environment.pop("MIRRORSCALE_TEST_REMOVED_WAIT", None)
    if removed:
        environment["MIRRORSCALE_TEST_REMOVED_WAIT"] = removed
    environment["TSAN_OPTIONS"] = "halt_on_error=1 atexit_sleep_ms=0 exitcode=66"
    return subprocess.run(
        [program], env=environment, capture_output=True, text=True, timeout=240, check=False
    )


def main(program: str, root: str, sanitized: bool) -> int:
    whole = run(program, None)
    if whole.returncode != 0:
        print(f"with every wait in place: status {whole.returncode}\n{whole.stderr[-4000:]}")
        return 1
    print("with every wait in place: clean")
    listed = re.findall(r"^wait (\S+)$", run(program, "list").stdout, re.MULTILINE)
    used = {place for place in listed if re.split("[/:]", place)[1] not in EXEMPT}
    unused = places_in(pathlib.Path(root)) - used
    if unused:
        print(f"never used by {program}: {', '.join(sorted(unused))}")
        return 1
    missed = []
    for place in sorted(used) if sanitized else []:
        seen = "data race" in run(program, place).stderr
        print(f"without {place}: {'a data race is reported' if seen else 'NOTHING IS REPORTED'}")
        if not seen:
            missed.append(place)
    print(
        f"{len(used)} waits, {len(missed)} of them not missed when removed"
        if sanitized
        else f"{len(used)} waits"
    )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], "--sanitized" in sys.argv[3:]))
