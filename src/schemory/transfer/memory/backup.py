"""Writes everything a project holds beside the database, before it is replaced."""

import re
from datetime import datetime
from pathlib import Path
from typing import Final

from schemory.memory.place import Place
from schemory.model.moment import moment_text
from schemory.model.paths import is_absolute
from schemory.storage.memory_protocols import MemoryReader
from schemory.transfer.memory.export import known_project, write_export
from schemory.transfer.memory.meter import Meter
from schemory.transfer.memory.options import ExportFormat, ExportOptions

_UNSAFE: Final = re.compile(r"[^A-Za-z0-9_-]+")
_LONGEST: Final = 60
_EVERYTHING: Final = ExportOptions(
    format=ExportFormat.JSONL,
    include_archived=True,
    include_invalidated=True,
    include_superseded=True,
)


def write_backup(
    reader: MemoryReader, location: str, place: Place, now: datetime, meter: Meter
) -> Path | None:
    """Return the new file, readable by its owner alone; None where the store has no folder."""
    if not is_absolute(location, place.rules.style):
        return None
    database = Path(location)
    slug = _UNSAFE.sub("-", place.id).strip("-")[-_LONGEST:]
    stamp = _UNSAFE.sub("", moment_text(now))
    target = _free(database.with_name(f"{database.stem}-backup-{slug}-{stamp}.jsonl"))
    write_export(
        reader,
        target,
        _EVERYTHING,
        project=known_project(place, reader),
        exported_at=moment_text(now),
        advance=meter.phase(58, 65, "writing a backup"),
        check=meter.check,
    )
    return target


def _free(path: Path) -> Path:
    """Return a path that names nothing yet."""
    number, free = 1, path
    while free.exists():
        number += 1
        free = path.with_name(f"{path.stem}-{number}{path.suffix}")
    return free
