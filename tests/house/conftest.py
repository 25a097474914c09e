import pathlib

import pytest

from stand_in_machine import Machine


@pytest.fixture(name="machine")
def a_machine_that_has_everything(tmp_path: pathlib.Path) -> Machine:
    return Machine(tmp_path)
