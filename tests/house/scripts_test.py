"""What the scripts do on machines that have everything, lack something, or may not install: see stand_in_machine.py."""

import pytest

from stand_in_machine import SUDO

BOTH = pytest.mark.parametrize("script", ["test.sh", "quickstart.sh"])


@BOTH
def test_help_prints_the_usage_and_does_nothing(machine, script):
    run = machine.run(script, "--help")
    assert run.returncode == 0
    assert run.stdout.startswith(f"scripts/{script} [--no-install] [--help]\n")
    assert "Exit status" in run.stdout
    assert machine.calls() == []


@BOTH
def test_an_unknown_argument_is_misuse(machine, script):
    run = machine.run(script, "--no-instal")
    assert run.returncode == 2
    assert "unknown argument '--no-instal'" in run.stderr
    assert machine.calls() == []


@BOTH
def test_nothing_missing_touches_no_package(machine, script):
    run = machine.run(script)
    assert run.returncode == 0, run.stderr
    assert machine.calls("apt-get") == []
    assert "nothing is missing" in run.stdout


def test_the_tests_are_configured_built_and_run_in_the_project_from_anywhere(machine, tmp_path):
    run = machine.run("test.sh", cwd=str(tmp_path))
    calls = machine.calls()
    assert calls[0] == "cmake --preset release"
    assert calls[1].startswith("cmake --build build/release --parallel ")
    assert calls[2].startswith("ctest --preset release --parallel ")
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines()[-1] == "3 passed, 0 failed, 2 skipped"


def test_a_second_run_does_not_configure_again(machine):
    machine.run("test.sh")
    machine.run("test.sh")
    assert machine.calls("--preset release") == machine.calls("ctest")


def test_a_tree_that_was_moved_is_configured_afresh(machine):
    machine.run("test.sh")
    machine.root = machine.root.rename(machine.root.with_name("elsewhere"))
    machine.run("test.sh")
    assert machine.calls("cmake --preset") == ["cmake --preset release --fresh"]


def test_a_failed_test_is_status_1(machine):
    machine.write("failures", "1")
    run = machine.run("test.sh")
    assert run.returncode == 1
    assert run.stdout.splitlines()[-1] == "2 passed, 1 failed, 2 skipped"


@BOTH
def test_a_failed_build_shows_the_error_and_is_status_3(machine, script):
    machine.write("build_fails", "")
    run = machine.run(script)
    assert run.returncode == 3
    assert "a.cpp:1: error: no such thing" in run.stderr
    assert machine.calls("ctest") == machine.calls("mirrorscale sweep") == []


def test_exactly_what_is_missing_is_named_and_installed(machine):
    machine.lacks("libhwy-dev", "python3-pytest")
    run = machine.run("test.sh")
    assert run.returncode == 0, run.stderr
    assert "missing to build: libhwy-dev\n" in run.stdout
    assert "missing to run the tests: python3-pytest\n" in run.stdout
    (install,) = machine.calls("apt-get")
    assert install.endswith("install -y --no-install-recommends libhwy-dev python3-pytest")


def test_after_an_installation_the_build_is_configured_again(machine):
    machine.run("test.sh")
    machine.lacks("libdnnl-dev")
    machine.run("test.sh")
    assert machine.calls("cmake --preset") == ["cmake --preset release"]


def test_a_command_from_elsewhere_counts(machine):
    machine.lacks("cmake", "g++")
    machine.run("test.sh")
    assert machine.calls("apt-get") == []
    (machine.bin / "g++").unlink()
    run = machine.run("test.sh")
    assert "missing to build: g++\n" in run.stdout


def test_a_fresh_machine_gets_its_lists_first(machine):
    machine.write("offered_after_update", (machine.state / "offered").read_text(encoding="utf-8"))
    machine.write("offered", "")
    machine.lacks("libfmt-dev")
    machine.run("test.sh")
    update, install = machine.calls("apt-get")
    assert update.endswith(" update")
    assert install.endswith(" libfmt-dev")


def test_old_lists_are_refreshed_when_the_installation_fails(machine):
    machine.lacks("libfmt-dev")
    machine.write("install_fails_once", "")
    run = machine.run("test.sh")
    assert run.returncode == 0, run.stderr
    assert [call.split()[-1] for call in machine.calls("apt-get")] == [
        "libfmt-dev",
        "update",
        "libfmt-dev",
    ]


def test_an_installation_that_fails_is_shown_and_is_status_3(machine):
    machine.lacks("libfmt-dev")
    machine.write("install_fails", "")
    run = machine.run("test.sh")
    assert run.returncode == 3
    assert "E: disk full" in run.stderr
    assert machine.calls("cmake") == []


@BOTH
def test_neither_root_nor_sudo_is_told_what_to_run(machine, script):
    machine.as_user()
    machine.lacks("libhwy-dev", "libfmt-dev")
    run = machine.run(script)
    assert run.returncode == 3
    assert "apt-get install --no-install-recommends libhwy-dev libfmt-dev" in run.stderr
    assert machine.calls() == []


def test_a_user_without_root_needs_none_when_nothing_is_missing(machine):
    machine.as_user()
    assert machine.run("test.sh").returncode == 0


def test_a_user_without_root_does_without_what_is_only_wanted(machine):
    machine.as_user()
    machine.lacks("libdnnl-dev")
    run = machine.run("test.sh")
    assert run.returncode == 0
    assert "going on without what is wanted but not needed: libdnnl-dev\n" in run.stderr
    assert machine.calls("apt-get") == []


def test_sudo_is_used_where_it_does_not_ask(machine):
    machine.as_user()
    machine.command("sudo", SUDO)
    machine.lacks("libfmt-dev")
    run = machine.run("test.sh")
    assert run.returncode == 0, run.stderr
    assert machine.calls("sudo env")


def test_sudo_that_would_ask_without_a_terminal_is_refused(machine):
    machine.as_user()
    machine.command("sudo", SUDO)
    machine.write("sudo_asks", "")
    machine.lacks("libfmt-dev")
    run = machine.run("test.sh")
    assert run.returncode == 3
    assert machine.calls() == []


@BOTH
def test_no_install_names_what_is_missing_and_goes_on(machine, script):
    machine.as_user()
    machine.lacks("libfmt-dev")
    run = machine.run(script, "--no-install")
    assert run.returncode == 0, run.stderr
    assert "missing, and left so by --no-install: libfmt-dev" in run.stderr
    assert machine.calls("apt-get") == []


def test_what_is_only_wanted_may_be_absent_and_is_asked_for_once_a_day(machine):
    for name in ("installed", "offered"):
        machine.without(name, "libblis-serial-dev")
    run = machine.run("test.sh")
    assert run.returncode == 0
    assert "libblis-serial-dev is not offered here" in run.stderr
    assert len(machine.calls("update")) == 1
    machine.run("test.sh")
    assert machine.calls("apt-get") == []


def test_what_is_needed_and_not_offered_is_status_3(machine):
    for name in ("installed", "offered"):
        machine.without(name, "libhwy-dev")
    run = machine.run("test.sh")
    assert run.returncode == 3
    assert "not offered by this system's package sources: libhwy-dev" in run.stderr


def test_another_system_installs_by_hand(machine):
    (machine.bin / "dpkg-query").unlink()
    run = machine.run("test.sh")
    assert run.returncode == 3
    assert "no Debian or Ubuntu" in run.stderr
    assert "libhwy-dev" in run.stderr
    assert machine.run("test.sh", "--no-install").returncode == 0
