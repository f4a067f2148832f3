"""Writes a ZIP export as a stream: members as they are read, the manifest with their sums last."""

import hashlib
import zipfile
from collections.abc import Iterator
from datetime import datetime
from typing import Final

from schemory.errors import LimitExceededError
from schemory.model.jsonvalue import Json, compact
from schemory.transfer.memory.archive_limits import (
    ENTRIES,
    LINKS,
    MANIFEST,
    MAX_TOTAL_BYTES,
    SUMMARY,
    TAGS,
    is_bomb,
)
from schemory.transfer.memory.pieces import entry_array, link_array, tag_array
from schemory.transfer.memory.walk import MemoryWalk
from schemory.transfer.memory.wire import head_wire

_CHUNK_CHARS: Final = 64 * 1024
_MODE: Final = 0o600 << 16


class TooDenseError(Exception):
    """The archive came out so small for what it holds that a reader must take it for a bomb."""


class _Sink:
    """A file that cannot seek: keeps what is written until it is taken."""

    def __init__(self) -> None:
        self._waiting: list[bytes] = []
        self.size = 0

    def write(self, data: bytes) -> int:
        self._waiting.append(bytes(data))
        self.size += len(data)
        return len(data)

    def flush(self) -> None:
        """Nothing waits for a flush: what was written is taken."""

    def take(self) -> bytes:
        taken = b"".join(self._waiting)
        self._waiting.clear()
        return taken


def archive(walk: MemoryWalk, exported_at: str, *, is_stored: bool = False) -> Iterator[bytes]:
    """Yield the bytes of an archive.

    Args:
        walk: What goes in.
        exported_at: Stored time text, also the members' date.
        is_stored: Without compression.

    Raises:
        TooDenseError: Compressed like this, an import would refuse it.
        LimitExceededError: It is larger than an import takes.
    """
    sink = _Sink()
    method = zipfile.ZIP_STORED if is_stored else zipfile.ZIP_DEFLATED
    with zipfile.ZipFile(sink, "w", method) as target:  # type: ignore[call-overload] # typeshed asks for a file that can seek; zipfile does not
        members = _Members(target, sink, exported_at)
        yield from members.add(ENTRIES, entry_array(walk))
        yield from members.add(TAGS, tag_array(walk))
        yield from members.add(LINKS, link_array(walk))
        yield from members.add(SUMMARY, iter([compact(walk.audit_summary())]))
        if is_bomb(members.total, sink.size):
            raise TooDenseError
        counts = {"entries": walk.entry_count, "tags": walk.tag_count, "links": walk.link_count}
        manifest = {
            **head_wire(exported_at, walk.project),
            "counts": counts,
            "members": members.sums,
        }
        yield from members.add(MANIFEST, iter([compact(manifest)]))
    yield sink.take()


class _Members:
    """Adds members and keeps their sums."""

    def __init__(self, target: zipfile.ZipFile, sink: _Sink, exported_at: str) -> None:
        moment = datetime.fromisoformat(exported_at)
        self._date = (max(moment.year, 1980), *moment.timetuple()[1:6])
        self._target = target
        self._sink = sink
        self.sums: dict[str, Json] = {}
        self.total = 0

    def add(self, name: str, pieces: Iterator[str]) -> Iterator[bytes]:
        """Write one member; yields what has come out so far."""
        info = zipfile.ZipInfo(name, self._date)
        info.compress_type = self._target.compression
        info.external_attr = _MODE
        digest, size = hashlib.sha256(), 0
        with self._target.open(info, "w", force_zip64=True) as member:
            for chunk in encoded(pieces):
                member.write(chunk)
                digest.update(chunk)
                size += len(chunk)
                self._count(len(chunk))
                yield self._sink.take()
        self.sums[name] = {"sha256": digest.hexdigest(), "bytes": size}

    def _count(self, size: int) -> None:
        self.total += size
        if self.total > MAX_TOTAL_BYTES:
            raise LimitExceededError(
                "This memory is too large for a ZIP export",
                suggestions=["Export it with format=jsonl or format=json; they have no limit."],
            )


def encoded(pieces: Iterator[str]) -> Iterator[bytes]:
    """Yield text as UTF-8 in pieces of a size that is worth a write."""
    waiting: list[str] = []
    size = 0
    for piece in pieces:
        waiting.append(piece)
        size += len(piece)
        if size >= _CHUNK_CHARS:
            yield "".join(waiting).encode()
            waiting.clear()
            size = 0
    if waiting:
        yield "".join(waiting).encode()
