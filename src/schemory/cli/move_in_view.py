"""Shows what moving in would do or did: counts with their evidence, and the way back."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from schemory.cli.output import Output, Style, one_line
from schemory.model.jsonvalue import Json
from schemory.model.text import counted

if TYPE_CHECKING:
    from schemory.transfer.foreign.draft import Evidence
    from schemory.transfer.foreign.options import Counts, Moved, Part, Twin

_SHOWN = 5
_COUNTS = (
    ("new", "new"),
    ("changed", "changed"),
    ("refreshed", "refreshed"),
    ("unchanged", "unchanged"),
    ("duplicates", "duplicates"),
    ("edited_here", "edited here"),
    ("secrets", "left out"),
    ("links", "new links"),
)
_ALWAYS = frozenset({"new", "unchanged"})


def show_plan(moved: "Moved", out: Output) -> None:
    """Print a plan, or what was done where nobody saw the plan."""
    verb = "imported" if moved.is_written else "would import"
    out.line(f"{out.style(verb, Style.BOLD)} {moved.path}")
    out.line(f"as {moved.kind.value}" + (f": {moved.why}" if moved.why else ""))
    for part in moved.parts:
        if len(moved.parts) > 1 or part.source_project is not None:
            out.line(out.style(f"project {part.project_id}", Style.BOLD))
        out.facts(_facts(part.counts))
        if part.audit_rows:
            out.line(f"and {counted(part.audit_rows, 'row')} of the audit")
    if moved.files:
        out.line(f"read {counted(moved.files, 'file')}")
    _show_evidence(moved, out)
    _show_end(moved, out)


def show_written(moved: "Moved", out: Output) -> None:
    """Print what was done after the plan was shown."""
    for part in moved.parts:
        counts = part.counts
        done = counts.new + counts.changed + counts.refreshed
        noun = "entry" if done == 1 else "entries"
        out.line(f"{out.style('imported', Style.BOLD)} {done:,} {noun} into {part.project_id}")
    _show_end(moved, out)


def _facts(counts: "Counts") -> dict[str, str]:
    values = {name: getattr(counts, name) for name, _ in _COUNTS}
    return {word: f"{values[name]:,}" for name, word in _COUNTS if values[name] or name in _ALWAYS}


def _show_evidence(moved: "Moved", out: Output) -> None:
    for sample in moved.samples[:_SHOWN]:
        where = out.style(one_line(str(sample.place)), Style.CYAN)
        title = out.style(one_line(sample.title), Style.BOLD)
        place = out.style(one_line(f"{sample.scope} / {sample.topic}"), Style.DIM)
        out.line(f"  {where}  {title}  ({place})")
    counts = [part.counts for part in moved.parts]
    _more(len(moved.samples), sum(each.new for each in counts), out)
    _show_places("not taken", moved.refused, moved.refused_count, out, Style.RED)
    _show_places("credential", moved.secrets, None, out, Style.RED)
    _show_twins("twice", moved.duplicates, out)
    _show_twins("nearly the same", moved.near, out)
    _show_twins("changed here and there; left alone", moved.edited_here, out)
    _show_twins("no longer in the source; left alone", moved.gone, out)
    _show_places("no substance", moved.junk_places, sum(moved.junk.values()), out, Style.DIM)
    _show_places("unresolved link", moved.unresolved, None, out, Style.YELLOW)
    for what, count in _sorted(moved.removed):
        out.line(f"removed: {out.style(what, Style.DIM)}: {count:,}")
    for what, count in _sorted(moved.skipped):
        out.line(f"passed over: {out.style(what, Style.DIM)}: {count:,}")
    for what, count in _sorted(moved.notes):
        out.line(f"note: {out.style(what, Style.DIM)}: {count:,}")


def _show_places(
    title: str, places: "tuple[Evidence, ...]", count: int | None, out: Output, style: Style
) -> None:
    for each in places[:_SHOWN]:
        label = out.style(f"{title}:", style)
        place = out.style(one_line(str(each.place)), Style.CYAN)
        out.line(f"{label} {place} {out.style(one_line(each.what), Style.DIM)}")
    _more(len(places), count, out)


def _show_twins(title: str, twins: "tuple[Twin, ...]", out: Output) -> None:
    for twin in twins[:_SHOWN]:
        share = f"{round(100 * twin.share)} % like " if twin.share < 1 else ""
        where = f" ({twin.where})" if twin.where else ""
        label = out.style(f"{title}:", Style.YELLOW)
        told = out.style(f"{share}{twin.entry_id}{where}", Style.DIM)
        out.line(f"{label} {out.style(one_line(str(twin.place)), Style.CYAN)} {told}")
    _more(len(twins), None, out)


def _more(kept: int, count: int | None, out: Output) -> None:
    """Tell how many there are beside those shown; None: only those are known that were kept."""
    from schemory.transfer.foreign.draft import MOST_TOLD  # noqa: PLC0415 (after an import only)

    least = "at least " if count is None and kept >= MOST_TOLD else ""
    total = kept if count is None else count
    if kept and total > _SHOWN:
        which = "all" if total == kept and not least else f"the first {kept:,}"
        told = f"  … and {least}{total - _SHOWN:,} more ({which} with --json)"
        out.line(out.style(told, Style.DIM))


def _show_end(moved: "Moved", out: Output) -> None:
    for part in moved.parts:
        if part.seq is not None:
            out.line(f"transaction {part.seq}; `{undo_command(part)}` takes it back")
    if not moved.has_changes:
        out.line("nothing to import: all of it is here already" if _knows(moved) else _NOTHING)


_NOTHING = "nothing to import: there is no text of substance"


def _knows(moved: "Moved") -> bool:
    return any(
        part.counts.unchanged or part.counts.duplicates or part.counts.edited_here
        for part in moved.parts
    )


def undo_command(part: "Part") -> str:
    """Return the command line that reverses what went into one project."""
    import shlex  # noqa: PLC0415 (only for a transaction)

    return f"schemory undo {part.seq} --project-id {shlex.quote(part.project_id)}"


def plan_wire(moved: "Moved") -> dict[str, Json]:
    """Return a plan, or what was done, for programs."""
    return {
        "ok": True,
        "path": moved.path,
        "kind": moved.kind.value,
        "why": moved.why,
        "written": moved.is_written,
        "changes": moved.has_changes,
        "projects": [_part_wire(part) for part in moved.parts],
        "files": moved.files,
        "entries": [
            {
                "place": str(each.place),
                "entry_id": each.entry_id,
                "title": each.title,
                "scope": each.scope,
                "topic": each.topic,
                "source_type": each.source_type,
            }
            for each in moved.samples
        ],
        "refused": _places_wire(moved.refused),
        "refused_count": moved.refused_count,
        "secrets": _places_wire(moved.secrets),
        "duplicates": _twins_wire(moved.duplicates),
        "near_duplicates": _twins_wire(moved.near),
        "edited_here": _twins_wire(moved.edited_here),
        "no_longer_there": _twins_wire(moved.gone),
        "junk": dict(moved.junk),
        "junk_places": _places_wire(moved.junk_places),
        "unresolved_links": _places_wire(moved.unresolved),
        "removed_characters": dict(moved.removed),
        "passed_over": dict(moved.skipped),
        "notes": dict(moved.notes),
        "warnings": list(moved.warnings),
    }


def _part_wire(part: "Part") -> dict[str, Json]:
    wire: dict[str, Json] = {
        "project_id": part.project_id,
        "counts": {name: getattr(part.counts, name) for name, _ in _COUNTS},
        "transaction": part.seq,
    }
    if part.source_project is not None:
        wire |= {"source_project": part.source_project, "audit_rows": part.audit_rows}
    if part.seq is not None:
        wire["undo"] = undo_command(part)
    return wire


def _places_wire(places: "Iterable[Evidence]") -> list[Json]:
    return [{"place": str(each.place), "what": each.what} for each in places]


def _twins_wire(twins: "Iterable[Twin]") -> list[Json]:
    return [
        {
            "place": str(twin.place),
            "entry_id": twin.entry_id,
            "similarity": twin.share,
            "where": twin.where,
        }
        for twin in twins
    ]


def _sorted(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(
        (item for item in counts.items() if item[1]), key=lambda item: (-item[1], item[0])
    )
