"""What an import is asked for and what it tells: every record of the file is accounted for."""

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TypeAlias

from schemory.model.frozen import dataclass
from schemory.model.lines.records import Fault

Progress: TypeAlias = Callable[[float, float | None, str], None]
"""Told (done, total or None, what is going on) now and then."""


class FileForm(StrEnum):
    """How a graph file is laid out."""

    LINES = "lines"  # one record per line
    ARRAY = "array"  # one JSON array of records
    OBJECT = "object"  # one JSON object with lists of records


class Dangling(StrEnum):
    """What becomes of an edge whose end is nowhere."""

    REJECT = "reject"
    STUB = "stub"  # a node of type `unknown` is made for it


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportOptions:
    """How an import treats what is not right.

    Attributes:
        clamp_weights: Weights outside 0..1 become 0 or 1 instead of being rejected.
        allow_secret: Records that hold what looks like a credential are taken.
        rejected: Where rejected records go; None = `<file>.rejected` beside the source.
        is_dry_run: Everything is worked out and told, nothing is written.
    """

    dangling: Dangling = Dangling.REJECT
    clamp_weights: bool = False
    allow_secret: bool = False
    rejected: Path | None = None
    is_dry_run: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A name on which several records did not agree.

    Attributes:
        fields: What they differ in (`nodeType` or other fields); one value was kept of each.
        lines: Where the records are; 0 is the stored node.
    """

    name: str
    fields: tuple[str, ...]
    lines: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """What an import did, or on a dry run would do.

    `nodes + edges + merged + duplicates + kept + len(rejected)` is `records`, always. Where each
    record is on a line of its own, `lines - blank + glued + nested` is `records` too;
    `structural` and `continued` count the lines that arrays and records over several lines need
    beside their first.

    Attributes:
        source: The file's path, or `-`.
        lines: Physical lines; a final line end starts none.
        glued: Records that share a line with one before.
        nested: Relations inside other records.
        nodes: New nodes.
        edges: New edges.
        merged: Node records that joined another record of their name, in the file or stored.
        duplicates: Records that say only what is there already.
        kept: New lines of unknown type, stored to come back out.
        stubs: Nodes made for ends that are nowhere; no records of the file.
        clamped: Edges whose weight was brought into 0..1.
        rejected: What could not be taken, by line.
        rejected_to: The file that lists them, if one was written.
        differences: Names on which records did not agree.
        twins: Names that differ only by case, white space or Unicode form, the new one first.
        warnings: The rest that a person should know.
        seq: Number of the transaction, for `undo`; None when nothing was written, or when the
            store keeps no history.
        has_changed: Whether the store is (or would be) another than before.
    """

    source: str
    form: FileForm
    lines: int
    blank: int
    structural: int
    continued: int
    glued: int
    nested: int
    records: int
    nodes: int
    edges: int
    merged: int
    duplicates: int
    kept: int
    stubs: int
    clamped: int
    rejected: tuple[Fault, ...]
    rejected_to: str | None
    differences: tuple[Difference, ...]
    twins: tuple[tuple[str, ...], ...]
    warnings: tuple[str, ...]
    seq: int | None
    has_changed: bool
    is_dry_run: bool
