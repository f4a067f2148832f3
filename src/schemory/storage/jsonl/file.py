"""The graph file on the disk: loaded, checked for changes, rewritten, never blindly."""

import os
from datetime import UTC, datetime
from pathlib import Path

from schemory.errors import StoreBusyError, StoreError, StoreReadonlyError
from schemory.model.frozen import dataclass
from schemory.model.moment import moment_text
from schemory.storage.files import PRIVATE_MODE, remove_leftovers, replace_file
from schemory.storage.jsonl.document import Document
from schemory.storage.jsonl.edits import Edits
from schemory.storage.jsonl.reading import Contents, Scope, read_document, reread_document
from schemory.storage.jsonl.snapshot import (
    FileState,
    read_settled,
    stamp_at,
    stamp_of,
    state_of,
)

_MERGE_TRIES = 5


class _ChangedMeanwhile(Exception):  # noqa: N818 (a private signal between two functions here)
    """Somebody who ignores the lock wrote the file while we were about to."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a load found.

    Attributes:
        scope: The part of the graph that `contents` speak of; None = all of it.
        undated: The time that stands for records which claim none; None = there is no file.
    """

    contents: Contents
    scope: Scope | None
    undated: str | None


class GraphFile:
    """One graph file and its lines as last known.

    Attributes:
        document: The lines.
        foreign_writes: How often somebody wrote it while we held the lock.
        has_unseen: Our last save took over lines of somebody else that nobody has read yet.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._state: FileState | None = None
        self._is_tidied = False
        self._was_there = False
        self.document = Document([], b"")
        self.foreign_writes = 0
        self.has_unseen = False

    @property
    def size(self) -> int:
        """How many bytes it has."""
        return self._state.size if self._state else 0

    @property
    def exists(self) -> bool:
        """Whether there was a file when it was last looked at."""
        return self._state is not None and self._state.stamp is not None

    def may_have_changed(self) -> bool:
        """Whether a look at its content is due."""
        state = self._state
        return state is None or not state.is_settled or stamp_at(self._path) != state.stamp

    def distrust(self) -> None:
        """Forget what is known, because a save failed half-way: the next look loads it anew."""
        self._state = None

    def load(self, *, always: bool = False) -> Loaded | None:
        """Read the file; None = its content is the known one (then `always` returns it too).

        Raises:
            StoreError: It cannot be read, or it was there and is gone.
            StoreCorruptError: It is no file of lines.
        """
        data, state = read_settled(self._path, self._state)
        self._check_not_vanished(state)
        is_known = self._state is not None and state.digest == self._state.digest
        if is_known and not always:
            self._state = state
            return None
        is_synced = self._state is not None and not always
        again = reread_document(self.document, data) if is_synced else None
        document, contents, scope = again or (*read_document(data, str(self._path)), None)
        self.document, self._state, self.has_unseen = document, state, False
        stamp = state.stamp
        undated = datetime.fromtimestamp(stamp.modified_ns / 1e9, UTC) if stamp else None
        return Loaded(contents, scope, moment_text(undated) if undated else None)

    def _check_not_vanished(self, state: FileState) -> None:
        """Refuse a file that is gone: it must not read as an empty graph, nor be made anew."""
        if state.stamp is None and self._was_there:
            raise StoreError(
                f"The graph file is gone: {self._path}",
                suggestions=[
                    "Put it back (`git checkout -- FILE`); nothing was read or written.",
                    "To begin anew, make an empty file in its place.",
                ],
            )
        self._was_there = state.stamp is not None

    def contents(self) -> Contents:
        """Return what the known lines say, with their present numbers."""
        return read_document(b"".join(self.document.pieces()), str(self._path))[1]

    def check_writable(self) -> None:
        """Refuse early what the disk would not allow, and what the user has protected.

        Raises:
            StoreReadonlyError: The file may not be written.
        """
        if self._path.exists() and not os.access(self._path, os.W_OK):
            raise StoreReadonlyError(
                f"The graph file cannot be written: {self._path}",
                suggestions=["Give yourself write permission on the file and its folder."],
            )

    def save(self, edits: Edits) -> None:
        """Carry out `edits` on the file; only under the lock.

        Raises:
            StoreError: It cannot be written; it is as it was. Call `distrust` then.
        """
        if not self._is_tidied:
            remove_leftovers(self._path)
            self._is_tidied = True
        for _ in range(_MERGE_TRIES):
            self.document.apply(edits)
            data = b"".join(self.document.pieces())
            try:
                facts = replace_file(
                    self._path, (data,), new_mode=PRIVATE_MODE, before_replace=self._check_unchanged
                )
            except _ChangedMeanwhile:
                self._take_theirs()
                continue
            self._state = state_of(data, stamp_of(facts) if facts else None)
            self._was_there = True
            return
        raise StoreBusyError(
            f"Another program keeps changing the graph file: {self._path}",
            suggestions=["Stop the other program; nothing was written by us."],
        )

    def _check_unchanged(self) -> None:
        if self._state is None or stamp_at(self._path) != self._state.stamp:
            raise _ChangedMeanwhile

    def _take_theirs(self) -> None:
        """Take the other program's lines as the ground for our edits."""
        data, state = read_settled(self._path, self._state)
        self._check_not_vanished(state)
        self._state = state
        self.document, _ = read_document(data, str(self._path))
        self.foreign_writes += 1
        self.has_unseen = True
