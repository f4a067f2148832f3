"""Import a graph file: read, match with what is stored, write in one transaction (graph.md §7)."""

import gc
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from schemory.errors import InvalidParamError, NotAGraphError, Problem
from schemory.graph.results import NOBODY, Author
from schemory.storage.files import file_error
from schemory.storage.protocols import Capability, GraphStore, GraphTransaction, WriteContext
from schemory.transfer.parse import ParsedFile, parse_file
from schemory.transfer.rejected import rejected_path, write_rejected
from schemory.transfer.report import ImportOptions, ImportReport, Progress
from schemory.transfer.resolve import Resolution, chunks, resolve
from schemory.transfer.words import import_warnings

OPERATION = "import-graph"
_CHUNK = 10_000
_GRAPH_FORM = (
    "A graph file has one JSON object per line, such as "
    '{"type":"node","name":"A","nodeType":"t","metadata":[]} or '
    '{"type":"entity","name":"A","entityType":"t","observations":[]}.'
)
_T = TypeVar("_T")


@contextmanager
def _no_collecting() -> Generator[None]:
    """Pause the search for circular garbage: here is none, among very many objects."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@_no_collecting()
def import_graph(
    store: GraphStore,
    space: str,
    source: Path | bytes,
    *,
    options: ImportOptions | None = None,
    by: Author = NOBODY,
    progress: Progress | None = None,
) -> ImportReport:
    """Take a graph file's records into `space`, all in one transaction.

    The source is only read. What cannot be taken is listed in the report and, unless this is a dry
    run, in the file of rejected records, which is on the disk before the transaction commits.

    Args:
        store: Where the space is.
        space: Its id.
        source: A file, or the bytes of one that has no path (standard input).
        options: How what is not right is treated.
        by: Who imports; stored beside each row.
        progress: Told now and then how far it is.

    Raises:
        NotAGraphError: The file has no node and no edge; nothing was stored.
        InvalidParamError: Bytes hold something to reject, but `options.rejected` is not set; or it
            is the source itself.
        ConflictError: The place for what is rejected holds another file; nothing was stored.
        StoreError: The file cannot be read, or something cannot be written; nothing was stored.
    """
    options = options or ImportOptions()
    name = "-" if isinstance(source, bytes) else str(source)
    parsed = parse_file(_read(source), options, progress)
    if not parsed.has_graph:
        raise not_a_graph(name, parsed)
    if options.is_dry_run:
        with store.read(space) as reader:
            resolution = resolve(parsed, reader, options)
        _rejects_to(source, options, resolution)
        return _report(name, parsed, resolution, options)
    context = WriteContext(operation=OPERATION, author=by.author, client=by.client)
    with store.transaction(space, context) as tx:
        resolution = resolve(parsed, tx, options)
        target = _rejects_to(source, options, resolution)
        _apply(tx, resolution, progress)
        if target is not None:
            write_rejected(target, resolution.faults)
        # Without a lasting ledger the number would promise an undo that cannot be kept.
        can_undo = resolution.has_changes and Capability.HISTORY in store.capabilities
        seq = tx.seq if can_undo else None
    return _report(name, parsed, resolution, options, target=target, seq=seq)


def _read(source: Path | bytes) -> bytes:
    if isinstance(source, bytes):
        return source
    try:
        return source.read_bytes()
    except OSError as error:
        if isinstance(error, FileNotFoundError):
            raise InvalidParamError(
                f"There is no file {source}",
                problems=[Problem(code="INVALID_PARAM", path="FILE", message="does not exist")],
            ) from error
        raise file_error(error, source) from error


def _rejects_to(
    source: Path | bytes, options: ImportOptions, resolution: Resolution
) -> Path | None:
    """Return the file for what was rejected, or None where nothing was."""
    if not resolution.faults:
        return None
    target = options.rejected
    if target is None:
        if isinstance(source, bytes):
            raise _needs_rejected(resolution)
        return rejected_path(source)
    if isinstance(source, Path) and target.resolve() == source.resolve():
        raise InvalidParamError(
            "The rejected records cannot go into the file that is imported",
            suggestions=["Name another file with --rejected."],
        )
    return target


def _needs_rejected(resolution: Resolution) -> InvalidParamError:
    faults = resolution.faults
    problems = [
        Problem(code="INVALID_PARAM", path=f"line {fault.line}", message=fault.reason)
        for fault in faults
    ]
    return InvalidParamError(
        f"{len(faults)} records cannot be taken, and standard input has no place to list them; "
        "nothing was stored",
        problems=problems,
        suggestions=["Say where they go: import-graph - --rejected FILE"],
    )


def _apply(tx: GraphTransaction, resolution: Resolution, progress: Progress | None) -> None:
    total = float(len(resolution.nodes) + len(resolution.edges))
    done = _in_chunks(tx.insert_nodes, resolution.nodes, 0, total, progress)
    _in_chunks(tx.update_nodes, resolution.changes, done, total, None)
    _in_chunks(tx.insert_edges, resolution.edges, done, total, progress)
    if resolution.kept:
        tx.insert_kept(resolution.kept)


def _in_chunks(
    write: Callable[[Sequence[_T]], object],
    items: Sequence[_T],
    done: float,
    total: float,
    progress: Progress | None,
) -> float:
    for chunk in chunks(items, _CHUNK):
        write(chunk)
        done += len(chunk)
        if progress is not None:
            progress(done, total, "writing")
    return done


def _report(
    name: str,
    parsed: ParsedFile,
    resolution: Resolution,
    options: ImportOptions,
    *,
    target: Path | None = None,
    seq: int | None = None,
) -> ImportReport:
    return ImportReport(
        source=name,
        form=parsed.form,
        lines=parsed.lines,
        blank=parsed.blank,
        structural=parsed.structural,
        continued=parsed.continued,
        glued=parsed.glued,
        nested=parsed.nested,
        records=parsed.records,
        nodes=len(resolution.nodes) - resolution.stubs,
        edges=len(resolution.edges),
        merged=resolution.merged,
        duplicates=resolution.duplicates,
        kept=len(resolution.kept),
        stubs=resolution.stubs,
        clamped=parsed.clamped,
        rejected=tuple(resolution.faults),
        rejected_to=None if target is None else str(target),
        differences=tuple(resolution.differences),
        twins=tuple(resolution.twins),
        warnings=import_warnings(parsed, resolution),
        seq=seq,
        has_changed=resolution.has_changes,
        is_dry_run=options.is_dry_run,
    )


def not_a_graph(name: str, parsed: ParsedFile) -> NotAGraphError:
    """Return the one error for a file without any node or edge, with what it does hold."""
    what = "standard input" if name == "-" else name
    if parsed.records == 0:
        message = f"{what} is empty: no node and no edge to import"
    else:
        objects = len(parsed.kept)
        other = len(parsed.faults)
        holds = [
            *([f"{objects} JSON object{'s' * (objects != 1)} of another kind"] if objects else []),
            *([f"{other} line{'s' * (other != 1)} that cannot be read as JSON"] if other else []),
        ]
        message = f"{what} holds no node and no edge, but {' and '.join(holds)}; nothing was stored"
    return NotAGraphError(
        message,
        context={"lines": parsed.lines, "objects": len(parsed.kept), "form": str(parsed.form)},
        suggestions=[
            _GRAPH_FORM,
            "If it holds notes, they are no nodes: `schemory import PATH` takes those.",
        ],
    )
