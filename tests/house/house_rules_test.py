"""Plants a file against each rule of the house and sees it found."""

import pathlib
import subprocess
import sys

import pytest

import house_rules


@pytest.fixture(name="house")
def a_house_in_order(tmp_path: pathlib.Path) -> pathlib.Path:
    for folder in house_rules.FOLDERS_WITH_README:
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "README.md").write_text("# a room\n", encoding="utf-8")
    (tmp_path / "kernels" / "good.h").write_text("#pragma once\n", encoding="utf-8")
    return tmp_path


def test_a_house_in_order_passes(house):
    assert house_rules.findings(house) == []


@pytest.mark.parametrize("folder", house_rules.FOLDERS_WITH_README)
def test_a_room_without_a_readme_is_named(house, folder):
    (house / folder / "README.md").unlink()
    assert house_rules.findings(house) == [f"{folder}/ has no README.md"]


@pytest.mark.parametrize(
    ("name", "text", "word"),
    [
        ("kernels/long.cpp", "int a;\n" * 401, "401 lines"),
        ("kernels/twice.h", "int a;\n", "pragma once"),
        ("kernels/good.cpp", '#include <map>\n#include "kernels/good.h"\n', "first include"),
        ("strategies/later.cpp", "// TO" + "DO: the rest\n", "unfinished"),
        ("reports/cut.py", "a = 1", "the last line"),
    ],
)
def test_a_file_against_a_rule_is_named(house, name, text, word):
    (house / name).write_text(text, encoding="utf-8")
    found = house_rules.findings(house)
    assert len(found) == 1
    assert found[0].startswith(name + ":")
    assert word in found[0]


@pytest.mark.parametrize(
    ("name", "text"), [("kernels/full.cpp", "int a;\n" * 400), ("kernels/simd-inl.h", "int a;\n")]
)
def test_a_file_at_the_limit_passes(house, name, text):
    (house / name).write_text(text, encoding="utf-8")
    assert house_rules.findings(house) == []


def test_the_script_says_so_in_its_exit_status(house):
    def status() -> int:
        return subprocess.run(
            [sys.executable, house_rules.__file__, str(house)], capture_output=True, check=False
        ).returncode

    assert status() == 0
    (house / "docs" / "README.md").unlink()
    assert status() == 1
