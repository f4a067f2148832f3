"""`memory_status`, `memory_add_entry`, `memory_update_entry`: the memory's first three tools."""

from collections.abc import Mapping
from typing import Any, Final

from schemory.memory.inputs import EntryUpdate, NewEntry
from schemory.memory.results import EntryAdded, EntryUpdated, MemoryStatus
from schemory.memory.vector_backend import VectorHealth
from schemory.model.entry import Entry
from schemory.model.jsonvalue import Json
from schemory.model.text import counted
from schemory.storage.vector_protocols import VectorCount
from schemory.tools.memory_bench import (
    MemoryBench,
    author_of,
    flag_of,
    ref_of,
    text_of,
    texts_of,
    whole_of,
)
from schemory.tools.memory_replies import memory_reply, success_data, with_warnings
from schemory.tools.memory_specs import FIELDS
from schemory.tools.memory_wire import vectors_wire
from schemory.tools.registry import Call, Reply


def status(bench: MemoryBench, call: Call) -> Reply:
    """Tell what there is: store, project, counts, what is switched on."""
    status = bench.memory.status(ref_of(call))
    counts: dict[str, Json] = {"entries": status.entries}
    counts |= {str(name): count for name, count in status.counts.items()}
    data: dict[str, Json] = {
        "db_path": status.location,
        "counts": counts,
        "features": dict(status.features),
        "index": status.index.value,
    }
    if status.vectors is not None:
        data["vectors"] = vectors_wire(status.vectors, status.vector_count)
    if bench.graph_facts is not None:
        facts = bench.graph_facts(call)
        data |= {"graph": facts} if facts else {}
    structured = success_data(status, data, with_project=True)
    return memory_reply(structured, _status_text(status, structured))


def _status_text(status: MemoryStatus, structured: Mapping[str, Any]) -> str:
    project = status.project
    lines = [f"Store: {status.location}"]
    if project is not None:
        where = f", {project.canonical_path}" if project.canonical_path else ""
        told = f"told by {project.resolved_by}"
        lines.append(f"Project: {project.id} ({project.display_name}{where}; {told})")
    by_status = ", ".join(f"{count} {name}" for name, count in status.counts.items() if count)
    lines.append(f"Memory: {by_status}" if by_status else _EMPTY)
    if "graph" in structured:
        graph = structured["graph"]
        shared = ", shared by all that is served without a project" if graph["shared"] else ""
        lines.append(
            f"Graph: {counted(graph['nodes'], 'node')}, {counted(graph['edges'], 'edge')}"
            f" in space {graph['space']}{shared}"
        )
    on = [name for name, is_on in status.features.items() if is_on]
    lines.append(f"Switched on: {', '.join(on) or 'nothing'}; search index {status.index}")
    if status.vectors is not None:
        lines.append(_vectors_text(status.vectors, status.vector_count))
    return with_warnings("\n".join(lines), status.warnings)


def _vectors_text(health: VectorHealth, count: VectorCount | None) -> str:
    state = {"not_loaded": "loaded at the first search", "ready": "ready"}.get(health.state, "off")
    parts = [f"Search by meaning: {health.model or health.backend}, {state}"]
    if count is not None:
        parts.append(f"{count.embedded} of {counted(count.total, 'entry')} have vectors")
        if count.of_other_models:
            parts.append(f"{count.of_other_models} vectors are another model's")
    if health.detail and health.state != "unavailable":
        parts.append(f"last trouble: {health.detail}")
    return "; ".join(parts)


_EMPTY: Final = "Memory: empty; memory_add_entry keeps the first entry."


def add_entry(bench: MemoryBench, call: Call) -> Reply:
    """Keep a new entry."""
    fields: dict[str, Any] = {key: call.arguments.get(key) for key in FIELDS}
    fields["tags"] = texts_of(call, "tags")
    new = NewEntry(
        **fields,
        dedupe=flag_of(call, "dedupe", default=True),
        allow_secret=flag_of(call, "allow_secret"),
    )
    added = bench.memory.add_entry(ref_of(call), new, by=author_of(call))
    data = {"deduped": added.deduped, **_written(added, added.entry)}
    if added.deduped:
        data["existing_entry_id"] = added.entry.id
    structured = success_data(added, data, with_project=True)
    return memory_reply(structured, with_warnings(_added_text(added), added.warnings))


def _added_text(added: EntryAdded) -> str:
    project_id = added.entry.project_id
    if added.deduped:
        return f"Nothing new: project {project_id} has this content already as {added.entry.id}."
    return f"Stored {added.entry.id} in project {project_id}."


def update_entry(bench: MemoryBench, call: Call) -> Reply:
    """Change the given fields of an entry."""
    update = EntryUpdate(
        entry_id=text_of(call, "entry_id"),
        changes={key: value for key, value in call.arguments.items() if key in FIELDS},
        expected_revision=whole_of(call, "expected_revision"),
        allow_secret=flag_of(call, "allow_secret"),
    )
    updated = bench.memory.update_entry(ref_of(call), update, by=author_of(call))
    data = {"changed": list(updated.changed), **_written(updated, updated.entry)}
    data["updated_at"] = updated.entry.updated_at
    structured = success_data(updated, data, with_project=True)
    fields = ", ".join(updated.changed) or "nothing"
    text = f"Changed {fields} of {updated.entry.id}; revision {updated.entry.revision}."
    return memory_reply(structured, with_warnings(text, updated.warnings))


def _written(result: EntryAdded | EntryUpdated, entry: Entry) -> dict[str, Json]:
    data: dict[str, Json] = {
        "entry_id": entry.id,
        "status": entry.status.value,
        "revision": entry.revision,
    }
    if result.similar:
        data["similar"] = [
            {"entry_id": each.entry.id, "similarity": round(each.similarity, 6)}
            for each in result.similar
        ]
    return data
