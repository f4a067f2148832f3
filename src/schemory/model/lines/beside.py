"""The one key that we add to a line: what we know about a record beyond its dialect's words.

`_schemory` holds, each only where there is something to say: `typed` (a node's typed values),
`property` (which schema property made an edge; null = `add_edges`), `createdAt`, `updatedAt` and
`extra` (fields of a foreign file). A typed text that the line shows as it is stands as its property
key alone. Whatever a hand may have made of it, reading never fails: what makes no sense is passed
over.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from schemory.model.frozen import dataclass, field
from schemory.model.jsonvalue import Json
from schemory.model.lines.claims import read_claims
from schemory.model.lines.records import NO_CLAIMS, Claims
from schemory.model.metadata import display_name, parse_line
from schemory.model.node import TypedValue

BESIDE_KEY: Final = "_schemory"


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """What a line's `_schemory` key says.

    Attributes:
        has_origin: It says which property made the edge (`property_name`, None = `add_edges`).
    """

    typed: tuple[TypedValue, ...] = ()
    has_origin: bool = False
    property_name: str | None = None
    claims: Claims = NO_CLAIMS
    extra: Mapping[str, Json] = field(default_factory=dict[str, Json])


_NOTHING: Final = Beside()


def read_beside(found: Json, metadata: Sequence[str]) -> Beside:
    """Return what the key's value says; `metadata` are the node's entries."""
    if not isinstance(found, dict):
        return _NOTHING
    typed = found.get("typed")
    origin = found.get("property", False)
    extra = found.get("extra")
    has_origin = origin is None or (isinstance(origin, str) and origin != "")
    return Beside(
        typed=_read_typed(typed, metadata) if isinstance(typed, list) else (),
        has_origin=has_origin,
        property_name=origin if isinstance(origin, str) and has_origin else None,
        claims=read_claims({k: found[k] for k in ("createdAt", "updatedAt") if k in found})[0],
        extra=extra if isinstance(extra, dict) else {},
    )


def _read_typed(items: Sequence[Json], metadata: Sequence[str]) -> tuple[TypedValue, ...]:
    read = (_read_value(item, metadata) for item in items)
    return tuple(value for value in read if value is not None)


def _read_value(item: Json, metadata: Sequence[str]) -> TypedValue | None:
    if isinstance(item, str):
        return _plain_value(item, metadata)
    if not isinstance(item, dict):
        return None
    name, line = item.get("property"), item.get("line")
    if not isinstance(name, str) or not isinstance(line, str) or "value" not in item:
        return None
    return TypedValue(property_name=name, line=line, value=item["value"])


def _plain_value(name: str, metadata: Sequence[str]) -> TypedValue | None:
    """Return the text that the first line of the property shows."""
    key = display_name(name)
    for line in metadata:
        parsed = parse_line(line)
        if parsed.key == key:
            return TypedValue(property_name=name, line=line, value=parsed.value)
    return None


def typed_items(typed: Sequence[TypedValue], metadata: Sequence[str]) -> list[Json]:
    """Return typed values as `_schemory` holds them: short where the line says the rest."""
    return [
        value.property_name
        if _plain_value(value.property_name, metadata) == value
        else {"property": value.property_name, "line": value.line, "value": value.value}
        for value in typed
    ]
