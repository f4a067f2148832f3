"""The argument shapes of older dialects, chosen by what a call looks like (graph.md §2)."""

from collections.abc import Mapping
from typing import Final

from schemory.model.jsonvalue import Json
from schemory.tools.coerce import NO_JSON, as_kind, is_array, is_object
from schemory.tools.parts import array_argument
from schemory.tools.spec import Chooser
from schemory.tools.validate import properties_of

_TEXT: Final[Mapping[str, Json]] = {"type": "string"}


def _older_metadata(list_key: str, lines_key: str) -> "Mapping[str, Json]":
    return {
        list_key: array_argument(
            {"nodeName": _TEXT, lines_key: {"type": "array", "items": _TEXT}},
            ("nodeName", lines_key),
        )
    }


_OLD_ADDITIONS = _older_metadata("metadata", "contents")
_OLD_DELETIONS = _older_metadata("deletions", "metadata")


def _beside_wrapper(schema: Mapping[str, Json], older: Mapping[str, Json]) -> dict[str, Json]:
    """Return `schema` with the older dialect's argument in place of nodeName and metadata."""
    own = ("nodeName", "metadata")
    kept = {key: part for key, part in properties_of(schema).items() if key not in own}
    return {**schema, "properties": {**kept, **older}, "required": list(older)}


def choose_addition(schema: Mapping[str, Json]) -> Chooser:
    """Return what takes a list of nodes with their lines for `add_metadata`, too."""
    older = _beside_wrapper(schema, _OLD_ADDITIONS)

    def choose(arguments: Mapping[str, Json]) -> Mapping[str, Json]:
        lines = as_kind("array", arguments.get("metadata"))
        is_older = lines is not NO_JSON and is_array(lines) and bool(lines) and is_object(lines[0])
        return older if is_older and "nodeName" not in arguments else schema

    return choose


def choose_deletion(schema: Mapping[str, Json]) -> Chooser:
    """Return what takes a list of nodes with their lines for `delete_metadata`, too."""
    older = _beside_wrapper(schema, _OLD_DELETIONS)
    return lambda arguments: older if "deletions" in arguments else schema
