"""What `supersedes` does to the entry it points to, and how that is taken back (memory.md §5)."""

from collections.abc import Iterable, Iterator

from schemory.model.entry import Entry, Link, Relation, Status
from schemory.model.frozen import replace
from schemory.storage.memory_protocols import MemoryReader, MemoryTransaction

_ALL_LINKS = 1_000_000_000
_LOOKED_BACK = 1_000


def superseders(reader: MemoryReader, entry_id: str, *, without: str = "") -> tuple[str, ...]:
    """Return the entries that supersede this one, in the order of their links."""
    links = _supersedes(reader, [entry_id], "in")
    return tuple(link.source_entry_id for link in links if link.source_entry_id != without)


def last_successors(reader: MemoryReader, entry_id: str) -> tuple[str, ...]:
    """Return who supersedes an entry, directly, and behind them those that nobody supersedes."""
    direct = superseders(reader, entry_id)
    seen = {entry_id, *direct}
    ends: dict[str, None] = {}
    wave = list(direct)
    while wave:
        above = _by_target(reader, wave)
        ends.update(dict.fromkeys(one for one in wave if one not in above))
        wave = [one for ones in above.values() for one in ones if one not in seen]
        seen.update(wave)
    return tuple(dict.fromkeys([*direct, *ends]))


def would_turn_in_circle(reader: MemoryReader, source: str, target: str) -> bool:
    """Return whether `target` supersedes `source` already, directly or through others."""
    seen = {target}
    wave = [target]
    while wave:
        if source in seen:
            return True
        reached = (link.target_entry_id for link in _supersedes(reader, wave, "out"))
        wave = [one for one in dict.fromkeys(reached) if one not in seen]
        seen.update(wave)
    return source in seen


def retire(tx: MemoryTransaction, entry: Entry) -> Entry:
    """Set an entry superseded; returns it as it stands then."""
    if entry.status is Status.SUPERSEDED:
        return entry
    after = replace(entry, status=Status.SUPERSEDED, revision=entry.revision + 1, updated_at=tx.now)
    tx.update_entries([after])
    return after


def give_back(tx: MemoryTransaction, entry_id: str, *, without: str) -> Entry | None:
    """Give an entry the status back that it had before it was superseded.

    Nothing happens when its status has changed since, or another entry than `without` supersedes
    it. Returns the entry as it stands then; None = nothing was changed.
    """
    entry = tx.find_entries([entry_id]).get(entry_id)
    if entry is None or entry.status is not Status.SUPERSEDED:
        return None
    if superseders(tx, entry_id, without=without):
        return None
    after = replace(
        entry,
        status=_status_before(tx, entry_id),
        revision=entry.revision + 1,
        updated_at=tx.now,
    )
    tx.update_entries([after])
    return after


def _status_before(reader: MemoryReader, entry_id: str) -> Status:
    """Return the last other status an entry had; an imported one may have no past: active."""
    past = reader.list_earlier_texts(entry_id, limit=_LOOKED_BACK)
    statuses = (earlier.entry.status for earlier in past)
    return next((s for s in statuses if s is not Status.SUPERSEDED), Status.ACTIVE)


def _by_target(reader: MemoryReader, ids: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for link in _supersedes(reader, list(ids), "in"):
        found.setdefault(link.target_entry_id, []).append(link.source_entry_id)
    return found


def _supersedes(reader: MemoryReader, ids: list[str], direction: str) -> Iterator[Link]:
    links = reader.list_links(ids, direction=direction, limit=_ALL_LINKS)
    return (link for link in links if link.relation is Relation.SUPERSEDES)
