"""`schema new|pack`: writing schema files, one by one or a pack at a time."""

import argparse
import json
import re
from pathlib import Path

from schemory.app import open_catalog
from schemory.cli.command import FINDING, OK, Command, Request
from schemory.cli.init import copies_wire, show_copies
from schemory.errors import ConflictError, UsageError
from schemory.model.jsonvalue import Json
from schemory.schemas.catalog import FolderSource, PackSource, SchemaCatalog
from schemory.schemas.load import pack_names
from schemory.schemas.parse import parse_schema
from schemory.schemas.report import fault_error
from schemory.schemas.starter import copy_pack, new_schema_text

_PROPERTY = re.compile(
    r"(?P<key>[A-Za-z0-9_.-]+)(?::(?P<type>[a-z]+))?(?P<required>!)?(?:=(?P<values>.+))?"
)
_RELATION = re.compile(r"(?P<key>[A-Za-z0-9_.-]+)=(?P<edge>[^:]+)(?::(?P<type>.+))?")


def _configure_new(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("type", metavar="TYPE", help="the node type: a-z, 0-9 and _")
    add("--description", default="", metavar="TEXT", help="what such a node is")
    add(
        "--property",
        action="append",
        default=[],
        metavar="KEY[:TYPE][!][=A,B]",
        help="a property; ! = required, =A,B = only these values; repeatable",
    )
    add(
        "--relation",
        action="append",
        default=[],
        metavar="KEY=EDGE[:TYPE]",
        help="a property that makes an edge to a node of that type; repeatable",
    )
    add("--to", metavar="FOLDER", help="where; default the schemas folder in use")
    add("--print", action="store_true", help="print the schema instead of writing a file")
    add("--force", action="store_true", help="replace the type if it is defined already")


def _run_new(request: Request) -> int:
    args = request.args
    data = _new_schema(args)
    if args.print:
        parsed = parse_schema(data)
        if parsed.schema is None or parsed.warnings:
            raise fault_error("", (*parsed.faults, *parsed.warnings))
        request.out.line(json.dumps(data, ensure_ascii=False, indent=2))
        return OK
    if args.to:
        folder = Path(args.to).expanduser().absolute()
        catalog = SchemaCatalog([FolderSource(folder, is_optional=True)])
    else:
        catalog = open_catalog(request.settings())
    held = catalog.get(args.type)
    if held is not None and not args.force:
        raise ConflictError(
            f"The type {args.type} is defined already, in {held.origin}; it was left as it is",
            context={"nodeType": args.type, "origin": held.origin},
            suggestions=["edit that file, or repeat the command with --force to replace it"],
        )
    schema = catalog.define(data)
    if request.out.is_json:
        request.out.json({"nodeType": schema.node_type, "file": schema.origin})
    else:
        request.out.line(schema.origin)
        kind = schema.node_type
        request.out.note(f"tools: add_{kind}, update_{kind}, delete_{kind}")
    return OK


def _new_schema(args: argparse.Namespace) -> dict[str, Json]:
    node_type: str = args.type
    if not args.property and not args.relation:
        starter: dict[str, Json] = json.loads(new_schema_text(node_type, args.description))
        return starter
    properties: dict[str, Json] = {
        "name": {"type": "string", "description": f"The {node_type}'s name", "required": True}
    }
    for text in args.property:
        key, prop = _new_property(text)
        properties[key] = prop
    for text in args.relation:
        key, prop = _new_relation(text)
        properties[key] = prop
    return {
        "name": f"add_{node_type}",
        "description": args.description or f"Add a {node_type.replace('_', ' ')}",
        "properties": properties,
    }


def _new_property(text: str) -> tuple[str, dict[str, Json]]:
    match = _PROPERTY.fullmatch(text)
    if match is None:
        raise UsageError(
            f"--property {text!r} is not understood",
            suggestions=[
                "--property role!",
                "--property level:integer",
                "--property mood=good,bad",
            ],
        )
    key = match["key"]
    prop: dict[str, Json] = {"type": match["type"] or "string", "description": key}
    if match["required"]:
        prop["required"] = True
    if match["values"]:
        prop["enum"] = match["values"].split(",")
    return key, prop


def _new_relation(text: str) -> tuple[str, dict[str, Json]]:
    match = _RELATION.fullmatch(text)
    if match is None:
        raise UsageError(
            f"--relation {text!r} is not understood",
            suggestions=["--relation home=lives_in:location"],
        )
    relation: dict[str, Json] = {"edgeType": match["edge"]}
    if match["type"]:
        relation["nodeType"] = match["type"]
    return match["key"], {
        "type": "string",
        "description": match["key"],
        "relationship": relation,
    }


def _configure_pack(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "name", nargs="?", metavar="NAME", help="a pack; without it they are listed"
    )
    parser.add_argument(
        "folder", nargs="?", metavar="FOLDER", help="copy the pack into this folder"
    )
    parser.add_argument("--force", action="store_true", help="overwrite files that were edited")


def _run_pack(request: Request) -> int:
    args, out = request.args, request.out
    names = [args.name] if args.name else list(pack_names())
    catalogs = {name: SchemaCatalog([PackSource(name)]) for name in names}
    if args.folder is None:
        if out.is_json:
            out.json({"packs": {name: list(each.types()) for name, each in catalogs.items()}})
        else:
            out.table(("pack", "types"), ((n, ", ".join(c.types())) for n, c in catalogs.items()))
        return OK
    folder = Path(args.folder).expanduser().absolute()
    copies = [copy_pack(args.name, folder, overwrite=args.force)]
    if out.is_json:
        out.json({"folder": str(folder), **copies_wire(copies)})
        return FINDING if copies[0].kept else OK
    return show_copies(copies, out)


COMMANDS: tuple[Command, ...] = (
    Command(
        name="schema new",
        summary="write a new schema file",
        configure=_configure_new,
        run=_run_new,
        examples=(
            "schemory schema new book --property author! --property state=read,unread",
            "schemory schema new person --relation employer=works_for:company --to ./schemas",
        ),
    ),
    Command(
        name="schema pack",
        summary="list the built-in packs, or copy one to edit",
        configure=_configure_pack,
        run=_run_pack,
        examples=("schemory schema pack", "schemory schema pack rpg ./schemas"),
    ),
)
