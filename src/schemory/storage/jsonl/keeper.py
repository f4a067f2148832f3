"""Looks after one graph file: the doctor's checks, backup and restore."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Final

from schemory.errors import (
    InvalidParamError,
    SchemoryError,
    StoreCorruptError,
    StoreError,
    UnsupportedError,
)
from schemory.model.edge import Edge
from schemory.model.jsonvalue import Json
from schemory.model.lines.records import Fault, FaultKind
from schemory.model.moment import Clock
from schemory.storage.files import (
    PRIVATE_MODE,
    file_error,
    refuse_odd_file,
    replace_file,
    temporary_name,
)
from schemory.storage.jsonl.document import Document
from schemory.storage.jsonl.reading import Contents, read_document
from schemory.storage.jsonl.sync import Wanted, wanted
from schemory.storage.keeping import (
    Copied,
    Finding,
    Inspection,
    Migrated,
    Progress,
    Restored,
    Severity,
    Tidied,
    unheard,
)
from schemory.storage.surroundings import (
    check_leftovers,
    check_lock,
    check_modes,
    check_room,
    leftovers,
)
from schemory.storage.write_queue import WriteQueue

_SHOWN: Final = 5
_TIMEOUT_SECONDS: Final = 15.0


class JsonlKeeper:
    """A Keeper of a graph file, sound or not.

    Args:
        path: The file; behind a symbolic link its target is meant.
        now: The clock.
    """

    def __init__(self, path: Path, *, now: Clock) -> None:
        self._path = path.resolve()
        self._now = now
        self._lock_file = self._path.with_name(self._path.name + ".lock")
        self._queue = WriteQueue(str(self._lock_file), str(self._path), needs_file=True)

    @property
    def location(self) -> str:
        """The absolute path, for people."""
        return str(self._path)

    def inspect(self, progress: Progress = unheard) -> Inspection:
        """Look everything over; changes nothing and makes nothing."""
        facts: dict[str, Json] = {"backend": "jsonl", "location": self.location}
        if not self._path.exists():
            return Inspection(exists=False, is_current=True, facts=facts, findings=())
        findings: list[Finding] = []
        progress(0, None, "reading the graph file")
        try:
            # Whoever may read the repository may read the file, so its own mode is no fault.
            findings += check_modes(iter(()), self._path.parent, owns_folder=False)
            findings += check_leftovers(self._path)
            findings += check_lock(self._lock_file)
            findings += check_room(self._path)
            data, document, contents = self._read(self._path)
            facts |= {"fileBytes": len(data), "lines": len(document)}
            findings += _content_findings(contents, wanted(contents, contents.nodes))
        except SchemoryError as error:
            findings.append(_unusable(error))
        return Inspection(exists=True, is_current=True, facts=facts, findings=tuple(findings))

    def _read(self, path: Path) -> tuple[bytes, Document, Contents]:
        refuse_odd_file(path)
        try:
            data = path.read_bytes()
        except OSError as error:
            raise file_error(error, path) from error
        return data, *read_document(data, str(path))

    def mend(self, findings: tuple[Finding, ...]) -> tuple[str, ...]:
        """Put right what can be put right without loss: only leftovers, the lines are people's.

        Raises:
            StoreError: Somebody else is writing all the time.
        """
        if not any(each.code == "file.leftovers" for each in findings):
            return ()
        with self._queue.hold(_TIMEOUT_SECONDS):
            left = leftovers(self._path)
            for file in left:
                file.unlink(missing_ok=True)
        return tuple(f"{file} was removed" for file in left)

    def backup(self, target: Path, progress: Progress = unheard) -> Copied:
        """Copy the file, verified before it is there; each version of it is whole.

        Raises:
            StoreError: There is no file, it is no graph file, or `target` cannot be written.
            InvalidParamError: `target` is the file itself or a file that is no backup.
        """
        progress(0, None, "copying")
        data, document, contents = self._read(self._existing())
        self._check_target(target)
        _write_verified(target, data)
        return Copied(path=target, bytes=len(data), counts=_counts(document, contents))

    def _existing(self) -> Path:
        if not self._path.exists():
            raise StoreError(
                f"There is no graph file yet, so there is nothing to back up: {self.location}",
                suggestions=["Name it with --graph-file."],
            )
        return self._path

    def _check_target(self, target: Path) -> None:
        if target.is_dir():
            raise InvalidParamError(f"{target} is a folder: name a file in it")
        if not target.exists():
            return
        if not target.is_file():
            raise InvalidParamError(f"{target} is no regular file")
        if target.samefile(self._path):
            raise InvalidParamError(f"{target} is the graph file itself")
        try:
            self._read(target)
        except StoreError:
            raise InvalidParamError(
                f"{target} is there already and is no graph file; it was left untouched",
                suggestions=["Name another file."],
            ) from None

    def restore(self, source: Path, progress: Progress = unheard) -> Restored:
        """Put `source` in the file's place; servers that have it open take that over.

        Raises:
            StoreError: `source` is no graph file, or the file cannot be written.
        """
        progress(0, None, "verifying the backup")
        data, document, contents = self._read(source)
        aside: Path | None = None
        with self._queue.hold(_TIMEOUT_SECONDS):
            if self._path.exists():
                aside = self._path.with_name(
                    f"{self._path.name}.before-restore-{_stamp(self._now())}"
                )
                _write_verified(aside, self._path.read_bytes())
            _write_verified(self._path, data)
        return Restored(path=self._path, replaced=aside, counts=_counts(document, contents))

    def vacuum(self) -> Tidied:
        """Refuse: deleted lines are gone from a graph file at once.

        Raises:
            UnsupportedError: Always.
        """
        raise UnsupportedError("A graph file has no free space to give back; it is as it must be")

    def migrate(self) -> Migrated:
        """Refuse: there is nothing to bring up to date.

        Raises:
            UnsupportedError: Always.
        """
        raise UnsupportedError("A graph file has no schema version; every version of it is read")


def _stamp(moment: datetime) -> str:
    return moment.strftime("%Y%m%dT%H%M%SZ")


def _write_verified(target: Path, data: bytes) -> None:
    written = temporary_name(target.resolve())

    def verify() -> None:
        if sha256(written.read_bytes()).digest() != sha256(data).digest():
            raise StoreCorruptError(f"What was written is not what was read; {target} is unchanged")

    replace_file(target, (data,), new_mode=PRIVATE_MODE, before_replace=verify)


def _counts(document: Document, contents: Contents) -> Mapping[str, int]:
    return {
        "lines": len(document),
        "nodes": len(contents.nodes),
        "edges": len(contents.edges),
        "kept": len(contents.kept),
    }


def _content_findings(contents: Contents, target: Wanted) -> Iterator[Finding]:
    markers = [fault for fault in contents.faults if fault.kind is FaultKind.CONFLICT]
    broken = [fault for fault in contents.faults if fault.kind is not FaultKind.CONFLICT]
    if markers:
        yield Finding(
            code="graph-file.conflict",
            severity=Severity.ERROR,
            what=f"merge conflict markers on {_lines(markers)}; the records of both sides are used",
            next_step="Resolve the conflict in the file (`git status` shows it).",
        )
    if broken:
        yield Finding(
            code="graph-file.lines",
            severity=Severity.ERROR,
            what=f"{len(broken)} line(s) cannot be used and stay as they are: {_told(broken)}",
            next_step="Mend them in an editor, or take them from git: `git log -p`.",
        )
    if target.dangling:
        yield Finding(
            code="graph-file.dangling",
            severity=Severity.WARNING,
            what=f"{len(target.dangling)} edge(s) lead to nodes that are not there and wait in the "
            f"file: {_few(_edge_place(line.edge) for line in target.dangling)}",
            next_step="Add the nodes, or remove the lines.",
        )
    several = [name for name, records in contents.nodes.items() if len(records) > 1]
    if several:
        yield Finding(
            code="graph-file.same-name",
            severity=Severity.WARNING,
            what="several lines have the same name and are read as one node: "
            + _few(f'"{name}"' for name in several),
            next_step="Join them in the file; the next change of such a node does it too.",
        )


def _edge_place(edge: Edge) -> str:
    return f'"{edge.from_name}" to "{edge.to_name}" ({edge.edge_type})'


def _lines(faults: Sequence[Fault]) -> str:
    return _few(f"line {fault.line}" for fault in faults)


def _told(faults: Sequence[Fault]) -> str:
    return _few(f"line {fault.line} {fault.reason}" for fault in faults)


def _few(items: Iterable[str]) -> str:
    listed = list(items)
    more = f" and {len(listed) - _SHOWN} more" if len(listed) > _SHOWN else ""
    return ", ".join(listed[:_SHOWN]) + more


def _unusable(error: SchemoryError) -> Finding:
    return Finding(
        code="store.unusable",
        severity=Severity.FATAL,
        what=error.message,
        next_step=next(iter(error.suggestions), "Restore a backup: `schemory restore FILE`."),
    )
