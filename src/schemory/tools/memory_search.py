"""`memory_search` and `memory_find_similar`: hits within the bounds, with signed cursors."""

from collections.abc import Mapping, Sequence
from typing import Final, cast

from schemory.memory.inputs import SearchRequest, SimilarRequest
from schemory.memory.results import LeftOut, SearchHit, SearchPage, SimilarFound
from schemory.model.frozen import dataclass
from schemory.model.jsonvalue import Json
from schemory.tools.memory_bench import (
    MemoryBench,
    flag_of,
    optional_text,
    ref_of,
    status_of,
    text_of,
    texts_of,
    whole_of,
)
from schemory.tools.memory_find_specs import NAME
from schemory.tools.memory_fit import Bounds, fitting_reply, shrunk_hit
from schemory.tools.memory_replies import memory_reply, success_data, with_warnings
from schemory.tools.memory_text import DATA_NOTE, hints_text, hit_text, names_text
from schemory.tools.memory_wire import hit_wire, names_wire, present, similar_wire
from schemory.tools.registry import Call, Reply

_EXTRAS: Final = (50, 3)
"""How many names and other things may stand beside the hits; fewer where room is short."""


def search(bench: MemoryBench, call: Call) -> Reply:
    """Return the hits of a search that fit the bounds."""
    given = call.arguments
    request = SearchRequest(
        query=text_of(call, "query"),
        scope=optional_text(call, "scope"),
        topic=optional_text(call, "topic"),
        tags=texts_of(call, "tags"),
        tags_match=str(given.get("tags_match", "all")),
        source_type=optional_text(call, "source_type"),
        status=status_of(call),
        created_after=optional_text(call, "created_after"),
        created_before=optional_text(call, "created_before"),
        mode=str(given.get("mode", "project")),
        limit=whole_of(call, "limit"),
        after=bench.position(call, NAME),
        explain=flag_of(call, "explain"),
    )
    return _answer(bench, call, bench.memory.search(ref_of(call), request))


def _answer(bench: MemoryBench, call: Call, page: SearchPage) -> Reply:
    """Return as many of the page's hits as the bounds allow, the first always."""
    bounds = Bounds(max_bytes=bench.budget, max_chars=whole_of(call, "max_chars") or 0)
    for extras in _EXTRAS:
        answer = _Answer(bench, call, page, extras)
        reply = fitting_reply(page.hits, answer.reply, bounds)
        if bounds.hold(reply):
            return reply
    answer = _Answer(bench, call, page, 0)
    if not page.hits:
        return answer.reply(())
    return answer.only(shrunk_hit(answer.wire(page.hits[0]), answer.only, bounds))


@dataclass(frozen=True, slots=True)
class _Answer:
    """Makes the answer from a page of hits; `extras` = how many of each list beside the hits."""

    bench: MemoryBench
    call: Call
    page: SearchPage
    extras: int

    def wire(self, hit: SearchHit) -> Mapping[str, Json]:
        return hit_wire(hit, with_content=flag_of(self.call, "include_content"))

    def only(self, wire: Mapping[str, Json]) -> Reply:
        """Return the answer with the first hit alone, shown as `wire`."""
        return self._reply(self.page.hits[:1], [wire])

    def reply(self, hits: Sequence[SearchHit]) -> Reply:
        return self._reply(hits, [self.wire(hit) for hit in hits])

    def _reply(self, hits: Sequence[SearchHit], wires: Sequence[Mapping[str, Json]]) -> Reply:
        page = self.page
        data: dict[str, Json] = {"results": list(wires)}
        is_cut = len(hits) < len(page.hits)
        if is_cut or any(
            "omitted" in wire or _is_cut(wire, hit) for wire, hit in zip(wires, hits, strict=True)
        ):
            data["truncated"] = True
        more = hits[-1].position if is_cut else page.more
        if more is not None:
            project_id = page.project.id if page.project else None
            data["next_cursor"] = self.bench.cursor(self.call, NAME, project_id, more)
        data |= self._beside()
        return memory_reply(success_data(page, data), _page_text(page, data, wires))

    def _beside(self) -> dict[str, Json]:
        page, most = self.page, self.extras
        data: dict[str, Json] = {}
        if page.hint is not None:
            data["hint"] = page.hint
            data["scopes"] = names_wire(page.scopes[:most])
            data["topics"] = names_wire(page.topics[:most])
        if flag_of(self.call, "explain"):
            data["left_out"] = [_left_out_wire(each) for each in page.left_out[:most]]
            data["ignored_words"] = list(page.dropped[:most])
        if page.project is None:
            data["projects_searched"] = page.projects_searched
        return data


def _is_cut(wire: Mapping[str, Json], hit: SearchHit) -> bool:
    return wire["snippet"] != hit.snippet


def _page_text(
    page: SearchPage, data: Mapping[str, Json], wires: Sequence[Mapping[str, Json]]
) -> str:
    where = f"project {page.project.id}" if page.project else "all projects"
    if not wires:
        text = f"0 entries in {where}."
        text += f" {page.hint}" if page.hint else ""
        for key in ("scopes", "topics"):
            names = cast("Sequence[Mapping[str, Json]]", data.get(key) or ())
            if names:
                text += f"\n{key.title()} there are:\n{names_text(names)}"
        return with_warnings("\n".join([text, *_explained(data)]), page.warnings)
    order = "best" if "match" in wires[0] else "newest"
    parts = [f"{_counted(len(wires), order)} in {where}. {DATA_NOTE}"]
    is_cross = page.project is None
    parts += [hit_text(wire, n, with_project=is_cross) for n, wire in enumerate(wires, 1)]
    parts.append(hints_text(wires))
    parts += _explained(data)
    if "next_cursor" in data:
        parts.append(f"More: call again with cursor {data['next_cursor']}")
    return with_warnings("\n".join(parts), page.warnings)


def _explained(data: Mapping[str, Json]) -> list[str]:
    """Return lines on what a search left out and ignored, where it was asked to explain."""
    left_out = cast("Sequence[Mapping[str, str]]", data.get("left_out") or ())
    ignored = cast("Sequence[str]", data.get("ignored_words") or ())
    lines = [
        f"Left out: {each['entry_id']} ({each['status']}"
        + (f", a copy of {each['of']})" if "of" in each else ")")
        for each in left_out
    ]
    return [*lines, f"Words that were not searched for: {', '.join(ignored)}"] if ignored else lines


def _counted(number: int, order: str) -> str:
    return "1 entry" if number == 1 else f"{number} entries, {order} first,"


def _left_out_wire(each: LeftOut) -> dict[str, Json]:
    return present(
        {
            "entry_id": each.entry_id,
            "reason": each.reason,
            "status": each.status.value,
            "of": each.of,
        }
    )


def find_similar(bench: MemoryBench, call: Call) -> Reply:
    """List the entries that say nearly the same."""
    request = SimilarRequest(
        entry_id=optional_text(call, "entry_id"),
        text=optional_text(call, "text"),
        status=status_of(call),
        limit=whole_of(call, "limit"),
    )
    found = bench.memory.find_similar(ref_of(call), request)
    wires = [similar_wire(each) for each in found.results]
    return fitting_reply(
        wires, lambda kept: _similar_reply(found, kept), Bounds(max_bytes=bench.budget)
    )


def _similar_reply(found: SimilarFound, wires: Sequence[Mapping[str, Json]]) -> Reply:
    data: dict[str, Json] = {"results": list(wires)}
    if len(wires) < len(found.results):
        data["truncated"] = True
    if not wires:
        text = "No similar entries."
    else:
        hits = [hit_text(wire, number) for number, wire in enumerate(wires, 1)]
        said = "1 similar entry" if len(wires) == 1 else f"{len(wires)} similar entries"
        text = "\n".join([f"{said}. {DATA_NOTE}", *hits])
    return memory_reply(success_data(found, data), with_warnings(text, found.warnings))
