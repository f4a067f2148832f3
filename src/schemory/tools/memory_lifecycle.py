"""Tools that change what an entry stands for: retire, restore, delete, and mend the index."""

from schemory.memory.inputs import ReadRequest
from schemory.memory.results import StatusChanged
from schemory.model.jsonvalue import Json
from schemory.model.text import counted
from schemory.tools.memory_bench import (
    MemoryBench,
    author_of,
    flag_of,
    optional_text,
    ref_of,
    text_of,
)
from schemory.tools.memory_replies import memory_reply, success_data, with_warnings
from schemory.tools.memory_text import person_text
from schemory.tools.memory_wire import present
from schemory.tools.registry import Call, Reply


def invalidate_entry(bench: MemoryBench, call: Call) -> Reply:
    """Mark an entry as no longer true."""
    return _status_reply(
        bench.memory.invalidate_entry(
            ref_of(call),
            text_of(call, "entry_id"),
            reason=optional_text(call, "reason"),
            allow_secret=flag_of(call, "allow_secret"),
            by=author_of(call),
        )
    )


def archive_entry(bench: MemoryBench, call: Call) -> Reply:
    """Put an entry away."""
    archive = bench.memory.archive_entry
    return _status_reply(archive(ref_of(call), text_of(call, "entry_id"), by=author_of(call)))


def restore_entry(bench: MemoryBench, call: Call) -> Reply:
    """Make an entry active again."""
    restore = bench.memory.restore_entry
    return _status_reply(restore(ref_of(call), text_of(call, "entry_id"), by=author_of(call)))


def _status_reply(result: StatusChanged) -> Reply:
    entry = result.entry
    data = present(
        {
            "entry_id": entry.id,
            "previous_status": result.previous_status.value,
            "status": entry.status.value,
            "invalidated_at": entry.invalidated_at,
            "changed": result.changed,
        }
    )
    was = f"was {result.previous_status}" if result.changed else "as before"
    text = with_warnings(f"{entry.id} is {entry.status} ({was}).", result.warnings)
    return memory_reply(success_data(result, data, with_project=True), text)


def delete_entry(bench: MemoryBench, call: Call) -> Reply:
    """Remove an entry for good."""
    deleted = bench.memory.delete_entry(
        ref_of(call),
        text_of(call, "entry_id"),
        confirm=flag_of(call, "confirm"),
        by=author_of(call),
    )
    restored = [entry.id for entry in deleted.restored]
    data: dict[str, Json] = {
        "entry_id": deleted.entry_id,
        "links_removed": deleted.links_removed,
        "restored": list(restored),
    }
    text = f"Deleted {deleted.entry_id} and {counted(deleted.links_removed, 'link')} for good."
    if restored:
        text += f" Back to what they were: {', '.join(restored)}."
    structured = success_data(deleted, data, with_project=True)
    return memory_reply(structured, with_warnings(text, deleted.warnings))


def delete_question(bench: MemoryBench, call: Call) -> str | None:
    """Return what a person reads before an entry is gone; None where the call says it is meant."""
    if flag_of(call, "confirm"):
        return None
    request = ReadRequest(entry_id=text_of(call, "entry_id"), max_chars=1)
    read = bench.memory.read_entry(ref_of(call), request)
    entry = read.entry
    facts = {
        "Title": entry.title or "(none)",
        "Kept under": " / ".join(part for part in (entry.scope, entry.topic) if part),
        "Project": read.project.display_name if read.project else "",
        "Id": entry.id,
        "Written by": entry.created_by or "",
        "Last changed": entry.updated_at,
    }
    return person_text(
        "Delete this note from the memory for good?",
        facts,
        "Its text, its history and its links will be gone; that cannot be undone.",
    )


def rebuild_index(bench: MemoryBench, call: Call) -> Reply:
    """Make the project's search index anew."""
    rebuilt = bench.memory.rebuild_index(ref_of(call), by=author_of(call))
    text = f"The search index is new; it holds {rebuilt.indexed} entries."
    data: dict[str, Json] = {"indexed": rebuilt.indexed}
    if rebuilt.vectors is not None:
        data["vectors"] = rebuilt.vectors.embedded
        text += f" {rebuilt.vectors.embedded} of them have new vectors, the rest get theirs."
    structured = success_data(rebuilt, data, with_project=True)
    return memory_reply(structured, with_warnings(text, rebuilt.warnings))
