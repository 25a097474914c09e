"""A store of one's own, with a baseline in it."""

import pathlib

import pytest
from command_line import good
from launch_files import Side, write_side


@pytest.fixture(name="store")
def an_empty_store(tmp_path: pathlib.Path) -> pathlib.Path:
    return tmp_path / "store"


@pytest.fixture(name="baseline")
def a_store_with_five_launches(tmp_path: pathlib.Path, store: pathlib.Path) -> pathlib.Path:
    files = write_side(tmp_path / "base", Side())
    good("baseline", "save", "--store", store, "--note", "first", *files)
    return store
