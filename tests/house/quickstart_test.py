"""From the data to the page: what scripts/quickstart.sh runs, and how it ends."""

import pytest


def test_quickstart_sweeps_reports_and_ends_with_the_page(machine):
    run = machine.run("quickstart.sh")
    assert run.returncode == 0, run.stderr
    assert machine.calls("mirrorscale ") == [
        "mirrorscale sweep --workload mlp --data fashion-mnist --devices 1,2,4 --global-batch 256,1024"
        " --records runs/quickstart.jsonl",
        "mirrorscale report runs/quickstart.jsonl --out report/",
    ]
    assert run.stdout.splitlines()[-1] == f"The report is in {machine.root}/report/report.html"


def test_quickstart_draws_a_finding_and_passes_its_status_on(machine):
    machine.write("sweep_status", "1")
    run = machine.run("quickstart.sh")
    assert run.returncode == 1
    assert machine.calls("mirrorscale report")


def test_quickstart_without_a_page_is_status_3(machine):
    machine.write("no_report", "")
    run = machine.run("quickstart.sh")
    assert run.returncode == 3
    assert "the report could not be drawn (status 3)" in run.stderr


@pytest.mark.parametrize("status", ["2", "3", "139"])
def test_quickstart_draws_nothing_when_the_sweep_could_not_run(machine, status):
    machine.write("sweep_status", status)
    run = machine.run("quickstart.sh")
    assert run.returncode == 3
    assert machine.calls("mirrorscale report") == []


def test_quickstart_without_images_says_how_to_bring_them(machine):
    for name in ("installed", "offered"):
        machine.without(name, "dataset-fashion-mnist")
    machine.environment["PACKAGED_DATA"] = "/nowhere"
    run = machine.run("quickstart.sh")
    assert run.returncode == 3
    assert "MIRRORSCALE_DATA=FOLDER scripts/quickstart.sh" in run.stderr
    assert machine.calls("cmake") == []


def test_quickstart_takes_a_folder_of_images(machine, tmp_path):
    folder = tmp_path / "my images"
    folder.mkdir()
    machine.lacks("dataset-fashion-mnist")
    machine.environment["MIRRORSCALE_DATA"] = "my images"
    run = machine.run("quickstart.sh", cwd=str(tmp_path))
    assert run.returncode == 0, run.stderr
    assert f"--data {folder} " in machine.calls("mirrorscale sweep")[0]
    assert machine.calls("apt-get") == []


def test_quickstart_refuses_a_folder_that_is_not_there(machine):
    machine.environment["MIRRORSCALE_DATA"] = "/nowhere"
    run = machine.run("quickstart.sh")
    assert run.returncode == 3
    assert "MIRRORSCALE_DATA=/nowhere is not a folder" in run.stderr
