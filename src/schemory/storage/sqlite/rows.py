"""Rows of the database to records and back; the only place that knows their column order."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from json.encoder import encode_basestring

from schemory.hints import TYPE_CHECKING
from schemory.model.edge import Edge, EdgeRecord
from schemory.model.jsonvalue import Json, compact
from schemory.model.node import Node, NodeRecord, TypedValue
from schemory.model.text import is_utf8, twin_key
from schemory.storage.sqlite.index_text import parse_lines

if TYPE_CHECKING:
    from typing import Any, TypeAlias

Row: TypeAlias = "tuple[Any, ...]"
"""A row as apsw hands it out: its types are the columns'."""


def node_record(row: Row) -> NodeRecord:
    """Return the record of a row of the view `graph_nodes`."""
    identity, name, node_type, metadata, typed, extra, created, updated, revision, who, _, _ = row
    return NodeRecord(
        id=identity,
        node=Node(name, node_type, parse_lines(metadata)),
        typed=typed_values(json.loads(typed)) if typed else (),
        extra=json.loads(extra) if extra else {},
        created_at=created,
        updated_at=updated,
        revision=revision,
        author=who,
    )


def edge_record(row: Row) -> EdgeRecord:
    """Return the record of a row of the view `graph_edges`."""
    (
        identity,
        from_id,
        to_id,
        from_name,
        to_name,
        edge_type,
        weight,
        prop,
        extra,
        created,
        updated,
        revision,
        author,
        _,  # since
        _,  # project
    ) = row
    return EdgeRecord(
        id=identity,
        from_id=from_id,
        to_id=to_id,
        edge=Edge(from_name, to_name, edge_type, weight),
        property_name=prop,
        extra=json.loads(extra) if extra else {},
        created_at=created,
        updated_at=updated,
        revision=revision,
        author=author,
    )


def typed_values(items: Iterable[Mapping[str, Any]]) -> tuple[TypedValue, ...]:
    """Return the typed values of a parsed `typed` column."""
    return tuple(
        TypedValue(property_name=item["property"], line=item["line"], value=item["value"])
        for item in items
    )


def typed_text(values: Sequence[TypedValue], seq: int, *, before: str | None = None) -> str | None:
    """Return typed values as a `typed` column; a value that stood before keeps its `since`."""
    if not values:
        return None
    since = {
        (item["property"], item["line"], compact(item["value"])): item["since"]
        for item in (json.loads(before) if before else ())
    }
    return compact(
        [
            {
                "property": item.property_name,
                "line": item.line,
                "value": item.value,
                "since": since.get((item.property_name, item.line, compact(item.value)), seq),
            }
            for item in values
        ]
    )


def lines_text(lines: Sequence[str]) -> str:
    """Return metadata lines as a `metadata` column."""
    return f"[{','.join(map(encode_basestring, lines))}]"


def extra_text(extra: Mapping[str, Json]) -> str | None:
    """Return foreign fields as an `extra` column; None when there are none."""
    return compact(dict(extra)) if extra else None


def twin_hash(name: str) -> int:
    """Return a signed 64-bit hash of the name's twin key; equal keys have equal hashes."""
    import hashlib  # noqa: PLC0415 (reading needs none)

    digest = hashlib.blake2b(twin_key(name).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def text_digest(text: str) -> bytes:
    """Return the SHA-256 of a text, by which kept lines are unique."""
    import hashlib  # noqa: PLC0415 (as above)

    return hashlib.sha256(text.encode()).digest()


is_storable = is_utf8
"""Whether a text can be in the database at all: one with a lone surrogate cannot."""


def storable(texts: Iterable[str]) -> list[str]:
    """Return the distinct texts that can be in the database, in order."""
    return [text for text in dict.fromkeys(texts) if is_storable(text)]


def text_ids(ids: Iterable[str]) -> list[str]:
    """Return the distinct ids that can be stored; a NUL would cut a text short on its way."""
    return [text for text in storable(ids) if "\0" not in text]
