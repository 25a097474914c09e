"""Who may include whom: the floors of the house, its inner edges and its third parties.

`breaches(root)` returns one line for each include (or Python import) that breaks a rule; run as a script it prints
them and exits with 1 when there are any. Paths are relative to the root; a rule for a folder holds for all below it.
"""

import pathlib
import re
import sys

SOURCES = {".h", ".hpp", ".cpp", ".cu", ".cuh"}

# Floors: a folder may include itself and these.
MAY_INCLUDE = {
    "harness": [],
    "kernels": [],
    "strategies": ["kernels"],
    "scenarios": ["harness", "kernels", "strategies"],
    "tests": ["harness", "kernels", "strategies", "scenarios"],
}

# Inner edges: a folder (first) includes nothing of these (second).
MAY_NOT_INCLUDE = {
    # Engine, input and communication know not each other, nor what stands above them and joins them.
    "strategies/engine": ["strategies/input", "strategies/comm"],
    "strategies/input": ["strategies/engine", "strategies/comm"],
    "strategies/comm": ["strategies/engine", "strategies/input"],
    # The judge shares no code with the judged.
    "scenarios/oracle": ["kernels", "strategies"],
}

# These rooms of strategies/ may not include the files directly in strategies/ (reducer, strategies, trainer).
BELOW_THE_JOINERS = ["strategies/engine", "strategies/input", "strategies/comm"]

# Third parties: an include that starts so (first) is found only in these (second), and in tests.
THIRD_PARTIES = {
    "hwy/": ["kernels/cpu"],
    "hwloc": ["harness/record", "strategies/comm"],
    "benchmark/": ["harness/gbench", "scenarios", "kernels/bench"],
    "nlohmann/": ["harness/record", "harness/gbench", "scenarios", "strategies/checkpoint"],
    "CLI/": ["scenarios"],
    "toml++/": ["scenarios"],
    "gtest/": [],
    "gmock/": [],
    "nvtx3/": ["strategies"],
    "dnnl": ["kernels/bench"],
    "oneapi/dnnl": ["kernels/bench"],
    "cblas": ["kernels/bench"],
    "blis": ["kernels/bench"],
    "openblas": ["kernels/bench"],
    "emulated_cuda/": ["kernels/cuda"],
    "cuda": ["kernels/cuda", "strategies/comm/nccl", "strategies/comm/copies"],
    "cublas": ["kernels/cuda"],
    "curand": [],
    "nccl": ["strategies/comm/nccl"],
    "mpi.h": ["strategies/comm/mpi"],
    "zlib.h": ["strategies/input", "strategies/checkpoint"],
    "zip.h": ["strategies/input"],
    "Python.h": [],
}

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)', re.MULTILINE)
PYTHON_IMPORT = re.compile(r"^[ \t]*(?:import|from)[ \t]+(\w+)", re.MULTILINE)
FOREIGN_TO_REPORTS = {"ctypes", "cffi", "pybind11", "subprocess"}


def is_under(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder + "/")


def floor_breach(source: str, target: str) -> str | None:
    """Why `source` may not include the project file `target`, or None. A target without a folder is refused too."""
    room, other = source.split("/")[0], target.split("/")[0]
    if "/" not in target or other not in MAY_INCLUDE:
        return "is not a path from the root of the project"
    if other != room and other not in MAY_INCLUDE[room]:
        return f"{room}/ may include only {', '.join([room, *MAY_INCLUDE[room]])}"
    for inner, refused in MAY_NOT_INCLUDE.items():
        if is_under(source, inner) and any(is_under(target, folder) for folder in refused):
            return f"{inner}/ knows nothing of {' and '.join(refused)}"
    if any(is_under(source, folder) for folder in BELOW_THE_JOINERS):
        if target.count("/") == 1 and other == "strategies":
            return "the rooms of strategies/ know nothing of what joins them"
    return None


def third_party_breach(source: str, target: str) -> str | None:
    """Why `source` may not include the foreign header `target`, or None."""
    for prefix, folders in THIRD_PARTIES.items():
        if target.startswith(prefix) and not is_under(source, "tests"):
            if not any(is_under(source, folder) for folder in folders):
                return f"{prefix} belongs to {', '.join([*folders, 'tests'])}"
    return None


def source_breaches(root: pathlib.Path, path: pathlib.Path) -> list[str]:
    source = path.relative_to(root).as_posix()
    found = []
    for ours, theirs in INCLUDE.findall(path.read_text(encoding="utf-8")):
        # Our own names in angle brackets obey the floors as well, foreign ones in quotes their own rule.
        target = ours or theirs
        is_ours = target.split("/")[0] in MAY_INCLUDE and "/" in target
        is_foreign = third_party_breach("nowhere", target) is not None
        why = None
        if is_ours or (ours and not is_foreign):
            why = floor_breach(source, target)
        elif is_foreign:
            why = third_party_breach(source, target)
        if why:
            found.append(f"{source} includes {target}: {why}")
    return found


def report_breaches(root: pathlib.Path) -> list[str]:
    """reports/ reads record files and draws: it starts nothing and binds nothing of the C++ side."""
    found = []
    for path in sorted((root / "reports").rglob("*.py")):
        for module in PYTHON_IMPORT.findall(path.read_text(encoding="utf-8")):
            if module in FOREIGN_TO_REPORTS or module in MAY_INCLUDE:
                found.append(
                    f"{path.relative_to(root).as_posix()} imports {module}: reports read record files only"
                )
    return found


def breaches(root: pathlib.Path) -> list[str]:
    found = []
    for folder in MAY_INCLUDE:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in SOURCES:
                found += source_breaches(root, path)
    return found + report_breaches(root)


if __name__ == "__main__":
    problems = breaches(pathlib.Path(sys.argv[1]).resolve())
    print("\n".join(problems) or "every include stays on or below its floor")
    sys.exit(bool(problems))
