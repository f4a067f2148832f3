"""The JSONL file as the store, for people who keep their graph in git (graph.md §7, --graph-file).

The file is the truth; an inner store in memory answers all reads. Each commit rewrites the file
first, atomically, and then commits inside. What another process of ours wrote is taken over before
each read and, under the lock, before each write. A program that knows nothing of the lock is
noticed, its changes are taken over, and the status warns of it.
"""

import os
import threading
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Self

from schemory.errors import StoreError, UnsupportedError
from schemory.model.jsonvalue import Json
from schemory.model.moment import Clock, moment_text
from schemory.storage.jsonl.edits import EdgeEdit, Edits
from schemory.storage.jsonl.file import GraphFile
from schemory.storage.jsonl.reader import JsonlReader
from schemory.storage.jsonl.sync import follow_file, wanted
from schemory.storage.jsonl.transaction import JsonlTransaction
from schemory.storage.jsonl.words import file_warnings
from schemory.storage.protocols import Capability, GraphStore, WriteContext
from schemory.storage.write_queue import WriteQueue

RELOAD = "reload"
"""The operation of a transaction that takes over what somebody else wrote to the file."""

_BUSY_TIMEOUT_SECONDS = 15.0


class _Depth(threading.local):
    """How many reads this thread has open."""

    reads = 0


class JsonlStore:
    """A GraphStore whose one space is a graph file; processes of ours may share it.

    Built by `open`.
    """

    def __init__(
        self, path: Path, *, inner: GraphStore, now: Clock, space: str, timeout_seconds: float
    ) -> None:
        self._path = path
        self._inner = inner
        self._now = now
        self._space = space
        self._file = GraphFile(path)
        self._timeout_seconds = timeout_seconds
        lock_file = path.with_name(path.name + ".lock")
        self._queue = WriteQueue(str(lock_file), str(path), needs_file=True)
        self._depth = _Depth()
        self._missing: frozenset[str] = frozenset()
        self._foreign_at: str | None = None
        self._is_closed = False

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        *,
        inner: GraphStore,
        now: Clock,
        space: str = "default",
        busy_timeout_seconds: float = _BUSY_TIMEOUT_SECONDS,
    ) -> Self:
        """Load a graph file; where there is none, the first write makes it.

        Args:
            path: The file; behind a symbolic link its target is read and replaced.
            inner: An empty store in memory that this one fills, asks and closes.
            now: The clock.
            space: The one space that the file is.
            busy_timeout_seconds: How long to wait for another writer.

        Raises:
            StoreError: It cannot be read. StoreCorruptError: It is no file of lines.
        """
        store = cls(
            Path(os.path.realpath(path)),
            inner=inner,
            now=now,
            space=space,
            timeout_seconds=busy_timeout_seconds,
        )
        store._take_over()
        return store

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What this store can do beyond the base: neither spaces nor a lasting history."""
        return frozenset()

    @property
    def location(self) -> str:
        """The absolute path, for people."""
        return str(self._path)

    @property
    def cursor_key(self) -> bytes:
        """A secret that signs cursors while this process has the file open."""
        return self._inner.cursor_key

    @contextmanager
    def read(self, space: str) -> Generator[JsonlReader]:
        """Open a snapshot of `space`, the file's newest state; any other space reads as empty."""
        self._check_open()
        # What an outer read of this thread has seen must not change under it.
        if self._depth.reads == 0 and self._file.may_have_changed():
            with self._queue.hold_in_process() as is_free:
                if is_free:
                    self._take_over()
        self._depth.reads += 1
        try:
            with self._inner.read(space) as reader:
                yield JsonlReader(reader)
        finally:
            self._depth.reads -= 1

    @contextmanager
    def transaction(self, space: str, context: WriteContext) -> Generator[JsonlTransaction]:
        """Open the write transaction: at its end the file is rewritten, then all is committed.

        Raises:
            StoreBusyError: Another process kept the lock too long.
            StoreReadonlyError, StoreFullError, StoreCorruptError: As named.
            UnsupportedError: `space` is not the file's.
            RuntimeError: This thread has a transaction open; nest with `savepoint()`.
        """
        self._check_open()
        if space != self._space:
            raise UnsupportedError(
                f"A graph file has one space only, {self._space!r}, not {space!r}",
                suggestions=["Use a database (--db) to keep several projects apart."],
            )
        self._file.check_writable()
        with self._queue.hold(self._timeout_seconds):
            self._take_over()
            is_saving = False
            try:
                with self._inner.transaction(space, context) as tx:
                    own = JsonlTransaction(tx)
                    yield own
                    edits = self._edits(own)
                    is_saving = bool(edits)
                    if edits:
                        self._file.save(edits)
            except BaseException:
                if is_saving:
                    self._file.distrust()
                raise
            if is_saving:
                self._settle(edits)

    def _edits(self, own: JsonlTransaction) -> Edits:
        """Return how the file must follow what the transaction did."""
        edits = own.touched.edits(self._file.document)
        return replace(edits, edges=(*edits.edges, *self._orphans(edits))) if edits else edits

    def _orphans(self, edits: Edits) -> Iterator[EdgeEdit]:
        """Yield the end of edges that waited in the file for another node than the deleted one."""
        gone = {edit.old for edit in edits.nodes if edit.new is None and edit.old is not None}
        if not gone or not self._missing:
            return
        done = {edit.old for edit in edits.edges}
        for key in self._file.document.by_key:
            if key not in done and not gone.isdisjoint(key[:2]):
                yield EdgeEdit(key, None)

    def _settle(self, edits: Edits) -> None:
        """Take over what our own save brought to light: others' lines, edges that waited."""
        if self._file.has_unseen:
            self._foreign_at = moment_text(self._now())
        revived = any(
            edit.new is not None and edit.new.name in self._missing for edit in edits.nodes
        )
        if revived or self._file.has_unseen:
            self._take_over(always=True)

    def _take_over(self, *, always: bool = False) -> None:
        """Bring the inner store to what the file says, if that is anything new."""
        loaded = self._file.load(always=always)
        if loaded is None:
            return
        document = self._file.document
        target = wanted(loaded.contents, document.by_name)
        try:
            with self._inner.transaction(self._space, WriteContext(operation=RELOAD)) as tx:
                follow_file(tx, target, scope=loaded.scope, undated=loaded.undated)
        except BaseException:
            self._file.distrust()
            raise
        self._missing = document.missing_names()

    def spaces(self) -> tuple[str, ...]:
        """Return the file's space if it holds anything."""
        with self.read(self._space):
            return self._inner.spaces()

    def status(self) -> Mapping[str, Json]:
        """Return facts for `status`: the file, its size, and what in it is not used."""
        with self.read(self._space) as reader:
            counts = reader.count()
        return {
            "backend": "jsonl",
            "location": self.location,
            "exists": self._file.exists,
            "bytes": self._file.size,
            "spaces": list(self.spaces()),
            "lines": len(self._file.document),
            "nodes": counts.nodes,
            "edges": counts.edges,
            "warnings": self._warnings(),
        }

    def _warnings(self) -> list[str]:
        found: list[str] = []
        if self._file.document.has_oddities():
            contents = self._file.contents()
            found += file_warnings(contents, wanted(contents, contents.nodes))
        if self._foreign_at is not None:
            found.append(
                "Another program changed the graph file while this one had it locked "
                f"({self._file.foreign_writes} time(s), last at {self._foreign_at}). Its changes "
                "were taken over, but it may overwrite ours: stop it."
            )
        return found

    def vacuum(self) -> None:
        """Give back what the inner store holds of deleted text; the file has none."""
        self._check_open()
        self._inner.vacuum()

    def close(self) -> None:
        """Forget all; the file stays."""
        self._is_closed = True
        self._inner.close()

    def _check_open(self) -> None:
        if self._is_closed:
            raise StoreError(f"The store is closed: {self.location}")
