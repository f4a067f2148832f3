"""`schema check|list|show`: what the schema files say, and what is wrong with them."""

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path

from schemory.app import open_catalog
from schemory.cli.command import FINDING, OK, Command, Request
from schemory.cli.output import Output, Style, shorten
from schemory.errors import UnknownTypeError
from schemory.model.jsonvalue import Json
from schemory.model.likeness import nearest
from schemory.model.schema import NodeSchema, Property
from schemory.model.text import counted
from schemory.schemas.catalog import SchemaCatalog
from schemory.schemas.load import FileFault, FolderReport, load_folder, parse_file
from schemory.tools.definition import definition

_WIDTH = 60


# check


def _configure_check(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "paths", nargs="*", metavar="PATH", help="files or folders; default those in use"
    )


def _run_check(request: Request) -> int:
    report = (
        _report_of(request.args.paths)
        if request.args.paths
        else _report_of_catalog(open_catalog(request.settings()))
    )
    out = request.out
    if out.is_json:
        out.json(
            {
                "types": [schema.node_type for schema in report.schemas],
                "faults": [_fault_wire(fault) for fault in report.faults],
                "warnings": [_fault_wire(fault) for fault in report.warnings],
                "notes": [_fault_wire(fault) for fault in report.notes],
            }
        )
    else:
        _show_faults("fault", report.faults, Style.RED, out)
        _show_faults("warning", report.warnings, Style.YELLOW, out)
        _show_faults("note", report.notes, Style.DIM, out)
        types = ", ".join(schema.node_type for schema in report.schemas)
        out.line(f"{counted(len(report.schemas), 'schema')} can be used: {types or 'none'}")
    return FINDING if report.faults else OK


def _report_of(paths: Sequence[str]) -> FolderReport:
    reports = [_report_of_path(Path(path).expanduser()) for path in paths]
    return FolderReport(
        schemas=tuple(each for report in reports for each in report.schemas),
        faults=tuple(each for report in reports for each in report.faults),
        warnings=tuple(each for report in reports for each in report.warnings),
        notes=tuple(each for report in reports for each in report.notes),
    )


def _report_of_path(path: Path) -> FolderReport:
    if path.is_dir():
        return load_folder(path)
    parsed = parse_file(path)
    return FolderReport(
        schemas=(parsed.schema,) if parsed.schema else (),
        faults=tuple(FileFault(str(path), problem) for problem in parsed.faults),
        warnings=tuple(FileFault(str(path), problem) for problem in parsed.warnings),
        notes=tuple(FileFault(str(path), problem) for problem in parsed.notes),
    )


def _report_of_catalog(catalog: SchemaCatalog) -> FolderReport:
    return FolderReport(
        schemas=catalog.schemas(),
        faults=catalog.faults(),
        warnings=catalog.warnings(),
        notes=catalog.notes(),
    )


def _fault_wire(fault: FileFault) -> Json:
    problem = fault.problem
    wire: dict[str, Json] = {"file": fault.file, "path": problem.path, "problem": problem.message}
    return {**wire, "suggestion": problem.suggestion} if problem.suggestion else wire


def _show_faults(kind: str, faults: Iterable[FileFault], style: Style, out: Output) -> None:
    for fault in faults:
        out.line(f"{out.style(kind + ':', style)} {out.style(str(fault), Style.BOLD)}")


# list and show


def _configure_nothing(parser: argparse.ArgumentParser) -> None:
    del parser


def _run_list(request: Request) -> int:
    catalog = open_catalog(request.settings())
    out = request.out
    if out.is_json:
        out.json(
            {
                "schemas": [
                    {
                        "nodeType": schema.node_type,
                        "description": schema.description,
                        "properties": len(schema.properties),
                        "origin": schema.origin,
                    }
                    for schema in catalog.schemas()
                ]
            }
        )
        return OK
    rows = (
        (
            schema.node_type,
            str(len(schema.properties)),
            shorten(schema.description, _WIDTH),
            schema.origin,
        )
        for schema in catalog.schemas()
    )
    out.table(("type", "properties", "description", "from"), rows)
    if not catalog.types():
        out.note("no schemas; `schemory init --pack rpg` makes some to edit")
    for fault in catalog.faults():
        out.note(f"left out: {fault}")
    return OK


def _configure_show(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("type", metavar="TYPE", help="a node type")


def _run_show(request: Request) -> int:
    catalog = open_catalog(request.settings())
    wanted: str = request.args.type
    schema = catalog.get(wanted)
    if schema is None:
        near = nearest(wanted, catalog.types())
        raise UnknownTypeError(
            f"No schema defines the type {wanted!r}",
            suggestions=[f"schemory schema show {near[0]}"] if near else ["schemory schema list"],
        )
    if request.out.is_json:
        request.out.json(definition(schema))
    else:
        _show_schema(schema, request.out)
    return OK


def _show_schema(schema: NodeSchema, out: Output) -> None:
    out.line(out.style(schema.node_type, Style.BOLD) + (f"  {schema.description}"))
    rows = (
        (
            prop.name + (" *" if prop.is_required else ""),
            _type_of(prop),
            _values_of(prop),
            _relation_of(prop),
        )
        for prop in schema.properties.values()
    )
    out.table(("property", "type", "values", "edge"), rows)
    out.note(
        f"* required; other properties are {'kept' if schema.allows_additional else 'refused'}"
    )


def _type_of(prop: Property) -> str:
    is_array = prop.type.value == "array"
    return f"{prop.item_type.value}[]" if is_array else prop.type.value


def _values_of(prop: Property) -> str:
    if prop.enum:
        return shorten(" | ".join(prop.enum), _WIDTH)
    bounds = [
        f"{name} {bound:g}"
        for name, bound in (
            ("from", prop.minimum),
            ("to", prop.maximum),
            ("at least", prop.min_length),
            ("at most", prop.max_length),
        )
        if bound is not None
    ]
    return ", ".join([*bounds, "unique"] if prop.is_unique else bounds)


def _relation_of(prop: Property) -> str:
    relation = prop.relationship
    if relation is None:
        return ""
    target = f" {relation.node_type}" if relation.node_type else ""
    return f"{'->' if relation.direction.value == 'out' else '<-'} {relation.edge_type}{target}"


COMMANDS: tuple[Command, ...] = (
    Command(
        name="schema check",
        summary="check schema files; exit code 1 if one cannot be used",
        configure=_configure_check,
        run=_run_check,
        examples=("schemory schema check", "schemory schema check ./schemas npc.schema.json"),
    ),
    Command(
        name="schema list",
        summary="list the node types that the schemas define",
        configure=_configure_nothing,
        run=_run_list,
        examples=("schemory schema list --pack rpg",),
    ),
    Command(
        name="schema show",
        summary="show one node type: properties, values, edges",
        configure=_configure_show,
        run=_run_show,
        examples=("schemory schema show npc --pack rpg",),
    ),
)
