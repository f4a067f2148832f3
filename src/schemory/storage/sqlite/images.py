"""Images: one item's complete state as JSON text, as the ledger keeps it from before a change.

An image holds internal ids of other items, never their text, so that purging a node leaves no
trace of it in the images of others.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from typing import Any, TypeAlias

from schemory.model.edge import Edge, EdgeRecord
from schemory.model.jsonvalue import compact
from schemory.model.node import Node, NodeRecord
from schemory.storage.sqlite import memory_images
from schemory.storage.sqlite.rows import Row, typed_values
from schemory.storage.sqlite.space import Space, id_list

Image: TypeAlias = Mapping[str, Any]
"""A parsed image."""


class Kind(StrEnum):
    """What the ledger follows; the values stand in its rows."""

    NODE = "node"
    EDGE = "edge"
    KEPT = "kept"
    ENTRY = "entry"
    TAG = "tag"
    LINK = "link"


_CONTENT = {
    Kind.NODE: ("name", "type", "metadata", "typed", "extra", "created_at"),
    Kind.EDGE: ("from", "to", "type", "weight", "property", "extra", "created_at"),
    Kind.KEPT: ("text",),
    Kind.ENTRY: memory_images.ENTRY_CONTENT,
    Kind.TAG: memory_images.TAG_CONTENT,
    Kind.LINK: memory_images.LINK_CONTENT,
}
_CURRENT = {
    Kind.NODE: "SELECT * FROM graph_nodes WHERE id = ?2 AND project = ?1",
    Kind.EDGE: "SELECT * FROM graph_edges WHERE id = ?2 AND project = ?1",
    Kind.KEPT: "SELECT id, text, since_seq FROM kept WHERE id = ?2 AND project = ?1",
    Kind.ENTRY: memory_images.CURRENT_ENTRY,
    Kind.TAG: memory_images.CURRENT_TAG,
    Kind.LINK: memory_images.CURRENT_LINK,
}


def image_text(kind: Kind, row: Row) -> str:
    """Return the image of a row of the kind's view (`graph_nodes`, `graph_edges`) or columns."""
    return _IMAGE_OF[kind](row)


def _kept_image(row: Row) -> str:
    return compact({"text": row[1], "since": row[2]})


def _node_image(row: Row) -> str:
    # JSON columns go in byte for byte: parsing them again would double the cost of a change.
    _, name, node_type, metadata, typed, extra, created, updated, revision, author, since, _ = row
    head = compact({"name": name, "type": node_type})[:-1]
    parts = (("metadata", metadata), ("typed", typed), ("extra", extra))
    middle = "".join(f'"{key}":{text},' for key, text in parts if text)
    tail = compact(
        {
            "created_at": created,
            "updated_at": updated,
            "revision": revision,
            "author": author,
            "since": since,
        }
    )
    return f"{head},{middle}{tail[1:]}"


def _edge_image(row: Row) -> str:
    (_, from_id, to_id, _, _, edge_type, weight, prop, extra, *rest) = row
    created, updated, revision, author, since, _ = rest
    image: dict[str, Any] = {"from": from_id, "to": to_id, "type": edge_type, "weight": weight}
    if prop is not None:
        image["property"] = prop
    if extra:
        image["extra"] = json.loads(extra)
    image |= {
        "created_at": created,
        "updated_at": updated,
        "revision": revision,
        "author": author,
        "since": since,
    }
    return compact(image)


_IMAGE_OF: Mapping[Kind, Callable[[Row], str]] = {
    Kind.NODE: _node_image,
    Kind.EDGE: _edge_image,
    Kind.KEPT: _kept_image,
    Kind.ENTRY: memory_images.entry_image,
    Kind.TAG: memory_images.tag_image,
    Kind.LINK: memory_images.link_image,
}


def current_image(space: Space, kind: Kind, item_id: int) -> Image | None:
    """Return an item's present state; None when it is not there."""
    row = space.row(_CURRENT[kind], item_id)
    return None if row is None else _parse(image_text(kind, row))


def present_marks(space: Space, kind: Kind, ids: Iterable[int]) -> dict[int, Image]:
    """Return, for items that are there, their revision and an edge's triple; much at once."""
    wanted = list(ids)
    if not wanted:
        return {}
    if kind is Kind.EDGE:
        return {
            i: {"from": start, "to": end, "type": name, "revision": revision}
            for i, start, end, name, revision in space.rows(_EDGES_THERE, id_list(wanted))
        }
    return {i: {"revision": n} for i, n in space.rows(_THERE[kind], id_list(wanted))}


_NODES_THERE = """
    SELECT n.id, n.revision FROM carray(?2) AS wanted CROSS JOIN node AS n
    WHERE n.id = wanted.value AND n.project = ?1
"""
_EDGES_THERE = """
    SELECT e.id, e.from_id, e.to_id, t.name, e.revision
    FROM carray(?2) AS wanted CROSS JOIN edge AS e CROSS JOIN edge_type AS t
    WHERE e.id = wanted.value AND e.project = ?1 AND t.project = ?1 AND t.id = e.type
"""
_KEPT_THERE = """
    SELECT k.id, 0 FROM carray(?2) AS wanted CROSS JOIN kept AS k
    WHERE k.id = wanted.value AND k.project = ?1
"""
_THERE: Mapping[Kind, str] = {
    Kind.NODE: _NODES_THERE,
    Kind.KEPT: _KEPT_THERE,
    Kind.ENTRY: memory_images.ENTRIES_THERE,
    Kind.TAG: memory_images.TAGS_THERE,
    Kind.LINK: memory_images.LINKS_THERE,
}


def image_after(space: Space, kind: Kind, item_id: int, seq: int) -> Image | None:
    """Return an item's state right after transaction `seq`: the next image, else the present."""
    sql = """
        SELECT image FROM change
        WHERE project = ?1 AND kind = ?2 AND item_id = ?3 AND seq > ?4 ORDER BY seq LIMIT 1
    """
    row = space.row(sql, kind.value, item_id, seq)
    return current_image(space, kind, item_id) if row is None else _parse(row[0])


def image_before(space: Space, kind: Kind, item_id: int, seq: int) -> Image | None:
    """Return the image that transaction `seq` kept of an item; None = it was not there."""
    sql = "SELECT image FROM change WHERE project = ?1 AND kind = ?2 AND item_id = ?3 AND seq = ?4"
    row = space.row(sql, kind.value, item_id, seq)
    return None if row is None else _parse(row[0])


def _parse(text: str | None) -> Image | None:
    if text is None:
        return None
    image: Image = json.loads(text)
    return image


def content(kind: Kind, image: Image | None) -> str | None:
    """Return what makes two states equal: all but who wrote them, when, and how often.

    As text, because Python takes 1, 1.0 and True for the same. Typed values count without the
    transaction they stem from.
    """
    if image is None:
        return None
    typed = [[item["property"], item["line"], item["value"]] for item in image.get("typed", ())]
    values = {**image, "typed": typed}
    return compact([values.get(key) for key in _CONTENT[kind]])


def node_of_image(node_id: int, image: Image) -> NodeRecord:
    """Return the record of a node's past state."""
    return NodeRecord(
        id=node_id,
        node=Node(image["name"], image["type"], tuple(image["metadata"])),
        typed=typed_values(image.get("typed", ())),
        extra=image.get("extra", {}),
        created_at=image["created_at"],
        updated_at=image["updated_at"],
        revision=image["revision"],
        author=image["author"],
    )


def edge_of_image(edge_id: int, image: Image, from_name: str, to_name: str) -> EdgeRecord:
    """Return the record of an edge's past state; its ends' names are the caller's to find."""
    return EdgeRecord(
        id=edge_id,
        from_id=image["from"],
        to_id=image["to"],
        edge=Edge(from_name, to_name, image["type"], image["weight"]),
        property_name=image.get("property"),
        extra=image.get("extra", {}),
        created_at=image["created_at"],
        updated_at=image["updated_at"],
        revision=image["revision"],
        author=image["author"],
    )
