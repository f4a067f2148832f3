"""Export a space in one of several formats, streamed from one snapshot (graph.md §7)."""

from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import TypeAlias

from schemory.errors import InvalidParamError
from schemory.model.frozen import dataclass
from schemory.model.lines.records import Dialect
from schemory.storage.files import replace_file
from schemory.storage.protocols import GraphStore
from schemory.transfer.formats.dot import dot_pieces
from schemory.transfer.formats.graphml import graphml_pieces
from schemory.transfer.formats.jsonl import jsonl_pieces
from schemory.transfer.formats.jsonld import jsonld_pieces
from schemory.transfer.formats.mermaid import mermaid_pieces
from schemory.transfer.formats.table import csv_pieces
from schemory.transfer.walk import GraphWalk

Write: TypeAlias = Callable[[bytes], object]
"""Takes the next piece of the export: `sys.stdout.buffer.write`."""

_PIECE_CHARS = 64 * 1024


class ExportFormat(StrEnum):
    """The forms that `export-graph --format` knows."""

    JSONL = "jsonl"
    GRAPHML = "graphml"
    DOT = "dot"
    MERMAID = "mermaid"
    CSV = "csv"
    JSON_LD = "json-ld"


_OTHERS: Mapping[ExportFormat, Callable[[GraphWalk], Iterator[str]]] = {
    ExportFormat.GRAPHML: graphml_pieces,
    ExportFormat.DOT: dot_pieces,
    ExportFormat.MERMAID: mermaid_pieces,
    ExportFormat.CSV: csv_pieces,
    ExportFormat.JSON_LD: jsonld_pieces,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportOptions:
    """How a graph is given away.

    Attributes:
        dialect: Whose words JSON Lines use.
        is_full: JSON Lines carry all that is known: typed values, edge origin, dates, foreign
            fields.
    """

    format: ExportFormat = ExportFormat.JSONL
    dialect: Dialect = Dialect.SEED
    is_full: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportReport:
    """How much was exported; `kept` lines go only into JSON Lines."""

    nodes: int
    edges: int
    kept: int


def export_graph(
    store: GraphStore, space: str, target: Path | Write, options: ExportOptions | None = None
) -> ExportReport:
    """Write the whole of `space` to a file (replaced at once, when all is written) or a writer.

    Raises:
        InvalidParamError: `is_full` or a dialect with a format that has no room for it.
        StoreError: The file cannot be written; it is as it was.
    """
    options = options or ExportOptions()
    _check(options)
    with store.read(space) as reader:
        walk = GraphWalk(reader)
        pieces = _encoded(_pieces(walk, options))
        if isinstance(target, Path):
            replace_file(target, pieces, new_mode=None)
        else:
            for piece in pieces:
                target(piece)
    return ExportReport(nodes=walk.node_count, edges=walk.edge_count, kept=walk.kept_count)


def _check(options: ExportOptions) -> None:
    if options.format is ExportFormat.JSONL:
        return
    if options.is_full or options.dialect is not Dialect.SEED:
        raise InvalidParamError(
            f"Only the format jsonl can be full or in another dialect, not {options.format}",
            suggestions=["Leave the format out, or export without --full and --dialect."],
        )


def _pieces(walk: GraphWalk, options: ExportOptions) -> Iterator[str]:
    if options.format is ExportFormat.JSONL:
        return jsonl_pieces(walk, options.dialect, is_full=options.is_full)
    return _OTHERS[options.format](walk)


def _encoded(pieces: Iterator[str]) -> Iterator[bytes]:
    """Yield the text in pieces of a size that is worth a write."""
    waiting: list[str] = []
    size = 0
    for piece in pieces:
        waiting.append(piece)
        size += len(piece)
        if size >= _PIECE_CHARS:
            yield "".join(waiting).encode()
            waiting.clear()
            size = 0
    yield "".join(waiting).encode()
