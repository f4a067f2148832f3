"""Loads schemas from files, folders and the packs that come with the product."""

from collections.abc import Iterable
from pathlib import Path

from schemory.errors import InvalidParamError, Problem, SchemaFaultError
from schemory.model.likeness import nearest
from schemory.model.schema import NodeSchema
from schemory.schemas.jsonfile import read_json
from schemory.schemas.parse import parse_schema
from schemory.schemas.report import FileFault, FolderReport, ParsedSchema, clash, fault_error

__all__ = [
    "FileFault",
    "FolderReport",
    "ParsedSchema",
    "load_folder",
    "load_pack",
    "load_schema",
    "load_schemas",
    "pack_files",
    "pack_names",
    "parse_file",
    "parse_schema",
]

SUFFIX = ".schema.json"
PACK_ORIGIN = "pack:"
_PACKS = Path(__file__).parent / "builtin"


def parse_file(path: Path, origin: str = "") -> ParsedSchema:
    """Return what a file says as a schema, or all that is wrong with it; never raises."""
    read = read_json(path)
    if read.faults and read.value is None:
        return ParsedSchema(schema=None, faults=read.faults)
    parsed = parse_schema(read.value, origin or str(path))
    if not read.faults:
        return parsed
    return ParsedSchema(
        schema=None,
        faults=(*read.faults, *parsed.faults),
        warnings=parsed.warnings,
        notes=parsed.notes,
    )


def load_schema(path: Path | str) -> NodeSchema:
    """Return the schema in one file.

    Raises:
        SchemaFaultError: Names the file and each fault with its JSON pointer and a suggestion.
    """
    file = Path(path)
    parsed = parse_file(file)
    if parsed.schema is None:
        raise fault_error(str(file), parsed.faults)
    return parsed.schema


def load_schemas(folder: Path | str) -> tuple[NodeSchema, ...]:
    """Return all schemas of a folder, in file order.

    Raises:
        SchemaFaultError: For the first file that is at fault.
    """
    report = load_folder(folder)
    if report.faults:
        file = report.faults[0].file
        raise fault_error(file, [f.problem for f in report.faults if f.file == file])
    return report.schemas


def load_folder(folder: Path | str, *, origin: str = "") -> FolderReport:
    """Return every `*.schema.json` directly in `folder`, and all that is wrong with the others.

    A type that two files define stays with the first; the later one is at fault. Hidden files
    (an editor's) are passed over.

    Args:
        folder: Where to look; when it cannot be listed, that is the report's one fault.
        origin: Kept in the schemas instead of each file's path.
    """
    root = Path(folder)
    try:
        names = sorted(entry.name for entry in root.iterdir() if not entry.name.startswith("."))
    except OSError as error:
        reason = "there is no such folder" if not root.exists() else error.strerror or "unreadable"
        problem = Problem(code=SchemaFaultError.code, path="", message=reason)
        return FolderReport(faults=(FileFault(str(root), problem),))
    files = [root / name for name in names if name.lower().endswith(SUFFIX)]
    report = _collect((file, parse_file(file, origin)) for file in files)
    stray = [root / name for name in names if _is_stray(name)]
    notes = (FileFault(str(file), _stray_note()) for file in stray)
    return FolderReport(
        schemas=report.schemas,
        faults=report.faults,
        warnings=report.warnings,
        notes=(*report.notes, *notes),
    )


def pack_names() -> tuple[str, ...]:
    """Return the names of the packs that come with the product, sorted."""
    return tuple(sorted(entry.name for entry in _PACKS.iterdir() if entry.is_dir()))


def pack_files(name: str) -> tuple[Path, ...]:
    """Return the files of a pack, sorted.

    Raises:
        InvalidParamError: There is no such pack; names the nearest.
    """
    known = pack_names()
    if name not in known:
        near = nearest(name, known)
        raise InvalidParamError.at(
            "$.pack",
            f"There is no pack of that name; there are {', '.join(known)}",
            nearest=near,
            suggestion=f"use {near[0]}" if near else None,
        )
    return tuple(sorted((_PACKS / name).glob(f"*{SUFFIX}")))


def load_pack(name: str) -> FolderReport:
    """Return the schemas of a pack; their origin is `pack:<name>`.

    Raises:
        InvalidParamError: There is no such pack; names the nearest.
    """
    pack_files(name)
    return load_folder(_PACKS / name, origin=f"{PACK_ORIGIN}{name}")


def _collect(files: Iterable[tuple[Path, ParsedSchema]]) -> FolderReport:
    schemas: dict[str, NodeSchema] = {}
    holders: dict[str, str] = {}
    faults: list[FileFault] = []
    warnings: list[FileFault] = []
    notes: list[FileFault] = []
    for path, parsed in files:
        file = str(path)
        faults.extend(FileFault(file, problem) for problem in parsed.faults)
        warnings.extend(FileFault(file, problem) for problem in parsed.warnings)
        notes.extend(FileFault(file, problem) for problem in parsed.notes)
        if parsed.schema is None:
            continue
        node_type = parsed.schema.node_type
        if node_type in schemas:
            faults.append(FileFault(file, clash(node_type, holders[node_type])))
            continue
        schemas[node_type] = parsed.schema
        holders[node_type] = path.name
    return FolderReport(
        schemas=tuple(schemas.values()),
        faults=tuple(faults),
        warnings=tuple(warnings),
        notes=tuple(notes),
    )


def _is_stray(name: str) -> bool:
    return name.lower().endswith(".json") and not name.lower().endswith(SUFFIX)


def _stray_note() -> Problem:
    return Problem(
        code=SchemaFaultError.code,
        path="",
        message=f"it is not loaded: a schema's file name ends in {SUFFIX}",
    )
