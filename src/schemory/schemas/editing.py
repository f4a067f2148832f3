"""Writes and deletes the files behind a catalog's types; its callers hold the catalog's lock."""

import json
from collections.abc import Mapping
from pathlib import Path

from schemory.errors import ConflictError, UnknownTypeError, UnsupportedError
from schemory.model.jsonvalue import Json
from schemory.model.likeness import nearest
from schemory.model.schema import NodeSchema
from schemory.schemas.catalog import SchemaCatalog
from schemory.schemas.durable import make_private_folder, remove_file, write_file
from schemory.schemas.load import PACK_ORIGIN, SUFFIX, parse_file
from schemory.schemas.parse import parse_schema
from schemory.schemas.report import fault_error


def write_schema(catalog: SchemaCatalog, data: Mapping[str, Json]) -> NodeSchema:
    """Write the file of a type into the first folder.

    Raises:
        SchemaFaultError, ConflictError, UnsupportedError: As `SchemaCatalog.define` tells.
    """
    parsed = parse_schema(data)
    problems = (*parsed.faults, *parsed.warnings)
    if parsed.schema is None or problems:
        raise fault_error("", problems)
    folder = _writable_folder(catalog)
    target = _file_for(catalog, parsed.schema.node_type, folder)
    make_private_folder(folder)
    write_file(target, json.dumps(data, ensure_ascii=False, indent=2) + "\n")
    return parsed.schema


def delete_schema(catalog: SchemaCatalog, node_type: str) -> NodeSchema:
    """Delete the file of a type in the first folder.

    Raises:
        UnknownTypeError, ConflictError: As `SchemaCatalog.remove` tells.
    """
    schema = catalog.get(node_type)
    if schema is None:
        near = nearest(node_type, catalog.types())
        hints = [f"use {near[0]}"] if near else ["see list_schemas"]
        raise UnknownTypeError(f"No schema defines the type {node_type!r}", suggestions=hints)
    folder = _writable_folder(catalog)
    if not _is_in(schema, folder):
        raise _taken(schema, folder, "cannot be removed")
    remove_file(Path(schema.origin))
    return schema


def _writable_folder(catalog: SchemaCatalog) -> Path:
    if not catalog.folders:
        hint = "start the server with --schemas DIR"
        raise UnsupportedError("There is no schemas folder to write into", suggestions=[hint])
    return catalog.folders[0]


def _file_for(catalog: SchemaCatalog, node_type: str, folder: Path) -> Path:
    """Return where to write a type: its own file if it has one in `folder`, else a new one."""
    schema = catalog.get(node_type)
    if schema is not None and not _is_in(schema, folder):
        raise _taken(schema, folder, "cannot be replaced")
    if schema is not None:
        return Path(schema.origin)
    target = folder / f"{node_type}{SUFFIX}"
    if target.exists():
        held = parse_file(target).schema
        what = f"holds the type {held.node_type}" if held else "is at fault"
        raise ConflictError(
            f"The file {target.name} is there already and {what}",
            context={"file": str(target)},
            suggestions=["mend, rename or delete that file first"],
        )
    return target


def _is_in(schema: NodeSchema, folder: Path) -> bool:
    is_file = bool(schema.origin) and not schema.origin.startswith(PACK_ORIGIN)
    return is_file and Path(schema.origin).parent == folder


def _taken(schema: NodeSchema, folder: Path, what: str) -> ConflictError:
    origin = schema.origin or "the program that opened the store"
    if origin.startswith(PACK_ORIGIN):
        pack = origin.removeprefix(PACK_ORIGIN)
        hint = (
            f"copy the pack into {folder} with `schemory init --pack {pack}` and start without it"
        )
    else:
        hint = f"change it at its origin: {origin}"
    return ConflictError(
        f"The type {schema.node_type} comes from {origin} and {what} here",
        context={"nodeType": schema.node_type, "origin": origin},
        suggestions=[hint],
    )
