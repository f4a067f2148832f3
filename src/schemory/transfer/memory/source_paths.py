"""Which of the paths in a file an entry may keep as its source (memory.md §4, §7).

A path inside the project is told from the project, so it means something anywhere; one that climbs
out of it is refused. A full path belongs to the machine that wrote the file: where it leads out of
what may be read here, the entry keeps it among its metadata only, as words.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Final, TypeAlias

from schemory.errors import Problem, SchemoryError
from schemory.memory.faults import invalid
from schemory.memory.place import Place
from schemory.model.jsonvalue import Json
from schemory.model.paths import PathStyle, is_absolute, is_inside, join_path, path_fault

ELSEWHERE: Final = "source_path_elsewhere"
"""Key of an entry's metadata that tells a source path which may not be read here."""

_OF_SOURCE: Final = ("source_path", "source_sha256", "source_bytes", "source_blob")
_BASES: Final = {PathStyle.LINUX: "/project", PathStyle.WINDOWS: "C:\\project"}

Fields: TypeAlias = dict[str, Json]


class SourcePaths:
    """Judges the source paths of one file.

    Attributes:
        moved: Entries whose path went to their metadata.
    """

    def __init__(self, place: Place) -> None:
        self._place = place
        self._is_allowed = lru_cache(maxsize=1024)(self._look)
        self.moved = 0

    def settle(self, fields: Fields) -> Problem | None:
        """Put an entry's source path where it belongs; returns what is wrong with it."""
        path = fields.get("source_path")
        if not isinstance(path, str):
            return None
        if not any(is_absolute(path, style) for style in _BASES):
            return None if _stays_inside(path) else _climbs()
        if not self._is_allowed(path):
            _move(fields, path)
            self.moved += 1
        return None

    def _look(self, path: str) -> bool:
        if not is_absolute(path, self._place.rules.style):
            return False  # another system's
        try:
            self._place.resolve_path(path, "source_path")
        except SchemoryError:
            return False
        return True


def _stays_inside(path: str) -> bool:
    # Both spellings: a file may come from another system than it goes to.
    return path_fault(path, PathStyle.LINUX) is None and all(
        is_inside(join_path(base, path, style), base, style) for style, base in _BASES.items()
    )


def _move(fields: Fields, path: str) -> None:
    known = fields.get("metadata")
    metadata = dict(known) if isinstance(known, Mapping) else {}
    fields["metadata"] = {ELSEWHERE: path, **metadata}
    fields.update(dict.fromkeys(_OF_SOURCE))


def _climbs() -> Problem:
    hint = "Make it a path inside the project, or leave it out."
    return invalid("source_path", "leads out of the project", suggestion=hint)
