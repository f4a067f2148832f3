"""The node types in force: schemas of all sources in one snapshot that changes while running."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack

from schemory.hints import TYPE_CHECKING
from schemory.model.frozen import dataclass, field
from schemory.model.jsonvalue import Json
from schemory.schemas.report import FileFault, FolderReport, clash

if TYPE_CHECKING:
    from pathlib import Path
    from typing import TypeAlias

    from schemory.model.schema import NodeSchema


@dataclass(frozen=True, slots=True)
class FolderSource:
    """A folder of schema files; while an optional one is missing, nothing is at fault."""

    path: str | os.PathLike[str]
    is_optional: bool = False


@dataclass(frozen=True, slots=True)
class PackSource:
    """A pack that comes with the product."""

    name: str


@dataclass(frozen=True, slots=True)
class FixedSource:
    """Schemas that a program hands over."""

    schemas: tuple[NodeSchema, ...]


Source: TypeAlias = FolderSource | PackSource | FixedSource


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogChange:
    """What a change of the catalog did to its types; `version` is the new one."""

    version: int
    added: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]


Listener: TypeAlias = Callable[[CatalogChange], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Snapshot:
    schemas: Mapping[str, NodeSchema] = field(default_factory=dict[str, "NodeSchema"])
    faults: tuple[FileFault, ...] = ()
    warnings: tuple[FileFault, ...] = ()
    notes: tuple[FileFault, ...] = ()
    version: int = 0


class SchemaCatalog:
    """The schemas in force, read from `sources`; safe to use from several threads.

    A reader sees one snapshot. A type in two sources stays with the first; the later one is at
    fault. Bad files are left out and told by `faults()`.
    """

    def __init__(self, sources: Sequence[Source] = ()) -> None:
        self._sources = _distinct(sources)
        self._lock = threading.RLock()
        self._listeners: list[Listener] = []
        self._snapshot = _read(self._sources, version=0)

    @property
    def version(self) -> int:
        """How often the set of schemas has changed since the start."""
        return self._snapshot.version

    @property
    def folders(self) -> tuple[Path, ...]:
        """The folders among the sources, in order; the first takes what `define` writes."""
        from pathlib import Path  # noqa: PLC0415 (a start does without)

        return tuple(Path(s.path) for s in self._sources if isinstance(s, FolderSource))

    def get(self, node_type: str) -> NodeSchema | None:
        """Return the schema of a type, or None."""
        return self._snapshot.schemas.get(node_type)

    def types(self) -> tuple[str, ...]:
        """Return all types, sorted."""
        return tuple(self._snapshot.schemas)

    def schemas(self) -> tuple[NodeSchema, ...]:
        """Return all schemas, sorted by type."""
        return tuple(self._snapshot.schemas.values())

    def faults(self) -> tuple[FileFault, ...]:
        """Return why files are left out."""
        return self._snapshot.faults

    def warnings(self) -> tuple[FileFault, ...]:
        """Return what is ignored or mended in the loaded files."""
        return self._snapshot.warnings

    def notes(self) -> tuple[FileFault, ...]:
        """Return what is accepted but worth knowing, such as reserved facets."""
        return self._snapshot.notes

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` after each change of the set of schemas; returns the unsubscriber.

        It is called in the thread that made the change. A failing listener does not keep others
        from being told; its failure is raised when all have been.
        """
        with self._lock:
            self._listeners.append(listener)

        def unsubscribe() -> None:
            with self._lock:
                if listener in self._listeners:
                    self._listeners.remove(listener)

        return unsubscribe

    def reload(self) -> bool:
        """Read all sources again; returns whether the set of schemas changed.

        Faults, warnings and notes are renewed in any case; listeners hear only of a change.
        """
        with self._lock:
            before = self._snapshot
            after = _read(self._sources, version=before.version)
            change = _difference(before, after)
            if change is not None:
                after = _read_as(after, change.version)
            self._snapshot = after
            listeners = tuple(self._listeners)
        if change is None:
            return False
        _tell(listeners, change)
        return True

    def define(self, data: Mapping[str, Json]) -> NodeSchema:
        """Add or replace a type: writes its file into the first folder and reloads.

        Raises:
            SchemaFaultError: Anything is wrong with `data`; here warnings refuse too.
            ConflictError: The type is defined elsewhere, or another file has its file name.
            UnsupportedError: There is no folder to write into.
        """
        from schemory.schemas import editing  # noqa: PLC0415 (most catalogs are never edited)

        with self._lock:
            schema = editing.write_schema(self, data)
        self.reload()
        return self.get(schema.node_type) or schema

    def remove(self, node_type: str) -> NodeSchema:
        """Remove a type by deleting its file in the first folder, and reload; nodes stay.

        Raises:
            UnknownTypeError: There is no such type; names the nearest.
            ConflictError: It comes from a pack, a program or another folder.
        """
        from schemory.schemas import editing  # noqa: PLC0415 (as above)

        with self._lock:
            schema = editing.delete_schema(self, node_type)
        self.reload()
        return schema


def _distinct(sources: Iterable[Source]) -> tuple[Source, ...]:
    """Return the sources, a folder or pack that is named twice only once."""
    given = tuple(sources)
    if len(given) < 2:  # noqa: PLR2004 (nothing can be there twice)
        return given
    kept: list[Source] = []
    seen: set[tuple[type[Source], str]] = set()
    for source in given:
        if not isinstance(source, FixedSource):
            name = source.name if isinstance(source, PackSource) else os.path.realpath(source.path)
            key = (type(source), name)
            if key in seen:
                continue
            seen.add(key)
        kept.append(source)
    return tuple(kept)


def _report(source: Source) -> FolderReport:
    if isinstance(source, FixedSource):
        return FolderReport(schemas=source.schemas)
    if isinstance(source, FolderSource) and source.is_optional and not os.path.exists(source.path):
        return FolderReport()
    from pathlib import Path  # noqa: PLC0415 (a start does without)

    from schemory.schemas import load  # noqa: PLC0415 (only where there are files to read)

    if isinstance(source, PackSource):
        return load.load_pack(source.name)
    return load.load_folder(Path(source.path))


def _read(sources: Iterable[Source], *, version: int) -> _Snapshot:
    schemas: dict[str, NodeSchema] = {}
    faults: list[FileFault] = []
    warnings: list[FileFault] = []
    notes: list[FileFault] = []
    for source in sources:
        report = _report(source)
        faults.extend(report.faults)
        warnings.extend(report.warnings)
        notes.extend(report.notes)
        for schema in report.schemas:
            first = schemas.setdefault(schema.node_type, schema)
            if first is not schema:
                holder = first.origin or "the program"
                file = schema.origin or "a schema of the program"
                faults.append(FileFault(file, clash(schema.node_type, holder)))
    return _Snapshot(
        schemas=dict(sorted(schemas.items())),
        faults=tuple(faults),
        warnings=tuple(warnings),
        notes=tuple(notes),
        version=version,
    )


def _read_as(snapshot: _Snapshot, version: int) -> _Snapshot:
    return _Snapshot(
        schemas=snapshot.schemas,
        faults=snapshot.faults,
        warnings=snapshot.warnings,
        notes=snapshot.notes,
        version=version,
    )


def _difference(before: _Snapshot, after: _Snapshot) -> CatalogChange | None:
    old, new = before.schemas, after.schemas
    changed = tuple(t for t in new if t in old and _content(old[t]) != _content(new[t]))
    added = tuple(t for t in new if t not in old)
    removed = tuple(t for t in old if t not in new)
    if not (added or changed or removed):
        return None
    return CatalogChange(version=before.version + 1, added=added, changed=changed, removed=removed)


def _content(schema: NodeSchema) -> tuple[object, ...]:
    """Return what makes a schema another one: the order of properties does, its file does not."""
    properties = tuple(schema.properties.items())
    return schema.description, properties, schema.allows_additional


def _tell(listeners: Iterable[Listener], change: CatalogChange) -> None:
    """Call every listener, the latest first; a failure is raised when all have been called."""
    with ExitStack() as calls:  # runs its callbacks in reverse, each of them whatever happens
        for listener in listeners:
            calls.callback(listener, change)
