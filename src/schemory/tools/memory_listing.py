"""Tools that list: scopes, topics, tags, links, and what came up since a moment."""

from collections.abc import Mapping, Sequence
from typing import cast

from schemory.memory.handoff_results import Handoff
from schemory.memory.inputs import HandoffRequest, LinkRequest, NamesRequest, UnlinkRequest
from schemory.memory.results import LinksListed, NamesListed
from schemory.model.entry import Link
from schemory.model.jsonvalue import Json
from schemory.model.text import counted
from schemory.tools.memory_bench import (
    MemoryBench,
    author_of,
    flag_of,
    optional_text,
    ref_of,
    status_of,
    text_of,
    whole_of,
)
from schemory.tools.memory_fit import Bounds, fitting_reply
from schemory.tools.memory_lines import line_wire
from schemory.tools.memory_parts import ANY_STATUS
from schemory.tools.memory_replies import memory_reply, success_data, with_warnings
from schemory.tools.memory_text import DATA_NOTE, fenced_line, names_text
from schemory.tools.memory_wire import link_wire, names_wire, present
from schemory.tools.registry import Call, Reply


def list_names(bench: MemoryBench, call: Call, kind: str) -> Reply:
    """Count entries by scope, topic or tag."""
    request = NamesRequest(
        kind=kind,
        status=status_of(call),
        scope=optional_text(call, "scope"),
        topic=optional_text(call, "topic"),
        limit=whole_of(call, "limit"),
    )
    listed = bench.memory.list_names(ref_of(call), request)
    items = cast("Sequence[Mapping[str, Json]]", names_wire(listed.items))
    bounds = Bounds(max_bytes=bench.budget)
    return fitting_reply(items, lambda kept: _names_reply(listed, kept), bounds)


def _names_reply(listed: NamesListed, items: Sequence[Mapping[str, Json]]) -> Reply:
    status = ANY_STATUS if listed.status is None else listed.status.value
    data = present({"status": status, "scope": listed.scope, "topic": listed.topic})
    data["items"] = list(items)
    if listed.truncated or len(items) < len(listed.items):
        data["truncated"] = True
    said = f"{counted(len(items), listed.kind)} with {status} entries"
    text = f"{said}:\n{names_text(items)}" if items else f"{said}."
    text += "\nThere are more." if "truncated" in data else ""
    return memory_reply(success_data(listed, data), with_warnings(text, listed.warnings))


def link_entries(bench: MemoryBench, call: Call) -> Reply:
    """Relate two entries."""
    request = LinkRequest(
        source_entry_id=text_of(call, "source_entry_id"),
        target_entry_id=text_of(call, "target_entry_id"),
        relation=text_of(call, "relation"),
        label=optional_text(call, "label"),
        allow_secret=flag_of(call, "allow_secret"),
    )
    written = bench.memory.link_entries(ref_of(call), request, by=author_of(call))
    data = {
        **link_wire(written.link),
        "changed": written.changed,
        "target_status": written.target.status.value,
    }
    verb = "Linked" if written.changed else "Linked already:"
    text = f"{verb} {_link_words(written.link)} (link {written.link.id})."
    text += f" The target is {written.target.status}."
    structured = success_data(written, data, with_project=True)
    return memory_reply(structured, with_warnings(text, written.warnings))


def unlink_entries(bench: MemoryBench, call: Call) -> Reply:
    """Remove a link."""
    request = UnlinkRequest(
        link_id=optional_text(call, "link_id"),
        source_entry_id=optional_text(call, "source_entry_id"),
        target_entry_id=optional_text(call, "target_entry_id"),
        relation=optional_text(call, "relation"),
    )
    removed = bench.memory.unlink_entries(ref_of(call), request, by=author_of(call))
    data = {**link_wire(removed.link), "changed": True}
    text = f"Unlinked {_link_words(removed.link)}."
    if removed.restored is not None:
        data["target_status"] = removed.restored.status.value
        text += f" {removed.restored.id} is {removed.restored.status} again."
    structured = success_data(removed, data, with_project=True)
    return memory_reply(structured, with_warnings(text, removed.warnings))


def _link_words(link: Link) -> str:
    return f"{link.source_entry_id} {link.relation} {link.target_entry_id}"


def list_links(bench: MemoryBench, call: Call) -> Reply:
    """List an entry's links."""
    listed = bench.memory.list_entry_links(
        ref_of(call),
        text_of(call, "entry_id"),
        direction=str(call.arguments.get("direction", "both")),
        limit=whole_of(call, "limit"),
    )
    bounds = Bounds(max_bytes=bench.budget)
    return fitting_reply(listed.links, lambda kept: _links_reply(listed, kept), bounds)


def _links_reply(listed: LinksListed, links: Sequence[Link]) -> Reply:
    data: dict[str, Json] = {
        "entry_id": listed.entry_id,
        "direction": listed.direction,
        "links": [link_wire(link) for link in links],
    }
    if listed.truncated or len(links) < len(listed.links):
        data["truncated"] = True
    lines = [f"{counted(len(links), 'link')} of {listed.entry_id}:" if links else "No links."]
    lines += [_link_line(link) for link in links]
    lines += ["There are more."] if "truncated" in data else []
    return memory_reply(
        success_data(listed, data), with_warnings("\n".join(lines), listed.warnings)
    )


def _link_line(link: Link) -> str:
    line = f"- {_link_words(link)} (link {link.id})"
    return f"{line} {fenced_line(link.id, link.label, 'link')}" if link.label else line


def handoff_summary(bench: MemoryBench, call: Call) -> Reply:
    """Show what came up lately."""
    request = HandoffRequest(
        since=str(call.arguments.get("since", HandoffRequest().since)),
        scope=optional_text(call, "scope"),
    )
    handoff = bench.memory.handoff_summary(ref_of(call), request)
    rows = [(name, line) for name, lines in handoff.groups.items() for line in lines]
    most = max(map(len, handoff.groups.values()), default=0)
    bounds = Bounds(max_bytes=bench.budget)
    # Every group keeps its newest lines: what is cut is cut from all of them alike.
    depths = range(most) if rows else range(1)
    return fitting_reply(depths, lambda kept: _handoff_reply(handoff, len(kept)), bounds)


def _handoff_reply(handoff: Handoff, depth: int) -> Reply:
    groups = {name: lines[:depth] for name, lines in handoff.groups.items()}
    is_cut = any(len(lines) > depth for lines in handoff.groups.values())
    data = present({"since": handoff.since, "scope": handoff.scope})
    data["groups"] = {name: [line_wire(line) for line in lines] for name, lines in groups.items()}
    data["truncated"] = handoff.truncated or is_cut
    parts = [f"Since {handoff.since}. {DATA_NOTE}"]
    for name, lines in groups.items():
        parts += [f"{name.replace('_', ' ')}:"] if lines else []
        parts += [
            f"- {line.updated_at[:10]} {line.status} {fenced_line(line.entry_id, line.text)}"
            for line in lines
        ]
    if not any(groups.values()):
        parts = [f"Nothing came up since {handoff.since}."]
    parts += ["There is more than is shown."] if data["truncated"] else []
    return memory_reply(
        success_data(handoff, data), with_warnings("\n".join(parts), handoff.warnings)
    )
