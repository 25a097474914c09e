"""Rules for files that no compiler knows: their size, their beginnings, and a README in each folder of the top level.

`findings(root)` returns one line for each file that breaks a rule; run as a script it prints them and exits with 1 when
there are any.
"""

import pathlib
import re
import sys

ROOMS = ["harness", "kernels", "strategies", "scenarios", "reports", "tests", "scripts"]
FOLDERS_WITH_README = [*ROOMS, "docs"]
CODE = {".h", ".cpp", ".cu", ".cuh", ".py", ".sh", ".cmake"}
MOST_LINES = 400
FIRST_INCLUDE = re.compile(r'^#include ["<](.+)[">]', re.M)
UNFINISHED = re.compile(r"\b(?:TODO|FIXME|XXX)\b")


def file_findings(name: str, text: str) -> list[str]:
    found = []
    lines = text.count("\n")
    if lines > MOST_LINES:
        found.append(f"{name}: {lines} lines; split it, a source file has at most {MOST_LINES}")
    # Highway compiles an -inl.h once for each target, and guards it itself.
    if name.endswith((".h", ".cuh")) and not name.endswith("-inl.h") and "#pragma once" not in text:
        found.append(f"{name}: no #pragma once")
    if UNFINISHED.search(text):
        found.append(f"{name}: marked as unfinished; finish it, or file an issue and drop the mark")
    if text and not text.endswith("\n"):
        found.append(f"{name}: the last line has no end")
    return found


def own_header_findings(name: str, text: str) -> list[str]:
    """A source begins with its own header, so that each build shows that the header needs nothing before it."""
    own = str(pathlib.PurePosixPath(name).with_suffix(".h"))
    first = FIRST_INCLUDE.search(text)
    if first and first.group(1) == own:
        return []
    return [f"{name}: its first include is not {own}"]


def findings(root: pathlib.Path) -> list[str]:
    found = [
        f"{room}/ has no README.md"
        for room in FOLDERS_WITH_README
        if not (root / room / "README.md").is_file()
    ]
    rules = pathlib.Path(__file__).name
    for room in ROOMS:
        for path in sorted((root / room).rglob("*")):
            if path.suffix in CODE and not path.name.startswith(rules.removesuffix(".py")):
                name = path.relative_to(root).as_posix()
                text = path.read_text(encoding="utf-8")
                found += file_findings(name, text)
                if room != "tests" and path.suffix == ".cpp" and path.with_suffix(".h").exists():
                    found += own_header_findings(name, text)
    return found


if __name__ == "__main__":
    problems = findings(pathlib.Path(sys.argv[1]).resolve())
    print("\n".join(problems) or "every file keeps the rules of the house")
    sys.exit(bool(problems))
