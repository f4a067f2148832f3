import os
from pathlib import Path

import pytest

from schemory.errors import StoreReadonlyError
from schemory.schemas.durable import remove_file, write_file
from schemory.schemas.load import load_folder


def test_a_file_is_replaced_in_one_step_and_nothing_else_is_left(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    write_file(path, "one\n")
    write_file(path, "zwei ü\n")
    assert path.read_bytes() == "zwei ü\n".encode()
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.txt"]


def test_what_cannot_be_written_is_told_and_leaves_nothing_behind(tmp_path: Path) -> None:
    taken = tmp_path / "folder"
    (taken / "inside").mkdir(parents=True)
    for path in (tmp_path / "missing" / "a.txt", taken):
        with pytest.raises(StoreReadonlyError) as raised:
            write_file(path, "text")
        assert raised.value.context == {"path": str(path)}
    assert [entry.name for entry in tmp_path.iterdir()] == ["folder"]


def test_removing_tells_when_it_cannot(tmp_path: Path) -> None:
    remove_file(tmp_path / "gone already")
    with pytest.raises(StoreReadonlyError):
        remove_file(tmp_path)


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="needs a user without rights")
def test_a_file_that_may_not_be_read_is_a_fault(tmp_path: Path) -> None:
    path = tmp_path / "npc.schema.json"
    path.write_text("{}")
    path.chmod(0)
    [fault] = load_folder(tmp_path).faults
    assert "cannot be read" in fault.problem.message
