"""Find what is stored and looks like a credential; tells places and counts, never the text."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from schemory.model.entry import Entry
from schemory.model.frozen import dataclass
from schemory.model.node import NodeRecord
from schemory.safety.secrets import find_secrets
from schemory.storage.keeping import Finding, Progress, Severity, unheard
from schemory.storage.memory_protocols import EntryFilter, MemoryStore
from schemory.storage.protocols import GraphReader, GraphStore, KeptLine, Position
from schemory.transfer.walk import GraphWalk

_PAGE: Final = 500
_SHOWN: Final = 10


@dataclass(frozen=True, slots=True)
class _Spot:
    rule: str
    place: str


def find_in_graph(store: GraphStore, progress: Progress = unheard) -> tuple[Finding, ...]:
    """Return a finding when lines of the graph look like they hold a credential.

    By the precise rules, as writes are checked.
    """
    spots: list[_Spot] = []
    done = 0
    for space in store.spaces():
        with store.read(space) as reader:
            for record in GraphWalk(reader).nodes():
                spots += _in_node(record, space)
                done += 1
                progress(done, None, "looking for credentials in the graph")
            for number, kept in _kept_lines(reader):
                spots += _spots(kept.text, f"{space}: kept line {number}", precise_only=True)
    step = "Replace the credential where it is valid, then `schemory purge NODE` removes the text."
    return _told("secrets.graph", "line(s) of the graph", spots, step)


def _kept_lines(reader: GraphReader) -> Iterator[tuple[int, KeptLine]]:
    after = 0
    while page := reader.list_kept(after=after, limit=_PAGE):
        yield from page
        after = page[-1][0]


def _in_node(record: NodeRecord, space: str) -> Iterator[_Spot]:
    in_name = list(_spots(record.name, f"{space}: name of node {record.id}", precise_only=True))
    yield from in_name
    who = f"node {record.id}" if in_name else f'"{record.name}"'
    for number, line in enumerate(record.node.metadata, start=1):
        yield from _spots(line, f"{space}: {who} line {number}", precise_only=True)


def find_in_memory(store: MemoryStore, progress: Progress = unheard) -> tuple[Finding, ...]:
    """Return a finding when entries look like they hold a credential, by the rules of writes."""
    spots: list[_Spot] = []
    done = 0
    for project_id in _all_projects(store):
        for entry in _all_entries(store, project_id):
            spots += _in_entry(entry, project_id)
            done += 1
            progress(done, None, "looking for credentials in the memory")
    step = "Replace the credential where it is valid, then delete the entry by its id."
    return _told("secrets.memory", "text(s) of the memory", spots, step)


def _all_projects(store: MemoryStore) -> Iterator[str]:
    after = ""
    while page := store.list_projects(after=after, limit=_PAGE):
        yield from (project.id for project in page)
        after = page[-1].id


def _all_entries(store: MemoryStore, project_id: str) -> Iterator[Entry]:
    after: Position | None = None
    with store.read_memory(project_id) as reader:
        while True:
            page = reader.list_entries(EntryFilter(), order="id", after=after, limit=_PAGE)
            yield from (hit.entry for hit in page.hits)
            after = page.more
            if after is None:
                return


def _in_entry(entry: Entry, project_id: str) -> Iterator[_Spot]:
    for field in ("title", "content", "summary"):
        text: str | None = getattr(entry, field)
        place = f"{project_id}: entry {entry.id} {field}"
        yield from _spots(text or "", place, precise_only=False)


def _spots(text: str, place: str, *, precise_only: bool) -> Iterator[_Spot]:
    for found in find_secrets(text, precise_only=precise_only):
        yield _Spot(found.rule, place)


def _told(code: str, what: str, spots: Iterable[_Spot], step: str) -> tuple[Finding, ...]:
    places = Counter(f"{spot.place} ({spot.rule})" for spot in spots)
    if not places:
        return ()
    shown = ", ".join(list(places)[:_SHOWN])
    more = f" and {len(places) - _SHOWN} more" if len(places) > _SHOWN else ""
    return (
        Finding(
            code=code,
            severity=Severity.WARNING,
            what=f"{len(places)} {what} look like they hold a credential: {shown}{more}",
            next_step=step,
        ),
    )
