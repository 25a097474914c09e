"""A machine that doesn't exist, for the tests of the scripts: a PATH of stand-ins for apt, sudo, cmake and ctest that
write down how they were called. Nothing is installed, nothing is built."""

import pathlib
import shutil
import subprocess

PROJECT = pathlib.Path(__file__).resolve().parents[2]
# Harmless tools that a stand-in machine has as they are.
REAL_TOOLS = "awk bash cat chmod cut dirname env find grep head mkdir nproc rm sed sort tail touch true".split()

DPKG_QUERY = """
name="${@: -1}"
grep -qxF "$name" "$STATE/installed" && echo installed
"""
APT_CACHE = """
name="${@: -1}"
grep -qxF "$name" "$STATE/offered"
"""
APT_GET = """
echo "apt-get $*" >> "$STATE/calls"
case "$*" in
  *update*) cat "$STATE/offered_after_update" >> "$STATE/offered" ;;
  *install*)
    [[ ! -e $STATE/install_fails_once ]] || { rm "$STATE/install_fails_once"; echo "E: 404 Not Found"; exit 100; }
    [[ ! -e $STATE/install_fails ]] || { echo "E: disk full"; exit 100; }
    for word in "$@"; do echo "$word" >> "$STATE/installed"; done ;;
esac
"""
SUDO = """
[[ -e $STATE/sudo_asks && $1 == -n ]] && exit 1
[[ $1 == -n ]] && shift
echo "sudo $1" >> "$STATE/calls"
exec "$@"
"""
CMAKE = """
echo "cmake $*" >> "$STATE/calls"
if [[ $1 == --preset ]]; then
  mkdir -p "build/$2"
  touch "build/$2/build.ninja"
  echo "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" > "build/$2/CMakeCache.txt"
  exit 0
fi
[[ ! -e $STATE/build_fails ]] || { echo "a.cpp:1: error: no such thing"; exit 1; }
mkdir -p "$2/scenarios"
cp_command() { cat "$STATE/mirrorscale" > "$1"; chmod +x "$1"; }
cp_command "$2/scenarios/mirrorscale"
"""
CTEST = """
echo "ctest $*" >> "$STATE/calls"
printf '<?xml version="1.0"?>\\n<testsuite name="x"\\n\\ttests="5"\\n\\tfailures="%s"\\n\\tdisabled="0"\\n' \\
  "$(cat "$STATE/failures")" > "${@: -1}"
printf '\\tskipped="2"\\n\\thostname="h"\\n>\\n\\t<testcase tests="9"/>\\n' >> "${@: -1}"
[[ $(cat "$STATE/failures") == 0 ]] || exit 8
"""
MIRRORSCALE = """#!/usr/bin/env bash
echo "mirrorscale $*" >> "$STATE/calls"
case "$1" in
  sweep) exit "$(cat "$STATE/sweep_status")" ;;
  report)
    [[ ! -e $STATE/no_report ]] || exit 3
    mkdir -p report && echo "<html>" > report/report.html
    exit "$(cat "$STATE/sweep_status")" ;;
esac
"""


class Machine:
    """A copy of the scripts in a folder of its own, and the machine that they find themselves on."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.root = folder / "a clone"
        self.bin = folder / "bin"
        self.state = folder / "state"
        for path in (self.bin, self.state, folder / "images"):
            path.mkdir()
        shutil.copytree(PROJECT / "scripts", self.root / "scripts")
        for tool in REAL_TOOLS:
            (self.bin / tool).symlink_to(shutil.which(tool))
        for name, text in {
            "dpkg-query": DPKG_QUERY,
            "apt-cache": APT_CACHE,
            "apt-get": APT_GET,
        }.items():
            self.command(name, text)
        for name, text in {
            "cmake": CMAKE,
            "ctest": CTEST,
            "id": "echo 0",
            "g++": "",
            "ninja": "",
        }.items():
            self.command(name, text)
        for name, text in {
            "calls": "",
            "failures": "0",
            "sweep_status": "0",
            "mirrorscale": MIRRORSCALE,
        }.items():
            self.write(name, text)
        everything = self.all_packages()
        self.write("installed", everything)
        self.write("offered", everything)
        self.write("offered_after_update", "")
        self.environment = {
            "PATH": str(self.bin),
            "STATE": str(self.state),
            "PACKAGED_DATA": str(folder / "images"),
            "HOME": str(folder),
        }

    def all_packages(self) -> str:
        listing = (
            'source "$1"; for purpose in $(package_purposes); do packages_for "$purpose"; done'
        )
        lines = subprocess.run(
            ["bash", "-c", listing, "-", str(self.root / "scripts/lib/packages.sh")],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.splitlines()
        return "".join(word + "\n" for line in lines for word in line.split() if word not in "?|")

    def command(self, name: str, text: str) -> None:
        (self.bin / name).write_text(f"#!{shutil.which('bash')}\n{text}\n", encoding="utf-8")
        (self.bin / name).chmod(0o755)

    def write(self, name: str, text: str) -> None:
        (self.state / name).write_text(text, encoding="utf-8")

    def without(self, listing: str, *names: str) -> None:
        lines = (self.state / listing).read_text(encoding="utf-8").splitlines()
        self.write(listing, "".join(line + "\n" for line in lines if line not in names))

    def lacks(self, *names: str) -> None:
        self.without("installed", *names)

    def does_not_offer(self, *names: str) -> None:
        self.without("offered", *names)

    def as_user(self) -> None:
        self.command("id", "echo 1000")

    def run(self, script: str, *arguments: str, cwd: str = "/") -> subprocess.CompletedProcess:
        self.write("calls", "")
        return subprocess.run(
            [str(self.bin / "bash"), str(self.root / "scripts" / script), *arguments],
            env=self.environment,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def calls(self, word: str = "") -> list[str]:
        return [
            line
            for line in (self.state / "calls").read_text(encoding="utf-8").splitlines()
            if word in line
        ]
