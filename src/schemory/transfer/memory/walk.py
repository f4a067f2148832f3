"""What goes into an export, read page by page from one snapshot."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TypeVar

from schemory.model.entry import Entry, Link, Project, Status, Tag
from schemory.model.jsonvalue import Json
from schemory.storage.memory_protocols import EntryFilter, MemoryReader
from schemory.storage.protocols import Position

_PAGE = 100  # entries may have 200 kB each
_LINK_PAGE = 500
_AUDIT_PAGE = 1_000
_ALL_NAMES = 10_000_000

_T = TypeVar("_T")


class MemoryWalk:
    """One project's memory as an export sees it; each part can be walked once.

    Args:
        reader: A snapshot.
        project: What the file says of the project.
        statuses: Which entries are meant.
        advance: Told which share of the entries is done; may raise to stop.

    Attributes:
        entry_count: Entries given so far; `tag_count` and `link_count` likewise.
        left_out: Entries by status that are not asked for.
    """

    def __init__(
        self,
        reader: MemoryReader,
        project: Project,
        statuses: Sequence[Status],
        *,
        advance: Callable[[float], None],
    ) -> None:
        self._reader = reader
        self.project = project
        self._filter = EntryFilter(statuses=tuple(statuses))
        self._advance = advance
        counts = reader.count_statuses()
        self.left_out = {s: n for s, n in counts.items() if n and s not in statuses}
        self._total = sum(counts.values()) - sum(self.left_out.values())
        self.entry_count = self.tag_count = self.link_count = 0

    def pages(self) -> Iterator[tuple[Entry, ...]]:
        """Yield entries by id, a page at a time."""
        after: Position | None = None
        while True:
            self._step()
            page = self._reader.list_entries(self._filter, order="id", after=after, limit=_PAGE)
            if page.hits:
                self.entry_count += len(page.hits)
                yield tuple(hit.entry for hit in page.hits)
            after = page.more
            if after is None:
                return

    def tags(self) -> Iterator[Tag]:
        """Yield tags by name: all of them, or those that entries of the export have."""
        used: set[str] | None = None
        if self.left_out:
            names = self._reader.list_names("tag", self._filter, limit=_ALL_NAMES)
            used = {item.name for item in names}
        for tag in self._reader.list_tags():
            if used is None or tag.name in used:
                self.tag_count += 1
                yield tag

    def links(self) -> Iterator[Link]:
        """Yield links by id whose ends are both in the export."""
        after = ""
        while True:
            self._step()
            page = self._reader.list_links(after_id=after, limit=_LINK_PAGE)
            if not page:
                return
            after = page[-1].id
            yield from self._shown(page)

    def outgoing(self, entries: Sequence[Entry]) -> Mapping[str, list[Link]]:
        """Return the links that go out of these entries, by entry, each by id."""
        found: dict[str, list[Link]] = {}
        ids = [entry.id for entry in entries]
        after = ""
        while True:
            page = self._reader.list_links(ids, direction="out", after_id=after, limit=_LINK_PAGE)
            for link in self._shown(page):
                found.setdefault(link.source_entry_id, []).append(link)
            if len(page) < _LINK_PAGE:
                return found
            after = page[-1].id

    def audit_summary(self) -> dict[str, dict[str, int]]:
        """Return how often each operation ended how, by operation, then outcome."""
        counts: Counter[tuple[str, str]] = Counter()
        after: Position | None = None
        while True:
            page = self._reader.list_audit(after=after, limit=_AUDIT_PAGE)
            counts.update((row.operation, _outcome(row.result)) for row in page.rows)
            after = page.more
            if after is None:
                break
        summary: dict[str, dict[str, int]] = {}
        for (operation, outcome), count in sorted(counts.items()):
            summary.setdefault(operation, {})[outcome] = count
        return summary

    def _shown(self, links: Sequence[Link]) -> Iterator[Link]:
        """Yield those of the links whose ends are both in the export."""
        out = self._ends_left_out(links) if self.left_out else frozenset[str]()
        for link in links:
            if link.source_entry_id not in out and link.target_entry_id not in out:
                self.link_count += 1
                yield link

    def _ends_left_out(self, links: Sequence[Link]) -> frozenset[str]:
        ends = {end for link in links for end in (link.source_entry_id, link.target_entry_id)}
        out: set[str] = set()
        for few in batches(sorted(ends), _PAGE):
            found = self._reader.find_entries(few)
            out.update(i for i, entry in found.items() if entry.status in self.left_out)
        return frozenset(out)

    def _step(self) -> None:
        self._advance(self.entry_count / max(1, self._total))


def batches(items: Sequence[_T] | Iterator[_T], size: int) -> Iterator[list[_T]]:
    """Yield `items` in lists of at most `size`."""
    remaining = iter(items)
    while batch := list(islice(remaining, size)):
        yield batch


def _outcome(result: Mapping[str, Json]) -> str:
    outcome = str(result.get("outcome", "ok"))
    code = result.get("error_code")
    return f"{outcome} {code}" if code else outcome
