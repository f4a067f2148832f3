"""`import-graph` and `export-graph`: the graph from and to files."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from schemory.cli.command import FINDING, OK, Command, Request
from schemory.cli.output import Output, Style
from schemory.cli.progress import progress_bar
from schemory.errors import ConflictError
from schemory.graph.results import Author
from schemory.model.jsonvalue import Json
from schemory.model.text import counted
from schemory.storage.protocols import Capability
from schemory.transfer.report import Dangling, ImportOptions, ImportReport

if TYPE_CHECKING:
    from schemory.transfer.exporter import ExportReport

_FORMATS = ("jsonl", "graphml", "dot", "mermaid", "csv", "json-ld")
_DIALECTS = ("seed", "official")
_SHOWN_REJECTED = 10
_AUTHOR = Author(author="cli", client="cli")


def _configure_import(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("file", metavar="FILE|-", help="a knowledge-graph file; - reads standard input")
    add("--dry-run", action="store_true", help="tell what would happen, write nothing")
    configure_graph_import(add)
    add("--allow-secret", action="store_true", help="take records that hold credentials")


def configure_graph_import(add: Callable[..., object]) -> None:
    """Add how an import of a graph treats what is not right."""
    add(
        "--rejected",
        metavar="FILE",
        help="where records go that cannot be taken (default FILE.rejected)",
    )
    add(
        "--dangling",
        choices=[each.value for each in Dangling],
        default=Dangling.REJECT.value,
        help="edges to nodes that are nowhere: reject them (default), or make the nodes",
    )
    add("--clamp-weights", action="store_true", help="bring weights outside 0..1 into it")


def run_graph_import(request: Request) -> int:
    """Take a graph file's records into the space, in one transaction."""
    from schemory.transfer.importer import import_graph  # noqa: PLC0415 (export needs none of it)

    args = request.args
    options = ImportOptions(
        dangling=Dangling(args.dangling),
        clamp_weights=args.clamp_weights,
        allow_secret=args.allow_secret,
        rejected=Path(args.rejected).expanduser() if args.rejected else None,
        is_dry_run=args.dry_run,
    )
    is_stdin = args.file == "-"
    source = request.stdin.buffer.read() if is_stdin else Path(args.file).expanduser()
    with request.app() as app, progress_bar(request.out) as progress:
        report = import_graph(
            app.store, app.graph.space, source, options=options, by=_AUTHOR, progress=progress
        )
        can_undo = Capability.HISTORY in app.store.capabilities
    if request.out.is_json:
        request.out.json(_report_wire(report))
    else:
        _show_report(report, request.out, can_undo=can_undo)
    return FINDING if report.rejected else OK


def _show_report(report: ImportReport, out: Output, *, can_undo: bool) -> None:
    source = "standard input" if report.source == "-" else report.source
    verb = "would import" if report.is_dry_run else "imported"
    out.line(f"{out.style(verb, Style.BOLD)} {source}")
    out.facts(
        {
            "records": f"{report.records:,}",
            "new nodes": f"{report.nodes:,}",
            "new edges": f"{report.edges:,}",
            "merged": f"{report.merged:,}",
            "duplicates": f"{report.duplicates:,}",
            "kept": f"{report.kept:,}",
            "rejected": f"{len(report.rejected):,}",
        }
    )
    if report.stubs:
        out.line(f"and {counted(report.stubs, 'node')} made for edges that led nowhere")
    for warning in report.warnings:
        out.line(f"{out.style('warning:', Style.YELLOW)} {out.style(warning, Style.DIM)}")
    for fault in report.rejected[:_SHOWN_REJECTED]:
        out.line(f"{out.style('rejected:', Style.RED)} line {fault.line} {fault.reason}")
    if report.rejected_to:
        out.line(f"all rejected records: {report.rejected_to}")
    if report.seq is not None and can_undo:
        out.line(f"transaction {report.seq}; `schemory undo {report.seq}` takes it back")
    elif not report.has_changed:
        out.line(f"nothing changed: {_why_unchanged(report)}")


def _why_unchanged(report: ImportReport) -> str:
    taken = report.records - len(report.rejected)
    if taken <= 0:
        return "no record could be taken"
    return "the other records are stored already" if report.rejected else "all is stored already"


def _report_wire(report: ImportReport) -> dict[str, Json]:
    return {
        "source": report.source,
        "form": report.form.value,
        "lines": report.lines,
        "records": report.records,
        "nodes": report.nodes,
        "edges": report.edges,
        "merged": report.merged,
        "duplicates": report.duplicates,
        "kept": report.kept,
        "rejected": [
            {"line": fault.line, "kind": fault.kind.value, "reason": fault.reason}
            for fault in report.rejected
        ],
        "rejectedTo": report.rejected_to,
        "stubs": report.stubs,
        "clamped": report.clamped,
        "differences": [
            {"name": each.name, "fields": list(each.fields), "lines": list(each.lines)}
            for each in report.differences
        ],
        "twins": [list(names) for names in report.twins],
        "warnings": list(report.warnings),
        "transaction": report.seq,
        "changed": report.has_changed,
        "dryRun": report.is_dry_run,
    }


def _configure_export(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("file", nargs="?", metavar="FILE", help="where to; default standard output")
    add("--format", choices=_FORMATS, default="jsonl", help="default jsonl")
    add(
        "--dialect",
        choices=_DIALECTS,
        default="seed",
        help="the words of jsonl: node/edge (seed, default) or entity/relation (official)",
    )
    add("--full", action="store_true", help="jsonl with types, origins and dates")
    add("--overwrite", action="store_true", help="replace a file that is there")


def _run_export(request: Request) -> int:
    from schemory.model.lines.records import Dialect  # noqa: PLC0415 (import needs none of it)
    from schemory.transfer.exporter import (  # noqa: PLC0415 (as above)
        ExportFormat,
        ExportOptions,
        export_graph,
    )

    args, out = request.args, request.out
    options = ExportOptions(
        format=ExportFormat(args.format), dialect=Dialect(args.dialect), is_full=args.full
    )
    name: str = args.file or "-"
    target = _writer(out) if name == "-" else _free_file(name, overwrite=args.overwrite)
    with request.app() as app:
        report = export_graph(app.store, app.graph.space, target, options)
    if name == "-":
        out.note(f"exported {_counts(report)}")
    elif out.is_json:
        out.json(
            {
                "file": str(target),
                "nodes": report.nodes,
                "edges": report.edges,
                "kept": report.kept,
            }
        )
    else:
        out.line(f"exported {_counts(report)} to {target}")
    return OK


def _free_file(name: str, *, overwrite: bool) -> Path:
    """Return where an export goes.

    Raises:
        ConflictError: Something is in the file already, and nobody said that it may go.
    """
    target = Path(name).expanduser().absolute()
    if not overwrite and target.is_file() and target.stat().st_size:
        raise ConflictError(
            f"{target} is there already; it was left untouched",
            suggestions=["--overwrite replaces it; or name another file."],
        )
    return target


def _writer(out: Output) -> Callable[[bytes], object]:
    """Return what writes bytes to stdout; exports are UTF-8 whatever the terminal's encoding."""
    buffer = getattr(out.stdout, "buffer", None)
    if buffer is None:
        return lambda piece: out.stdout.write(piece.decode())
    out.stdout.flush()
    write: Callable[[bytes], object] = buffer.write
    return write


def _counts(report: "ExportReport") -> str:
    counts = [counted(report.nodes, "node"), counted(report.edges, "edge")]
    if report.kept:
        counts.append(counted(report.kept, "kept line"))
    return ", ".join(counts)


COMMANDS: tuple[Command, ...] = (
    Command(
        name="import-graph",
        summary="read a knowledge-graph file into the store, in one transaction",
        configure=_configure_import,
        run=run_graph_import,
        examples=(
            "schemory import-graph memory.json --dry-run",
            "schemory import-graph - --rejected bad.jsonl < memory.jsonl",
        ),
    ),
    Command(
        name="export-graph",
        summary="write the graph to a file or to standard output",
        configure=_configure_export,
        run=_run_export,
        examples=(
            "schemory export-graph memory.jsonl",
            "schemory export-graph --format mermaid | tee graph.mmd",
        ),
    ),
)
