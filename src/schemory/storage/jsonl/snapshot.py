"""Read a graph file that others may be writing at this moment, and notice when it changed."""

import os
import time
from hashlib import blake2b
from pathlib import Path
from typing import Final, NamedTuple

from schemory.model.frozen import dataclass
from schemory.storage.files import file_error, refuse_odd_file

_SETTLE_TRIES: Final = 10
_SETTLE_SECONDS: Final = 0.03
_GRAIN_NS: Final = 50_000_000
# A file changed twice within the file system's clock grain can keep its time stamp.


class Stamp(NamedTuple):
    """What the system says about a file's state; another stamp = perhaps another content."""

    modified_ns: int
    size: int
    inode: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FileState:
    """A file's content as it was last known.

    Attributes:
        stamp: None = there was no file.
        digest: Of the content; the empty content where there was no file.
        checked_ns: When the content was last compared, on the system's clock.
        is_whole: The content was empty or ended with a line end.
    """

    stamp: Stamp | None
    digest: bytes
    checked_ns: int
    size: int
    is_whole: bool

    @property
    def is_settled(self) -> bool:
        """Whether an equal stamp proves an equal content."""
        return self.stamp is None or self.checked_ns - self.stamp.modified_ns > _GRAIN_NS


def stamp_of(facts: os.stat_result) -> Stamp:
    """Return the stamp in what the system told."""
    return Stamp(facts.st_mtime_ns, facts.st_size, facts.st_ino)


def stamp_at(path: Path) -> Stamp | None:
    """Return the stamp of the file at `path`; None = no file."""
    try:
        return stamp_of(path.stat())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise file_error(error, path) from error


def state_of(data: bytes, stamp: Stamp | None) -> FileState:
    """Return the state of a file with this content."""
    return FileState(
        stamp=stamp,
        digest=blake2b(data, digest_size=16).digest(),
        checked_ns=time.time_ns(),
        size=len(data),
        is_whole=not data or data.endswith(b"\n"),
    )


def read_settled(path: Path, known: FileState | None) -> tuple[bytes, FileState]:
    """Return a file's content and state; no file reads as empty.

    A program that writes in place shows an empty or cut-off file for a moment. So content that
    suddenly is shorter and does not end where a line does is looked at again for a while.

    Raises:
        StoreError: The file cannot be read.
    """
    data, state = _read(path)
    for _ in range(_SETTLE_TRIES):
        if known is None or not _looks_half_written(state, known):
            break
        time.sleep(_SETTLE_SECONDS)
        data, state = _read(path)
    return data, state


def _looks_half_written(state: FileState, known: FileState) -> bool:
    if known.size == 0 or state.digest == known.digest:
        return False
    return state.size == 0 or (not state.is_whole and known.is_whole)


def _read(path: Path) -> tuple[bytes, FileState]:
    refuse_odd_file(path)
    try:
        with path.open("rb") as file:
            data = file.read()
            return data, state_of(data, stamp_of(os.fstat(file.fileno())))
    except FileNotFoundError:
        return b"", state_of(b"", None)
    except OSError as error:
        raise file_error(error, path) from error
