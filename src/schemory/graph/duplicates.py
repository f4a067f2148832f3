"""Looks for nodes that may be one thing under two names (graph.md §8)."""

from collections.abc import Iterator, Sequence

from schemory.errors import InvalidCursorError, error_for
from schemory.graph.checks import invalid
from schemory.graph.results import DuplicateGroup, DuplicatesPage
from schemory.model.node import NodeRecord
from schemory.model.text import fold, nfc, twin_key
from schemory.storage.protocols import GraphReader, Position

MAX_CHECKED = 500
"""How many nodes one page looks at."""

LEAST_SIMILARITY = 0.85
"""How alike two names must be; 1.0 is the same."""

_CHUNK = 100
_CANDIDATES = 5


def find_duplicates(
    reader: GraphReader, *, node_type: str | None, limit: int, after: Position | None
) -> DuplicatesPage:
    """Return groups of names, each told at its oldest node, at most about `limit` of them."""
    if limit < 1:
        raise error_for([invalid("$.limit", "limit must be at least 1")])
    types = () if node_type is None else (nfc(node_type),)
    last = _last(after)
    groups: list[DuplicateGroup] = []
    checked = 0
    while True:
        batch = reader.list_nodes(after_id=last, limit=_CHUNK, node_types=types)
        twins = reader.find_twins([record.name for record in batch])
        for record in batch:
            if len(groups) >= limit or checked == MAX_CHECKED:
                return DuplicatesPage(groups=tuple(groups), checked=checked, more=("d", last))
            groups += _groups(reader, record, twins.get(record.name, ()), types)
            checked += 1
            last = record.id
        if len(batch) < _CHUNK:
            return DuplicatesPage(groups=tuple(groups), checked=checked)


def _last(after: Position | None) -> int:
    match after:
        case None:
            return 0
        case ("d", int(last)):
            return last
        case _:
            raise InvalidCursorError("the cursor is not one of this listing")


def _groups(
    reader: GraphReader, record: NodeRecord, twins: Sequence[str], types: Sequence[str]
) -> Iterator[DuplicateGroup]:
    younger = _younger(reader, record, twins, types)
    if younger and len(younger) == len(twins):
        yield DuplicateGroup(names=(record.name, *younger), kind="twin", similarity=1.0)
    near = reader.suggest_names(record.name, _CANDIDATES)
    own = twin_key(record.name)
    others = [name for name in near if twin_key(name) != own]
    for name in _younger(reader, record, others, types):
        similarity = _similarity(record.name, name)
        if similarity >= LEAST_SIMILARITY:
            yield DuplicateGroup(
                names=(record.name, name), kind="similar", similarity=round(similarity, 3)
            )


def _younger(
    reader: GraphReader, record: NodeRecord, names: Sequence[str], types: Sequence[str]
) -> list[str]:
    found = reader.find_nodes(names) if names else {}
    return [
        name
        for name in names
        if name in found
        and found[name].id > record.id
        and (not types or found[name].node.node_type in types)
    ]


def _similarity(one: str, other: str) -> float:
    from difflib import SequenceMatcher  # noqa: PLC0415 (only this question needs it)

    return SequenceMatcher(None, fold(one), fold(other), autojunk=False).ratio()
