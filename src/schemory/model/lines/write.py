"""Say a node or an edge in a dialect: fresh lines, and lines of a file brought up to date.

A line that is brought up to date keeps its keys, their order and everything we don't know about.
What a line's own words can't say goes under `_schemory`, and only that.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from schemory.model.edge import IMPORTED, Edge, EdgeRecord
from schemory.model.jsonvalue import Json, plain_number
from schemory.model.lines.beside import BESIDE_KEY, typed_items
from schemory.model.lines.claims import UPDATED_KEYS, parse_moment, same_form
from schemory.model.lines.read import (
    EDGE_TYPE_KEYS,
    ENTRY_KEYS,
    NODE_TYPE_KEYS,
    OBJECTS_KEY,
    dialect_of,
    entry_text,
    nested_key,
    read_edge,
    read_node,
)
from schemory.model.lines.records import NO_CLAIMS, Claims, Dialect, Place
from schemory.model.moment import moment_text
from schemory.model.node import Node, NodeRecord

_NOWHERE: Final = Place(0, "-")
_MISSING: Final = object()


class Style(NamedTuple):
    """How a line's JSON is spelt: with blanks after `,` and `:`, non-ASCII escaped or raw."""

    is_spaced: bool = False
    is_ascii: bool = False


COMPACT: Final = Style()
_ENCODERS: Final = {
    style: json.JSONEncoder(
        ensure_ascii=style.is_ascii,
        separators=(", ", ": ") if style.is_spaced else (",", ":"),
        allow_nan=False,
    ).encode
    for style in (Style(a, b) for a in (False, True) for b in (False, True))
}


def render(found: Mapping[str, Json], style: Style = COMPACT) -> str:
    """Return an object as one line of JSON, without a line end."""
    return _ENCODERS[style](found)


def style_of(text: str, found: Mapping[str, Json]) -> Style:
    """Return the style in which `text` spells `found`; compact where none fits exactly.

    >>> style_of('{"a": 1, "b": "x"}', {"a": 1, "b": "x"})
    Style(is_spaced=True, is_ascii=False)
    """
    return next((style for style in _ENCODERS if render(found, style) == text), COMPACT)


def node_object(node: Node, dialect: Dialect = Dialect.SEED) -> dict[str, Json]:
    """Return a node in a dialect's own words; source of the seed's order of keys: G§2.4."""
    if dialect is Dialect.OFFICIAL:
        words = ("entity", "entityType", "observations")
    else:
        words = ("node", "nodeType", "metadata")
    kind, type_key, entries_key = words
    return {
        "type": kind,
        "name": node.name,
        type_key: node.node_type,
        entries_key: list(node.metadata),
    }


def edge_object(edge: Edge, dialect: Dialect = Dialect.SEED) -> dict[str, Json]:
    """Return an edge in a dialect's own words; the official one states a weight only if not 1."""
    ends: dict[str, Json] = {"from": edge.from_name, "to": edge.to_name}
    if dialect is Dialect.SEED:
        weight = plain_number(edge.weight)
        return {"type": "edge", **ends, "edgeType": edge.edge_type, "weight": weight}
    found: dict[str, Json] = {"type": "relation", **ends, "relationType": edge.edge_type}
    if edge.weight != 1.0:
        found["weight"] = plain_number(edge.weight)
    return found


def full_node(record: NodeRecord, dialect: Dialect = Dialect.SEED) -> dict[str, Json]:
    """Return a fresh line for a node with all that is known about it."""
    found = node_object(record.node, dialect)
    _add_beside(found, _node_beside(record, record.extra, NO_CLAIMS, is_dated=True))
    return found


def full_edge(record: EdgeRecord, dialect: Dialect = Dialect.SEED) -> dict[str, Json]:
    """Return a fresh line for an edge with all that is known about it."""
    found = edge_object(record.edge, dialect)
    _add_beside(found, _edge_beside(record, record.extra, NO_CLAIMS, is_dated=True))
    return found


def revise_node(found: Mapping[str, Json], record: NodeRecord) -> dict[str, Json]:
    """Return the line `found` of a node brought up to date with its stored state.

    Relations nested in it stay as they are. A line that claims no time of its making gets none.
    """
    said = read_node(_NOWHERE, found)
    new = {key: value for key, value in found.items() if key != BESIDE_KEY}
    if said.node.name != record.name:
        new["name"] = record.name
    if said.node.node_type != record.node.node_type:
        _set_first(new, NODE_TYPE_KEYS, record.node.node_type, found)
    objects = record.extra.get(OBJECTS_KEY)
    if said.node.metadata != record.node.metadata or said.extra.get(OBJECTS_KEY) != objects:
        _set_entries(new, _entries(record.node.metadata, objects), found)
    _revise_extra(new, read_node(_NOWHERE, new).extra, record.extra)
    _revise_dates(new, record.updated_at)
    now_said = read_node(_NOWHERE, new)
    more = {k: v for k, v in record.extra.items() if now_said.extra.get(k, _MISSING) != v}
    is_dated = said.claims.created is not None
    _add_beside(new, _node_beside(record, more, now_said.claims, is_dated=is_dated))
    return new


def revise_edge(
    found: Mapping[str, Json], record: EdgeRecord, *, owner: str | None = None
) -> dict[str, Json]:
    """Return the line `found` of an edge (nested in the node `owner`) brought up to date."""
    said = read_edge(_NOWHERE, found, owner=owner)
    new = {key: value for key, value in found.items() if key != BESIDE_KEY}
    if said.edge.from_name != record.edge.from_name:
        new["from"] = record.edge.from_name
    if said.edge.to_name != record.edge.to_name:
        new["to"] = record.edge.to_name
    if said.edge.edge_type != record.edge.edge_type:
        _set_first(new, EDGE_TYPE_KEYS, record.edge.edge_type, found)
    if said.edge.weight != record.edge.weight:
        new["weight"] = plain_number(record.edge.weight)
    _revise_extra(new, read_edge(_NOWHERE, new, owner=owner).extra, record.extra)
    _revise_dates(new, record.updated_at)
    now_said = read_edge(_NOWHERE, new, owner=owner)
    more = {k: v for k, v in record.extra.items() if now_said.extra.get(k, _MISSING) != v}
    is_dated = said.claims.created is not None
    _add_beside(new, _edge_beside(record, more, now_said.claims, is_dated=is_dated))
    return new


def replace_nested(
    found: Mapping[str, Json], items: Sequence[Mapping[str, Json]]
) -> dict[str, Json]:
    """Return a node's line with other relations inside."""
    key = nested_key(found)
    return {**found, key: list(items)} if key else dict(found)


def _set_first(
    new: dict[str, Json], keys: Sequence[str], value: str, found: Mapping[str, Json]
) -> None:
    """Put `value` under the key that counts, or under the dialect's own."""
    used = next((key for key in keys if new.get(key) is not None), None)
    new[used or keys[dialect_of(found) is Dialect.OFFICIAL]] = value


def _set_entries(new: dict[str, Json], entries: list[Json], found: Mapping[str, Json]) -> None:
    used = [key for key in ENTRY_KEYS if key in new]
    new[used[0] if used else ENTRY_KEYS[dialect_of(found) is Dialect.OFFICIAL]] = entries
    for key in used[1:]:
        del new[key]


def _entries(metadata: Sequence[str], objects: Json) -> list[Json]:
    """Return the entries, each as the object that the file had for its text, else as text."""
    waiting: dict[str, list[Json]] = {}
    if isinstance(objects, list):
        for item in objects:
            waiting.setdefault(entry_text(item) or "", []).append(item)
    return [waiting[text].pop(0) if waiting.get(text) else text for text in metadata]


def _revise_extra(
    new: dict[str, Json], own: Mapping[str, Json], wanted: Mapping[str, Json]
) -> None:
    """Bring the line's `own` further fields to what is wanted; what it lacks goes beside."""
    for key in own:
        if key == OBJECTS_KEY:
            continue
        if key not in wanted:
            del new[key]
        else:
            new[key] = wanted[key]


def _revise_dates(new: dict[str, Json], updated_at: str) -> None:
    """Refresh the line's own field for the last change, in its own form."""
    for key in UPDATED_KEYS:
        moment = parse_moment(new.get(key))
        if moment is not None:
            if moment_text(moment) != updated_at:
                new[key] = same_form(new[key], updated_at)
            return


def _node_beside(
    record: NodeRecord, extra: Mapping[str, Json], claims: Claims, *, is_dated: bool
) -> dict[str, Json]:
    more: dict[str, Json] = {}
    if record.typed:
        more["typed"] = typed_items(record.typed, record.node.metadata)
    more |= _date_notes(record.created_at, record.updated_at, claims, is_dated=is_dated)
    if extra:
        more["extra"] = extra
    return more


def _edge_beside(
    record: EdgeRecord, extra: Mapping[str, Json], claims: Claims, *, is_dated: bool
) -> dict[str, Json]:
    more: dict[str, Json] = {}
    if record.property_name != IMPORTED:
        more["property"] = record.property_name
    more |= _date_notes(record.created_at, record.updated_at, claims, is_dated=is_dated)
    if extra:
        more["extra"] = extra
    return more


def _date_notes(created: str, updated: str, claims: Claims, *, is_dated: bool) -> dict[str, Json]:
    """Return the dates that the line's own fields don't tell."""
    notes: dict[str, Json] = {}
    if is_dated and claims.created != created:
        notes["createdAt"] = created
    if (claims.updated or notes.get("createdAt", claims.created)) != updated:
        notes["updatedAt"] = updated
    return notes


def _add_beside(found: dict[str, Json], more: Mapping[str, Json]) -> None:
    if more:
        found[BESIDE_KEY] = more
