"""A file is replaced as a whole or not at all."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from schemory.errors import StoreError, StoreFullError, StoreReadonlyError
from schemory.storage.files import file_error, remove_leftovers, replace_file, temporary_name


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "file"


def test_a_new_file_is_private_unless_the_umask_is_asked_for(path: Path, tmp_path: Path) -> None:
    replace_file(path, [b"a", b"b"])
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"ab", 0o600)
    old = os.umask(0o027)
    try:
        replace_file(tmp_path / "other", [b"x"], new_mode=None)
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "other").stat().st_mode) == 0o640


def test_an_old_file_keeps_mode_and_owner(path: Path) -> None:
    path.write_bytes(b"old")
    path.chmod(0o664)
    if os.getuid() == 0:
        os.chown(path, 65534, 65534)
    before = path.stat()
    replace_file(path, [b"new"])
    after = path.stat()
    assert (after.st_mode, after.st_uid, after.st_gid) == (
        before.st_mode,
        before.st_uid,
        before.st_gid,
    )
    assert path.read_bytes() == b"new"


def test_missing_folders_are_made_for_us_alone(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "file"
    replace_file(path, [b"x"])
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_failure_on_the_way_leaves_the_old_file_and_nothing_else(path: Path) -> None:
    path.write_bytes(b"old")

    def pieces() -> Iterator[bytes]:
        yield b"new"
        raise KeyError

    with pytest.raises(KeyError):
        replace_file(path, pieces())

    def refuse() -> None:
        raise LookupError

    with pytest.raises(LookupError):
        replace_file(path, [b"new"], before_replace=refuse)
    assert path.read_bytes() == b"old"
    assert list(path.parent.iterdir()) == [path]


def test_what_is_no_regular_file_is_written_to(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    assert replace_file(pipe, [b"a", b"b"]) is None
    assert os.read(reader, 9) == b"ab"
    os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_leftovers_of_this_file_alone_are_removed(path: Path) -> None:
    left = temporary_name(path)
    other = temporary_name(path.with_name("other"))
    for each in (path, left, other):
        each.write_bytes(b"x")
    remove_leftovers(path)
    assert sorted(path.parent.iterdir()) == sorted([path, other])


@pytest.mark.parametrize(
    ("number", "kind"),
    [(28, StoreFullError), (13, StoreReadonlyError), (30, StoreReadonlyError), (5, StoreError)],
)
def test_a_systems_refusal_becomes_a_clear_error(
    path: Path, number: int, kind: type[StoreError]
) -> None:
    error = file_error(OSError(number, "x"), path)
    assert type(error) is kind
    assert str(path) in error.message
    assert error.suggestions
