"""Recognise what a JSON value of a graph file is, in any dialect, and take it over as a record.

The seed's and the old server's dialect (`type: node|edge`, `nodeType`, `metadata`, `edgeType`), the
official memory server's (`type: entity|relation`, `entityType`, `observations`, `relationType`) and
what users and forks made of both: `_type`, no type at all, relations nested in an entity, entries
that are objects, a whole file as one object with lists of records.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from schemory.model.edge import IMPORTED, Edge
from schemory.model.jsonvalue import Json, compact
from schemory.model.lines.beside import BESIDE_KEY, Beside, read_beside
from schemory.model.lines.claims import read_claims
from schemory.model.lines.plain import PlainReader
from schemory.model.lines.records import (
    UNKNOWN_TYPE,
    Claims,
    Dialect,
    EdgeLine,
    Fault,
    FaultKind,
    NodeLine,
    OtherLine,
    Place,
    Record,
)
from schemory.model.lines.scan import Unreadable, Value
from schemory.model.node import Node
from schemory.model.text import nfc, text_fault
from schemory.model.weight import DEFAULT_WEIGHT

KIND_KEYS: Final = ("type", "_type")
NODE_KINDS: Final = frozenset({"node", "entity"})
EDGE_KINDS: Final = frozenset({"edge", "relation"})
NODE_TYPE_KEYS: Final = ("nodeType", "entityType")
ENTRY_KEYS: Final = ("metadata", "observations")
EDGE_TYPE_KEYS: Final = ("edgeType", "relationType")
NESTED_KEYS: Final = ("relations", "edges")
OBJECTS_KEY: Final = "observations"
"""Where a node's `extra` holds those of its entries that were objects."""

_OFFICIAL_KINDS: Final = frozenset({"entity", "relation"})
_OFFICIAL_KEYS: Final = ("entityType", "observations", "relationType")
_NODE_LISTS: Final = ("entities", "nodes")
_EDGE_LISTS: Final = ("relations", "edges")
_TEXT_KEYS: Final = ("text", "content", "observation", "value")
_MAX_DEPTH: Final = 60


class _Unfit(Exception):  # noqa: N818 (a private jump out of a record, never seen outside)
    """The record at hand cannot be taken; the message says why."""

    def __init__(self, reason: str, kind: FaultKind = FaultKind.RECORD) -> None:
        super().__init__(reason)
        self.reason = reason
        self.kind = kind


def read_piece(piece: Value | Unreadable) -> Iterator[Record]:
    """Yield the records of one piece: one, or the many that a whole-file object lists."""
    if isinstance(piece, Unreadable):
        kind = FaultKind.CONFLICT if piece.is_conflict else FaultKind.SYNTAX
        yield Fault(piece.line, piece.text, piece.reason, kind)
    elif not isinstance(piece.value, dict):
        yield Fault(piece.line, piece.text, "is not a JSON object", FaultKind.SYNTAX)
    elif is_container(piece.value):
        yield from _read_container(piece.line, piece.value)
    else:
        yield read_object(Place(piece.line, piece.text), piece.value)


def read_object(place: Place, found: Mapping[str, Json]) -> Record:
    """Return the record that one object is."""
    plain = PlainReader().read(place, found)
    if plain is not None:
        return plain
    kind = kind_of(found)
    if kind is None:
        return OtherLine(place.line, one_line(place.text, found))
    try:
        if kind == "node":
            return read_node(place, found)
        return read_edge(place, found)
    except _Unfit as unfit:
        where = f"({place.inside}) " if place.inside else ""
        return Fault(place.line, place.text, where + unfit.reason, unfit.kind, is_graph=True)


def kind_of(found: Mapping[str, Json]) -> str | None:
    """Return `node` or `edge` by the type the object states, else by its keys; else None."""
    is_stated = False
    for key in KIND_KEYS:
        word = found.get(key)
        if isinstance(word, str):
            is_stated = True
            kind = _kind_named(word)
            if kind is not None:
                return kind
    if is_stated:
        return None
    if "name" in found and any(key in found for key in (*NODE_TYPE_KEYS, *ENTRY_KEYS)):
        return "node"
    if "from" in found and "to" in found and any(key in found for key in EDGE_TYPE_KEYS):
        return "edge"
    return None


def _kind_named(word: Json) -> str | None:
    if word in NODE_KINDS:
        return "node"
    return "edge" if word in EDGE_KINDS else None


def kind_key_of(found: Mapping[str, Json]) -> str | None:
    """Return the key under which a node or edge states its kind; None = it does not."""
    return next(_kind_keys(found), None)


def dialect_of(found: Mapping[str, Json]) -> Dialect:
    """Return whose words a node or edge uses."""
    if any(key in found for key in _OFFICIAL_KEYS):
        return Dialect.OFFICIAL
    key = kind_key_of(found)
    is_official = key is not None and found[key] in _OFFICIAL_KINDS
    return Dialect.OFFICIAL if is_official else Dialect.SEED


def is_container(found: Mapping[str, Json]) -> bool:
    """Whether an object is an entire graph: it is no record and has lists of records."""
    if "name" in found or "from" in found or kind_of(found) is not None:
        return False
    lists = (found.get(key) for key in (*_NODE_LISTS, *_EDGE_LISTS))
    return any(isinstance(items, list) and _has_objects(items) for items in lists)


def _has_objects(items: Sequence[Json]) -> bool:
    return any(isinstance(item, dict) for item in items)


def _read_container(line: int, found: Mapping[str, Json]) -> Iterator[Record]:
    rest: dict[str, Json] = {}
    for key, items in found.items():
        if isinstance(items, list) and key in _NODE_LISTS:
            yield from _read_list(line, key, items, kind="node")
        elif isinstance(items, list) and key in _EDGE_LISTS:
            yield from _read_list(line, key, items, kind="edge")
        else:
            rest[key] = items
    if rest:
        yield OtherLine(line, one_line("", rest))


def _read_list(line: int, key: str, items: Sequence[Json], *, kind: str) -> Iterator[Record]:
    for at, item in enumerate(items):
        inside = f"{key}[{at}]"
        place = Place(line, one_line("", item), inside)
        if not isinstance(item, dict):
            yield Fault(line, place.text, f"({inside}) is not a JSON object", FaultKind.SYNTAX)
            continue
        # The list says what it holds, so `type` may be the type of the node or edge itself.
        stated = item.get("type")
        own_type = isinstance(stated, str) and _kind_named(stated) is None
        type_keys = NODE_TYPE_KEYS if kind == "node" else EDGE_TYPE_KEYS
        known = {"type": kind, **{k: v for k, v in item.items() if k not in KIND_KEYS}}
        if own_type and not any(k in item for k in type_keys):
            known[type_keys[0]] = stated
        yield read_object(place, known)


def read_node(place: Place, found: Mapping[str, Json]) -> NodeLine:
    """Return the node that `found` is."""
    name = _identity(found, "name")
    type_key, node_type = _first(found, NODE_TYPE_KEYS)
    has_type = not (node_type is None or (isinstance(node_type, str) and not node_type.strip()))
    entries, objects, entry_keys = _entries(found)
    nested, nested_key = _nested(place, name, found)
    claims, claim_keys = read_claims(found)
    used = {"name", type_key, nested_key, BESIDE_KEY, *entry_keys, *claim_keys, *_kind_keys(found)}
    extra = {key: value for key, value in found.items() if key not in used}
    if objects:
        extra[OBJECTS_KEY] = objects
    beside = read_beside(found.get(BESIDE_KEY), entries)
    extra.update(beside.extra)
    _check_extra(extra)
    return NodeLine(
        line=place.line,
        text=place.text,
        node=Node(name, _identity(found, type_key) if has_type else UNKNOWN_TYPE, entries),
        typed=beside.typed,
        extra=extra,
        claims=_newer_claims(claims, beside),
        nested=nested,
        has_type=has_type,
    )


def read_edge(
    place: Place, found: Mapping[str, Json], *, owner: str | None = None, is_nested: bool = False
) -> EdgeLine:
    """Return the edge that `found` is; `owner` is the from-node where it names none."""
    from_name = owner if owner is not None and "from" not in found else _identity(found, "from")
    type_key, stated = _first(found, EDGE_TYPE_KEYS)
    if stated is None:
        raise _Unfit(f"has no {EDGE_TYPE_KEYS[0]} (or {EDGE_TYPE_KEYS[1]})")
    edge = Edge(from_name, _identity(found, "to"), _identity(found, type_key), _weight(found))
    claims, claim_keys = read_claims(found)
    used = {"from", "to", type_key, "weight", BESIDE_KEY, *claim_keys, *_kind_keys(found)}
    extra = {key: value for key, value in found.items() if key not in used}
    beside = read_beside(found.get(BESIDE_KEY), ())
    extra.update(beside.extra)
    _check_extra(extra)
    return EdgeLine(
        line=place.line,
        text=place.text,
        edge=edge,
        extra=extra,
        property_name=beside.property_name if beside.has_origin else IMPORTED,
        claims=_newer_claims(claims, beside),
        is_nested=is_nested,
    )


def _newer_claims(claims: Claims, beside: Beside) -> Claims:
    """Our own note of the dates is exact, so it goes before a foreign field."""
    if beside.claims.latest is None:
        return claims
    return Claims(
        created=beside.claims.created or claims.created,
        updated=beside.claims.updated or claims.updated,
        version=claims.version,
        latest=beside.claims.latest,
    )


def _kind_keys(found: Mapping[str, Json]) -> Iterator[str]:
    for key in KIND_KEYS:
        word = found.get(key)
        if isinstance(word, str) and _kind_named(word):
            yield key


def _first(found: Mapping[str, Json], keys: Sequence[str]) -> tuple[str, Json]:
    """Return the first of `keys` that says something, with its value."""
    for key in keys:
        if found.get(key) is not None:
            return key, found[key]
    return keys[0], None


def _identity(found: Mapping[str, Json], key: str) -> str:
    """Return a name or type: any text that can be stored and is not blank, NFC."""
    value = found.get(key)
    if value is None:
        raise _Unfit(f"has no {key}")
    if not isinstance(value, str):
        raise _Unfit(f"{key} must be text")
    if not value.strip():
        raise _Unfit(f"{key} is blank")
    fault = text_fault(value)
    if fault:
        raise _Unfit(f"{key} {fault}")
    return value if value.isascii() else nfc(value)


def _weight(found: Mapping[str, Json]) -> float:
    value = found.get("weight")
    if value is None:
        return DEFAULT_WEIGHT
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _Unfit("weight must be a number from 0 to 1", FaultKind.WEIGHT)
    try:
        return float(value)
    except OverflowError:
        raise _Unfit("weight is out of all bounds", FaultKind.WEIGHT) from None


def _entries(found: Mapping[str, Json]) -> tuple[tuple[str, ...], list[Json], list[str]]:
    """Return the metadata entries, those of them that were objects, and the keys used up."""
    texts: list[str] = []
    objects: list[Json] = []
    used: list[str] = []
    for key in ENTRY_KEYS:
        if key not in found:
            continue
        used.append(key)
        value = found[key]
        items = value if isinstance(value, list) else [] if value is None else [value]
        for at, item in enumerate(items):
            text = _entry_text(item, f"{key}[{at}]")
            texts.append(text)
            if isinstance(item, dict):
                objects.append(item)
    return tuple(texts), objects, used


def _entry_text(item: Json, where: str) -> str:
    text = entry_text(item)
    if text is None:
        raise _Unfit(f"{where} must be text (or an object with a text)")
    fault = text_fault(text)
    if fault:
        raise _Unfit(f"{where} {fault}")
    return text


def entry_text(item: Json) -> str | None:
    """Return the text of a metadata entry: a text, a number, or an object that has one; or None."""
    if isinstance(item, str):
        return item
    if isinstance(item, dict):
        return next((text for k in _TEXT_KEYS if isinstance(text := item.get(k), str)), None)
    return compact(item) if isinstance(item, bool | int | float) else None


def _nested(
    place: Place, name: str, found: Mapping[str, Json]
) -> tuple[tuple[EdgeLine | Fault, ...], str | None]:
    """Return the relations inside a node's record and the key they stand under."""
    key = nested_key(found)
    items = enumerate(nested_items(found))
    return tuple(read_nested(place.line, name, item, f"{key}[{at}]") for at, item in items), key


def nested_key(found: Mapping[str, Json]) -> str | None:
    """Return the key under which a node's record has relations, or None."""
    for key in NESTED_KEYS:
        items = found.get(key)
        if isinstance(items, list) and all(isinstance(item, dict) for item in items):
            return key
    return None


def nested_items(found: Mapping[str, Json]) -> list[Mapping[str, Json]]:
    """Return the relations inside a node's record as they stand there."""
    key = nested_key(found)
    items = found[key] if key else None
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def plain_nested(item: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return a nested relation with its type under a type key, not under `type`."""
    own_type = item.get("type")
    if not isinstance(own_type, str):
        return item
    rest = {key: value for key, value in item.items() if key != "type"}
    if _kind_named(own_type) or any(key in item for key in EDGE_TYPE_KEYS):
        return rest
    return {EDGE_TYPE_KEYS[1]: own_type, **rest}


def promoted(item: Mapping[str, Json], owner: str) -> dict[str, Json]:
    """Return a nested relation as a record of its own."""
    return {"type": "relation", "from": owner, **plain_nested(item)}


def read_nested(
    line: int, owner: str, item: Mapping[str, Json], inside: str = ""
) -> EdgeLine | Fault:
    """Return the edge that a relation inside the record of node `owner` is."""
    text = one_line("", promoted(item, owner))
    try:
        return read_edge(Place(line, text), plain_nested(item), owner=owner, is_nested=True)
    except _Unfit as unfit:
        reason = f"({inside}) {unfit.reason}"
        return Fault(line, text, reason, unfit.kind, is_graph=True)


def one_line(text: str, value: Json) -> str:
    """Return a record's own text if it is on one line, else its value as one line of JSON."""
    if text and "\n" not in text:
        return text
    plain = compact(value)
    try:
        plain.encode()
    except UnicodeEncodeError:
        # Lone surrogates exist in JSON only as escapes, so they are written as such.
        return json.dumps(value, separators=(",", ":"), allow_nan=False)
    return plain


def _check_extra(extra: Mapping[str, Json]) -> None:
    """Refuse what could not be stored: forbidden characters in any text, endless nesting."""
    for key, value in extra.items():
        reason = text_fault(key) or _value_fault(value, 0)
        if reason:
            raise _Unfit(f"the field {key!a} {reason}")


def _value_fault(value: Json, depth: int) -> str | None:
    if isinstance(value, str):
        return text_fault(value)
    if not isinstance(value, dict | list):
        return None
    if depth > _MAX_DEPTH:
        return "is nested too deeply"
    inner = [*value, *value.values()] if isinstance(value, dict) else value
    return next((fault for item in inner if (fault := _value_fault(item, depth + 1))), None)
