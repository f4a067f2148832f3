"""`memory_export_project` and `memory_import_project`: a project's memory to and from a file."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from schemory.model.jsonvalue import Json
from schemory.tools.fitting import counted
from schemory.tools.memory_bench import (
    ALLOW_SECRET,
    FLAG,
    TEXT,
    WHOLE,
    Confirming,
    MemoryBench,
    MemorySpec,
    author_of,
    flag_of,
    ref_of,
    text_of,
)
from schemory.tools.memory_replies import memory_reply, success_data, with_warnings
from schemory.tools.memory_text import person_text
from schemory.tools.memory_wire import present
from schemory.tools.registry import Call, Effect, Reply

if TYPE_CHECKING:
    from schemory.transfer.memory.options import ExportReport, ImportReport

FORMATS: Final = ("json", "zip", "jsonl")
CONFLICTS: Final = ("fail", "merge", "replace")
_INCLUDED: Final = ("include_archived", "include_invalidated", "include_superseded")
_COUNTS: Final = ("inserted", "updated", "unchanged", "skipped", "links", "removed")


def _export_project(bench: MemoryBench, call: Call) -> Reply:
    from schemory.transfer.memory.export import (  # noqa: PLC0415 (only for transfers)
        export_project,
    )
    from schemory.transfer.memory.options import (  # noqa: PLC0415 (as above)
        ExportFormat,
        ExportOptions,
    )

    options = ExportOptions(
        format=ExportFormat(str(call.arguments.get("format", FORMATS[0]))),
        **{key: flag_of(call, key) for key in (*_INCLUDED, "overwrite")},
    )
    report = export_project(
        bench.memory,
        ref_of(call),
        text_of(call, "save_path"),
        options,
        by=author_of(call),
        progress=call.progress,
        is_cancelled=call.is_cancelled,
    )
    return _export_reply(report)


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


def _import_project(bench: MemoryBench, call: Call) -> Reply:
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


def _replace_question(bench: MemoryBench, call: Call) -> str | None:
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
    counts: dict[str, Json] = {key: getattr(report.counts, key) for key in _COUNTS}
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


def _words(*allowed: str) -> Mapping[str, Json]:
    return {"type": "string", "enum": list(allowed)}


def _counts_schema(*names: str) -> Mapping[str, Json]:
    return {"type": "object", "properties": dict.fromkeys(names, WHOLE), "required": []}


TRANSFER_SPECS: Final = (
    MemorySpec(
        name="memory_export_project",
        title="Export a project's memory",
        description=(
            "Write a project's entries, tags and links to a file in the project or an allowed "
            "root. Active entries always, others if asked for. jsonl diffs well in git."
        ),
        effect=Effect.WRITE,
        handle=_export_project,
        properties={
            "save_path": TEXT,
            "format": _words(*FORMATS),
            **dict.fromkeys((*_INCLUDED, "overwrite"), FLAG),
        },
        required=("save_path",),
        is_long=True,
        output={
            **dict.fromkeys(("save_path", "format", "sha256"), TEXT),
            **dict.fromkeys(("entries", "tags", "links", "size_bytes"), WHOLE),
            "left_out": _counts_schema("superseded", "invalidated", "archived"),
        },
    ),
    MemorySpec(
        name="memory_import_project",
        title="Import a project's memory",
        description=(
            "Read an export into a project, all of it or nothing. on_conflict: fail (default), "
            "merge, or replace, which needs confirm_replace and makes a backup first. dry_run "
            "only counts."
        ),
        effect=Effect.DESTRUCTIVE,
        handle=_import_project,
        properties={
            "import_path": TEXT,
            "on_conflict": _words(*CONFLICTS),
            "confirm_replace": FLAG,
            "dry_run": FLAG,
        },
        required=("import_path",),
        unadvertised=ALLOW_SECRET,
        is_long=True,
        output={
            **dict.fromkeys(("import_path", "origin", "backup_path"), TEXT),
            **dict.fromkeys(("transaction", "renamed"), WHOLE),
            "counts": _counts_schema(*_COUNTS),
            "dry_run": FLAG,
        },
        confirming=Confirming(
            argument="confirm_replace", title="Yes, replace it", question=_replace_question
        ),
    ),
)
"""The tools that move a project's memory."""
