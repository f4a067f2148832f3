"""`memory_export_project` and `memory_import_project`: a project's memory to and from a file."""

from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from schemory.model.jsonvalue import Json
from schemory.model.text import counted
from schemory.tools.memory_bench import MemoryBench, author_of, flag_of, ref_of, text_of
from schemory.tools.memory_replies import memory_reply, success_data, with_warnings
from schemory.tools.memory_specs import CONFLICTS, COUNTED, FORMATS, INCLUDED
from schemory.tools.memory_text import person_text
from schemory.tools.memory_wire import present
from schemory.tools.registry import Call, Reply

if TYPE_CHECKING:
    from schemory.transfer.memory.options import ExportReport, ImportReport


_FORMAT_BY_ENDING: Final = {".zip": "zip", ".jsonl": "jsonl"}


def export_project(bench: MemoryBench, call: Call) -> Reply:
    """Write a project's memory to a file."""
    from schemory.transfer.memory.export import (  # noqa: PLC0415 (only for transfers)
        export_project,
    )
    from schemory.transfer.memory.options import (  # noqa: PLC0415 (as above)
        ExportFormat,
        ExportOptions,
    )

    save_path = text_of(call, "save_path")
    options = ExportOptions(
        format=ExportFormat(str(call.arguments.get("format") or _format_of(save_path))),
        **{key: flag_of(call, key) for key in (*INCLUDED, "overwrite")},
    )
    report = export_project(
        bench.memory,
        ref_of(call),
        save_path,
        options,
        by=author_of(call),
        progress=call.progress,
        is_cancelled=call.is_cancelled,
    )
    return _export_reply(report)


def _format_of(save_path: str) -> str:
    """Return the format that a file's ending names, the first where it names none.

    >>> _format_of("notes.ZIP"), _format_of("a.jsonl/notes"), _format_of(".zip")
    ('zip', 'json', 'json')
    """
    ending = PurePath(save_path).suffix.lower()
    return _FORMAT_BY_ENDING.get(ending, FORMATS[0])


def _export_reply(report: "ExportReport") -> Reply:
    data: dict[str, Json] = {
        "save_path": report.path,
        "format": report.format.value,
        "entries": report.entries,
        "tags": report.tags,
        "links": report.links,
        "size_bytes": report.size_bytes,
        "sha256": report.sha256,
        "left_out": {str(status): count for status, count in report.left_out.items()},
    }
    entries = "1 entry" if report.entries == 1 else f"{report.entries:,} entries"
    text = f"Exported {entries} and {counted(report.links, 'link')} to {report.path}."
    structured = success_data(report, data, with_project=True)
    return memory_reply(structured, with_warnings(text, report.warnings))


def import_project(bench: MemoryBench, call: Call) -> Reply:
    """Read a file into a project's memory."""
    from schemory.transfer.memory.importer import (  # noqa: PLC0415 (only for transfers)
        import_project,
    )
    from schemory.transfer.memory.options import (  # noqa: PLC0415 (as above)
        ImportOptions,
        OnConflict,
    )

    options = ImportOptions(
        on_conflict=OnConflict(str(call.arguments.get("on_conflict", CONFLICTS[0]))),
        **{key: flag_of(call, key) for key in ("confirm_replace", "allow_secret", "dry_run")},
    )
    report = import_project(
        bench.memory,
        ref_of(call),
        text_of(call, "import_path"),
        options,
        by=author_of(call),
        progress=call.progress,
        is_cancelled=call.is_cancelled,
    )
    return _import_reply(report)


def replace_question(bench: MemoryBench, call: Call) -> str | None:
    """Return what a person reads before an import takes the place of what is there."""
    is_replacing = call.arguments.get("on_conflict") == "replace"
    if not is_replacing or flag_of(call, "confirm_replace") or flag_of(call, "dry_run"):
        return None
    status = bench.memory.status(ref_of(call))
    facts = {
        "Project": status.project.display_name if status.project else "",
        "Holds now": counted(status.entries, "note"),
        "File": text_of(call, "import_path"),
    }
    return person_text(
        "Replace the memory of this project by a file?",
        facts,
        "Notes that the file does not hold are removed. A store in a file is backed up first.",
    )


def _import_reply(report: "ImportReport") -> Reply:
    counts: dict[str, Json] = {key: getattr(report.counts, key) for key in COUNTED}
    data = present(
        {
            "import_path": report.path,
            "counts": counts,
            "origin": report.origin,
            "transaction": report.seq,
            "backup_path": report.backup_path,
            "renamed": report.renamed,
            "dry_run": report.dry_run,
        }
    )
    said = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)
    verb = "Would import" if report.dry_run else "Imported"
    text = f"{verb} {report.path}: {said or 'nothing new'}."
    if report.backup_path is not None:
        text += f" What was there before is in {report.backup_path}."
    structured = success_data(report, data, with_project=True)
    return memory_reply(structured, with_warnings(text, report.warnings))
