"""What docs/gate.md tells people to type is what the command takes."""

import pathlib
import re
import subprocess

import pytest
from command_line import GOOD, good, mirrorscale
from launch_files import Side, write_side

PAGE = (pathlib.Path(__file__).parents[3] / "docs" / "gate.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_the_config_of_the_page_is_a_config(baseline, tmp_path):
    (text,) = blocks("toml")
    config = tmp_path / "gate.toml"
    config.write_text(text)
    files = write_side(tmp_path / "c", Side(seed=2, day=1))
    done = mirrorscale("gate", "--store", baseline, "--config", config, *files)
    assert (done.returncode, done.stderr) == (GOOD, "")


@pytest.mark.parametrize("command", ["gate", "baseline save", "history show", "sweep"])
def test_every_option_of_the_page_is_known(command):
    known = set(re.findall(r"--[a-z][a-z0-9-]*", good(*command.split(), "--help")))
    used = set()
    for line in PAGE.replace("\\\n", " ").splitlines():
        for typed in re.findall(rf"mirrorscale {command}\b([^`|&\"]*)", line):
            used |= set(re.findall(r"--[a-z][a-z0-9-]*", typed))
    assert used <= known


def test_the_recipes_are_what_they_say_they_are():
    yaml = pytest.importorskip("yaml")
    github, gitlab = (yaml.safe_load(text) for text in blocks("yaml"))
    assert [step.get("run", "") for step in github["gate"]["steps"]][2].count(
        "gate --measure 5"
    ) == 1
    assert gitlab["gate"]["artifacts"]["reports"]["junit"] == "gate.xml"
    for script in blocks("bash"):
        assert subprocess.run(["bash", "-n"], input=script, text=True, check=False).returncode == 0
