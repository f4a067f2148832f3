"""The schemas in force: all of them, and one with its properties and tools."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from schemory.errors import NotFoundError
from schemory.model.schema import NodeSchema, Property
from schemory.web.asked import Asked
from schemory.web.layout import Page, alert, facts, note, table
from schemory.web.markup import Child, el

if TYPE_CHECKING:
    from schemory.web.shelf import Shelf


def schemas(shelf: "Shelf", asked: Asked) -> Page:
    """Return the list of schemas, with what is wrong with their files."""
    catalog = shelf.app.catalog
    rows = [
        (
            el("a", one.node_type, href=asked.to("schema", type=one.node_type)),
            one.description,
            f"{len(one.properties)}",
            one.origin,
        )
        for one in catalog.schemas()
    ]
    none = note("No schemas. ", el("code", "schemory init --pack rpg"), " makes some to edit.")
    heads = ("Type", "Description", "Properties", "From")
    return Page(
        title="Schemas",
        content=(
            (alert(str(fault), kind="error") for fault in catalog.faults()),
            (alert(str(fault)) for fault in catalog.warnings()),
            table(heads, rows, label="Schemas") if rows else none,
        ),
    )


def schema(shelf: "Shelf", asked: Asked) -> Page:
    """Return the page of one schema.

    Raises:
        NotFoundError: There is none of that type.
    """
    node_type = asked.exact("type")
    one = shelf.app.catalog.get(node_type)
    if one is None:
        raise NotFoundError(f"There is no schema for the type {node_type!r}.")
    tools = ", ".join(f"{verb}_{node_type}" for verb in ("add", "update", "delete"))
    heads = ("Property", "Type", "Required", "Rules", "Meaning")
    return Page(
        title=node_type,
        content=(
            el("p", one.description),
            facts((("Tools", tools), ("From", one.origin), ("More", _additional(one)))),
            table(heads, map(_row, one.properties.values()), label="Properties"),
        ),
    )


def _additional(one: NodeSchema) -> str:
    allowed = one.allows_additional
    return "other properties are kept" if allowed else "other properties are refused"


def _row(each: Property) -> tuple[Child, ...]:
    return (
        el("code", each.name),
        each.type.value,
        "yes" if each.is_required else "",
        "; ".join(_rules(each)),
        each.description,
    )


def _rules(each: Property) -> Iterator[str]:
    if each.enum:
        yield f"one of {', '.join(each.enum)}"
    if each.is_unique:
        yield "unique"
    bounds = (("at least", each.minimum), ("at most", each.maximum))
    yield from (f"{word} {value:g}" for word, value in bounds if value is not None)
    relation = each.relationship
    if relation is not None:
        target = f" to {relation.node_type}" if relation.node_type else ""
        yield f"makes an edge {relation.edge_type}{target}"
