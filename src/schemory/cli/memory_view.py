"""How people see entries: tables of them, one in full, what came up lately."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from schemory.cli.memory_desk import Answer
from schemory.cli.memory_hints import shell_hint
from schemory.cli.output import Output, Style, one_line, shorten, visible
from schemory.hints import TYPE_CHECKING
from schemory.model.text import counted

if TYPE_CHECKING:
    from typing import Any

_TEXT_WIDTH = 76
_FACTS = (
    ("id", "id"),
    ("project_id", "project"),
    ("source_type", "type"),
    ("status", "status"),
    ("importance", "importance"),
    ("confidence", "confidence"),
    ("source_ref", "source"),
    ("source_path", "file"),
    ("source_uri", "uri"),
    ("created_by", "by"),
    ("revision", "revision"),
)


def local_time(text: str) -> str:
    """Return a stored time as the clock on the wall shows it."""
    return datetime.fromisoformat(text).astimezone().strftime("%Y-%m-%d %H:%M")


def view_hits(answer: Answer, out: Output, *, with_content: bool = False) -> None:
    """Print hits as a table, or with all their content below each other."""
    hits: list[Mapping[str, Any]] = answer["results"]
    if with_content:
        for number, hit in enumerate(hits):
            if number:
                out.line()
            view_entry(hit, out)
        return
    rows = (
        (hit["id"], local_time(hit["updated_at"])[:10], _kind(hit), _where(hit), _gist(hit))
        for hit in hits
    )
    out.table(("id", "updated", "type", "scope / topic", "text"), rows)
    for hit in hits:
        for code in hit.get("warnings", ()):
            if not code.startswith("status_"):
                out.note(f"warning: {hit['id']}: {code}")


def view_no_hit(answer: Answer, out: Output) -> None:
    """Print what to do where nothing was found."""
    out.note(f"nothing found. {shell_hint(answer.get('hint', ''))}".rstrip())
    for key in ("scopes", "topics"):
        names = ", ".join(each["name"] for each in answer.get(key, ()))
        if names:
            out.note(f"{key}: {names}")


def view_entry(entry: Mapping[str, Any], out: Output) -> None:
    """Print one entry: what is known of it, then its content as it is."""
    title = entry.get("title") or f"{entry['scope']} / {entry['topic']}"
    out.line(out.style(title, Style.BOLD))
    facts = {label: str(entry[key]) for key, label in _FACTS if entry.get(key) is not None}
    facts["scope / topic"] = _where(entry)
    if entry.get("tags"):
        facts["tags"] = ", ".join(entry["tags"])
    if entry.get("source_state"):
        facts["file"] += f" ({entry['source_state']} since)"
    facts["created"] = local_time(entry["created_at"])
    facts["updated"] = local_time(entry["updated_at"])
    if entry.get("invalidation_reason"):
        facts["reason"] = entry["invalidation_reason"]
    if entry.get("summary"):
        facts["summary"] = entry["summary"]
    out.facts({key: one_line(value) for key, value in facts.items()})
    out.line()
    out.line(visible(entry.get("content") or entry.get("snippet", "")))


def view_history(answer: Answer, out: Output) -> None:
    """Print an entry's earlier texts, newest first."""
    for earlier in answer.get("history", ()):
        out.line()
        until = local_time(earlier["changed_at"])
        out.line(out.style(f"revision {earlier['revision']}, until {until}", Style.DIM))
        out.line(visible(earlier["content"]))
    if answer.get("history_truncated"):
        out.note("there are earlier texts than are shown")


def view_names(answer: Answer, out: Output, noun: str) -> None:
    """Print scopes, topics or tags with their counts."""
    out.table((noun, "entries"), ((each["name"], str(each["count"])) for each in answer["items"]))
    if answer.get("truncated"):
        out.note("there are more; raise --limit")


def view_groups(answer: Answer, out: Output) -> None:
    """Print what came up since a moment, a group after the other."""
    groups: Mapping[str, list[Mapping[str, Any]]] = answer["groups"]
    for name, lines in groups.items():
        if not lines:
            continue
        out.line(out.style(name.replace("_", " "), Style.BOLD))
        for line in lines:
            marked = "" if line["status"] == "active" else f" ({line['status']})"
            text = shorten(one_line(line["text"]), _TEXT_WIDTH)
            day = local_time(line["updated_at"])[:10]
            out.line(f"  {out.style(day, Style.DIM)} {text}{marked} {line['entry_id']}")
    if not any(groups.values()):
        out.line(f"nothing since {local_time(answer['since'])}")
    if answer.get("truncated"):
        out.note("there is more than is shown; give a later --since, or a --scope")


def view_links(answer: Answer, out: Output) -> None:
    """Print an entry's links."""
    rows = (
        (each["link_id"], each["source_entry_id"], each["relation"], each["target_entry_id"])
        for each in answer["links"]
    )
    out.table(("link", "source", "relation", "target"), rows)
    out.note(counted(len(answer["links"]), "link"))


def _kind(hit: Mapping[str, Any]) -> str:
    return str(hit["source_type"]) + ("" if hit["status"] == "active" else f" ({hit['status']})")


def _where(hit: Mapping[str, Any]) -> str:
    return f"{hit['scope']} / {hit['topic']}"


def _gist(hit: Mapping[str, Any]) -> str:
    title = hit.get("title")
    snippet = " ".join(str(hit["snippet"]).split())
    return f"{title}: {snippet}" if title else snippet


def tell_count(answer: Answer, out: Output, items: Iterable[object]) -> None:
    """Say on stderr how many there are, and that more could follow."""
    number = sum(1 for _ in items)
    noun = "entry" if number == 1 else "entries"
    more = "; --limit shows more" if answer.get("next_cursor") else ""
    out.note(f"{number:,} {noun}{more}")
