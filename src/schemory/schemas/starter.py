"""Gives people something to start from: a new schema file, or a pack copied to be edited."""

import json
from pathlib import Path

from schemory.errors import InvalidParamError
from schemory.model.frozen import dataclass
from schemory.model.metadata import display_name
from schemory.schemas.durable import make_private_folder, write_file
from schemory.schemas.load import pack_files
from schemory.schemas.parse import PREFIX, type_fault
from schemory.schemas.parse_rules import word_key


@dataclass(frozen=True, slots=True, kw_only=True)
class PackCopy:
    """What copying a pack did.

    Attributes:
        written: Files that are new (or replaced).
        unchanged: Files that were there already, with the same text.
        kept: Files that were there already with another text, and were left alone.
    """

    written: tuple[Path, ...]
    unchanged: tuple[Path, ...]
    kept: tuple[Path, ...]


def new_schema_text(node_type: str, description: str = "") -> str:
    """Return the text of a schema file for `node_type`, with one property of each common kind.

    It loads as it is, without a fault or warning.

    Raises:
        InvalidParamError: `node_type` cannot name tools; says the nearest that can.
    """
    fault = type_fault(node_type)
    if fault is not None:
        better = word_key(node_type.removeprefix(PREFIX))
        near = (better,) if better and type_fault(better) is None else ()
        hint = f"use {near[0]}" if near else None
        raise InvalidParamError.at(
            "$.nodeType",
            fault,
            nearest=near,
            suggestion=hint,
        )
    words = display_name(node_type).lower()
    document = {
        "name": f"{PREFIX}{node_type}",
        "description": description or f"What the type {words} stands for, in one sentence",
        "properties": {
            "name": {
                "type": "string",
                "description": f"Unique name of the {words}",
                "required": True,
            },
            "status": {
                "type": "string",
                "description": "How it stands at present",
                "enum": ["Active", "Retired"],
            },
            "description": {"type": "string", "description": "What is worth remembering of it"},
            "tags": {
                "type": "array",
                "description": "Words to find it by, one an item",
                "items": {"type": "string"},
            },
            "partOf": {
                "type": "string",
                "description": "What it belongs to; that node must exist",
                "relationship": {
                    "edgeType": "part_of",
                    "description": "Leads to what it belongs to",
                },
            },
        },
        "additionalProperties": True,
    }
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def copy_pack(name: str, folder: Path, *, overwrite: bool = False) -> PackCopy:
    """Copy a pack's files into `folder` (made if missing), to be edited there.

    Args:
        name: Of the pack.
        folder: Where to.
        overwrite: Replace files that differ; else they are kept and told.

    Raises:
        InvalidParamError: There is no such pack.
        StoreReadonlyError: The folder cannot be written.
    """
    files = pack_files(name)
    make_private_folder(folder)
    written: list[Path] = []
    unchanged: list[Path] = []
    kept: list[Path] = []
    for file in files:
        text = file.read_text(encoding="utf-8")
        target = folder / file.name
        if target.exists() and target.read_bytes() == text.encode():
            unchanged.append(target)
        elif target.exists() and not overwrite:
            kept.append(target)
        else:
            write_file(target, text)
            written.append(target)
    return PackCopy(written=tuple(written), unchanged=tuple(unchanged), kept=tuple(kept))
