"""What hosts are told a generated tool takes: JSON Schema in the subset strict hosts accept."""

from collections.abc import Mapping
from typing import Literal, TypeAlias

from schemory.model.jsonvalue import Json, plain_number
from schemory.model.schema import NodeSchema, Property, PropertyType
from schemory.schemas.texts import MAX_TEXT_BYTES, advertised

Verb: TypeAlias = Literal["add", "update", "delete"]

_JSON_TYPES: Mapping[PropertyType, str] = {
    PropertyType.DATE: "string",
    PropertyType.DATETIME: "string",
}
_FORMATS: Mapping[PropertyType, str] = {
    PropertyType.DATE: "as a date like 2026-03-08",
    PropertyType.DATETIME: "as a date and time like 2026-03-08T09:05:07Z",
}


def entity_schema(schema: NodeSchema, verb: Verb) -> dict[str, Json]:
    """Return the schema of the object that `<verb>_<type>` takes, keys in the file's order.

    Source: G§5.2.
    """
    if verb == "delete":
        name = f"Name of the {schema.node_type} to delete"
        properties: dict[str, Json] = {"name": {"type": "string", "description": name}}
    else:
        properties = {p.name: _advertise(p, verb) for p in schema.properties.values()}
    return {
        "type": "object",
        "properties": properties,
        "required": [p.name for p in schema.properties.values() if _is_asked_for(p, verb)],
        "additionalProperties": schema.allows_additional,
    }


def _is_asked_for(prop: Property, verb: Verb) -> bool:
    # A default answers for a property that is left out, so the caller need not give it.
    return prop.name == "name" or (verb == "add" and prop.is_required and prop.default is None)


def _advertise(prop: Property, verb: Verb) -> dict[str, Json]:
    is_array = prop.type is PropertyType.ARRAY
    value_type = prop.item_type if is_array else prop.type
    value: dict[str, Json] = {"type": _JSON_TYPES.get(value_type, value_type.value)}
    if prop.enum:
        value["enum"] = list(prop.enum)
    value |= _facets(prop)
    shown: dict[str, Json] = {"type": "array", "items": value} if is_array else value
    shown |= _given({"minItems": prop.min_items, "maxItems": prop.max_items})
    if prop.label:
        shown["title"] = advertised(prop.label)
    description = _description(prop, value_type)
    if description:
        shown["description"] = description
    if prop.default is not None and verb == "add":
        shown["default"] = prop.default
    return shown


def _facets(prop: Property) -> dict[str, Json]:
    return _given(
        {
            "minimum": prop.minimum,
            "maximum": prop.maximum,
            "minLength": prop.min_length,
            "maxLength": prop.max_length,
        }
    )


def _given(facets: Mapping[str, float | None]) -> dict[str, Json]:
    return {key: plain_number(value) for key, value in facets.items() if value is not None}


def _description(prop: Property, value_type: PropertyType) -> str:
    form = _FORMATS.get(value_type)
    if form is None:
        return advertised(prop.description)
    if not prop.description:
        return form
    hint = f" ({form})"
    return advertised(prop.description, MAX_TEXT_BYTES - len(hint)) + hint
