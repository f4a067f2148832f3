"""A schema as the document that defines it, so that an agent can read, copy and change it."""

from schemory.model.jsonvalue import Json, plain_number
from schemory.model.schema import (
    Direction,
    NodeSchema,
    OnMissing,
    Property,
    PropertyType,
    Relationship,
)
from schemory.model.weight import DEFAULT_WEIGHT


def definition(schema: NodeSchema) -> dict[str, Json]:
    """Return what a schema file with exactly this meaning would hold."""
    return {
        "name": f"add_{schema.node_type}",
        "description": schema.description,
        "properties": {key: _property(prop) for key, prop in schema.properties.items()},
        "additionalProperties": schema.allows_additional,
    }


def _property(prop: Property) -> dict[str, Json]:
    is_array = prop.type is PropertyType.ARRAY
    # What bounds an array's items stands inside `items`; elsewhere it would be a fault.
    bounds = _given(
        enum=list(prop.enum) or None,
        minimum=_number(prop.minimum),
        maximum=_number(prop.maximum),
        minLength=prop.min_length,
        maxLength=prop.max_length,
    )
    items: dict[str, Json] = {"type": prop.item_type.value, **bounds}
    shown: dict[str, Json] = {
        "type": prop.type.value,
        "description": prop.description,
        "required": prop.is_required,
    }
    shown |= {"items": items} if is_array else bounds
    shown |= _given(
        label=prop.label,
        default=prop.default,
        minItems=prop.min_items,
        maxItems=prop.max_items,
        unique=True if prop.is_unique else None,
        relationship=_relationship(prop.relationship) if prop.relationship else None,
    )
    return shown


def _relationship(relationship: Relationship) -> dict[str, Json]:
    shown: dict[str, Json] = {"edgeType": relationship.edge_type}
    shown |= _given(
        nodeType=relationship.node_type,
        description=relationship.description or None,
        direction=None if relationship.direction is Direction.OUT else "in",
        onMissing=None if relationship.on_missing is OnMissing.ERROR else "create",
        enforce=True if relationship.enforce else None,
        weight=None if relationship.weight == DEFAULT_WEIGHT else plain_number(relationship.weight),
    )
    return shown


def _number(value: float | None) -> float | None:
    return None if value is None else plain_number(value)


def _given(**facets: Json) -> dict[str, Json]:
    return {key: value for key, value in facets.items() if value is not None}
