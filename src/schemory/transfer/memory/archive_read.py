"""Opens a ZIP export that may be hostile: nothing is unpacked to names of its choosing.

What the directory says is checked first; what the members hold is counted while it is read.
"""

import hashlib
import stat
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

from schemory.errors import InvalidParamError, LimitExceededError, Problem
from schemory.model.jsonvalue import Json
from schemory.model.text import encodable
from schemory.transfer.memory.archive_limits import (
    MANIFEST,
    MAX_DIRECTORY_BYTES,
    MAX_MANIFEST_BYTES,
    MAX_MEMBERS,
    MAX_RATIO,
    MAX_TOTAL_BYTES,
    MEMBERS,
    REQUIRED,
    is_bomb,
)
from schemory.transfer.memory.stream import parse_line, refused
from schemory.transfer.zips import BROKEN_ZIP

_CHUNK: Final = 256 * 1024
_END: Final = b"PK\x05\x06"
_END_SIZE: Final = 22
_LARGE_END: Final = b"PK\x06\x07"
_LARGE_END_SIZE: Final = 20
_MAX_COMMENT: Final = 65_535
_ENCRYPTED: Final = 0x1
_METHODS: Final = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})


class Archive:
    """A checked archive; `manifest` is what it says of itself.

    Raises:
        InvalidParamError: It is no export, or is made to harm.
        LimitExceededError: It unpacks to too much.
    """

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self._path = path
        _check_directory_size(file)
        try:
            self._zip = zipfile.ZipFile(file)
        except BROKEN_ZIP as fault:
            raise refused(f"{path.name} is no readable ZIP archive") from fault
        self._infos = self._checked()
        self._unpacked = 0
        self._size = max(1, sum(info.file_size for info in self._infos.values()))
        self.manifest = self._read_manifest()
        self._sums = self._read_sums()

    def share(self) -> float:
        """Return which share of what it holds was read so far."""
        return min(1.0, self._unpacked / self._size)

    def has(self, name: str) -> bool:
        """Whether there is a member of that name."""
        return name in self._infos

    def chunks(self, name: str) -> Iterator[bytes]:
        """Yield a member's bytes; at the end its sum is compared."""
        expected = self._sums[name]
        digest = hashlib.sha256()
        for chunk in self._unpack(name):
            digest.update(chunk)
            yield chunk
        if digest.hexdigest() != expected:
            raise refused(f"the content of {name} does not have the sum that {MANIFEST} tells")

    def _unpack(self, name: str) -> Iterator[bytes]:
        info = self._infos[name]
        size = 0
        try:
            with self._zip.open(info) as member:
                while chunk := member.read(_CHUNK):
                    size += len(chunk)
                    self._unpacked += len(chunk)
                    if size > info.file_size or self._unpacked > MAX_TOTAL_BYTES:
                        raise refused(f"{name} unpacks to more than it says")
                    yield chunk
        except BROKEN_ZIP as fault:
            raise refused(f"{name} in {self._path.name} is damaged") from fault

    def _checked(self) -> dict[str, zipfile.ZipInfo]:
        infos = self._zip.infolist()
        problems = list(_member_faults(infos))
        if problems:
            first = problems[0].message
            more = f" (and {len(problems) - 1} more problems)" if len(problems) > 1 else ""
            raise InvalidParamError(
                f"{first}{more}; nothing was stored",
                problems=problems,
                suggestions=["Make the archive with memory_export_project, format zip."],
            )
        self._check_size(infos)
        return {info.filename: info for info in infos}

    def _check_size(self, infos: list[zipfile.ZipInfo]) -> None:
        unpacked = sum(info.file_size for info in infos)
        packed = self._path.stat().st_size
        if unpacked <= MAX_TOTAL_BYTES and not is_bomb(unpacked, packed):
            return
        message = (
            f"the archive unpacks from {packed} to {unpacked} bytes; at most {MAX_TOTAL_BYTES} "
            f"bytes and {MAX_RATIO} times its own size are taken"
        )
        raise LimitExceededError.at(
            "$.import_path",
            message,
            headline=f"{message}; nothing was stored",
            suggestions=["Export it again with format=jsonl, if you trust where it comes from."],
        )

    def _read_manifest(self) -> dict[str, Json]:
        if self._infos[MANIFEST].file_size > MAX_MANIFEST_BYTES:
            raise refused(f"{MANIFEST} is larger than {MAX_MANIFEST_BYTES} bytes")
        manifest = parse_line(b"".join(self._unpack(MANIFEST)), MANIFEST)
        if not isinstance(manifest, dict):
            raise refused(f"{MANIFEST} must be an object")
        return manifest

    def _read_sums(self) -> dict[str, str]:
        members = self.manifest.get("members")
        if not isinstance(members, dict):
            raise refused(f"{MANIFEST} does not tell the members' sums (key members)")
        sums: dict[str, str] = {}
        for name, told in members.items():
            sum_ = told.get("sha256") if isinstance(told, dict) else told
            if isinstance(sum_, str):
                sums[str(name)] = sum_.lower()
        for name in self._infos:
            if name != MANIFEST and name not in sums:
                raise refused(f"{MANIFEST} tells no sum of {name}")
        for name in sums:
            if name not in self._infos:
                raise refused(f"{encodable(name)[:80]!r} is in {MANIFEST}, not in the archive")
        return sums


def _member_faults(infos: list[zipfile.ZipInfo]) -> Iterator[Problem]:
    counts = Counter(info.filename for info in infos)
    for name, count in counts.items():
        if count > 1:
            yield _fault(name, "is there more than once")
        if name not in MEMBERS:
            yield _fault(name, f"is none of {', '.join(MEMBERS)}")
    for info in infos:
        if info.flag_bits & _ENCRYPTED:
            yield _fault(info.filename, "is encrypted")
        elif info.compress_type not in _METHODS:
            yield _fault(info.filename, "is packed in a way that is not read here")
        if stat.S_IFMT(info.external_attr >> 16) not in {0, stat.S_IFREG}:
            yield _fault(info.filename, "is no regular file (a link, a device, a folder)")
    for name in REQUIRED:
        if name not in counts:
            yield _fault(name, "is missing")


def _fault(name: str, fault: str) -> Problem:
    shown = repr(encodable(name)[:80])
    return Problem(
        code=InvalidParamError.code,
        path="$.import_path",
        message=f"the archive's member {shown} {fault}",
    )


def _check_directory_size(file: BinaryIO) -> None:
    """Refuse a directory of more than a few members before it is read into memory."""
    file.seek(0, 2)
    length = file.tell()
    start = max(0, length - _END_SIZE - _MAX_COMMENT - _LARGE_END_SIZE)
    file.seek(start)
    tail = file.read()
    file.seek(0)
    at = tail.rfind(_END)
    if at < 0 or len(tail) - at < _END_SIZE:
        raise refused("the file is no readable ZIP archive")
    count = int.from_bytes(tail[at + 10 : at + 12], "little")
    size = int.from_bytes(tail[at + 12 : at + 16], "little")
    is_large = tail[max(0, at - _LARGE_END_SIZE) : at].startswith(_LARGE_END)
    if is_large or count > MAX_MEMBERS or size > MAX_DIRECTORY_BYTES:
        raise refused(f"the archive has more than {MAX_MEMBERS} members, or says so")
