"""Finds out what a file or folder is, and says why; a named kind is checked, not doubted."""

import re
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final, TypeAlias

from schemory.errors import InvalidParamError
from schemory.model.frozen import dataclass
from schemory.model.lines.scan import decode_text
from schemory.model.paths import PathStyle
from schemory.model.text import fold
from schemory.transfer.foreign.draft import Tally
from schemory.transfer.foreign.files import Root, find_files, open_root
from schemory.transfer.foreign.frontmatter import read_front_matter
from schemory.transfer.foreign.journal import is_journal
from schemory.transfer.foreign.kinds import SUMMARIES, Kind
from schemory.transfer.foreign.markdown import BANK_NAMES, LOG_NAMES, NOTE_NAMES, is_markdown
from schemory.transfer.foreign.mempalace import FORMAT as MEMPALACE_FORMAT
from schemory.transfer.foreign.mempalace import is_room
from schemory.transfer.foreign.records import is_record
from schemory.transfer.foreign.sections import lines_of
from schemory.transfer.foreign.text import clean
from schemory.transfer.memory.options import FORMAT as EXPORT_FORMAT

_SQLITE: Final = b"SQLite format 3\0"
_ZIP: Final = b"PK\x03\x04"
_GZIP: Final = b"\x1f\x8b"
_HEAD: Final = 64 * 1024
_LOOKED_AT: Final = 60
_GRAPH_FILES: Final = ("memory.json", "memory.jsonl")
_FEWEST_BANK: Final = 2
_RELATION: Final = re.compile(r"^\s*[-*+] [^\[\]\n]{0,60}\[\[[^\]\n]+\]\]", re.MULTILINE)
_OBSERVATION: Final = re.compile(r"^\s*[-*+] \[[^\[\]()xX ][^\[\]()]*\] \S", re.MULTILINE)
_ADR_NAME: Final = re.compile(r"(?:adr[-_ ]?)?\d{3,5}[-_. ].*|adr[-_ ]?\d+.*", re.IGNORECASE)
_HEADING: Final = re.compile(r"^#{1,4}\s+(.+?)\s*#*$", re.MULTILINE)
_GRAPH: Final = re.compile(
    r'"_?type"\s*:\s*"(?:node|edge|entity|relation)"|"(?:entityType|relationType|nodeType|edgeType)"\s*:'
    r'|"(?:entities|nodes)"\s*:\s*[\[{]'
)
_MEM0: Final = re.compile(
    r'"memory"\s*:\s*"|"(?:export_meta|memory_categories|category_ids)"\s*:|"state"\s*:\s*"(?:active|paused|archived|deleted)"'
)
_PALACE: Final = re.compile(r'"document"\s*:\s*"[\s\S]*"metadata"\s*:|"wing"\s*:')
_ENTRY: Final = re.compile(r'"source_type"\s*:\s*"[\s\S]*|"tag"\s*:')


@dataclass(frozen=True, slots=True)
class Detection:
    """What a source is, and what shows it; "" where the caller said so."""

    kind: Kind
    why: str


def detect(root: Root, kind: Kind | None) -> Detection:
    """Return what a source is.

    Raises:
        InvalidParamError: It is none of the known kinds.
    """
    if kind is not None:
        return Detection(kind, "")
    found = _of_folder(root) if root.path.is_dir() else _of_file(root.path)
    if found is None:
        raise _unknown(root)
    return found


def find_kind(path: Path) -> Detection | None:
    """Return what a path names, None when there is nothing: the one who reads it will say so.

    Raises:
        InvalidParamError: It is none of the known kinds.
    """
    if not path.exists():
        return None
    root = open_root(path, project_root=None, style=PathStyle.of(sys.platform))
    return detect(root, None)


def _of_file(path: Path) -> Detection | None:
    head = _head(path)
    if head.startswith(_SQLITE):
        return _of_database(path)
    if head.startswith(_ZIP):
        return _of_archive(path)
    if head.startswith(_GZIP):
        return Detection(Kind.MEM0, "it is packed JSON Lines, as OpenMemory's backup holds")
    if is_markdown(path):
        return _of_markdown(path, head)
    return _of_json(decode_text(head)) or _of_journal(head)


def _of_journal(head: bytes) -> Detection | None:
    if is_journal(head):
        return Detection(Kind.JOURNAL, "its records hold a text with a title, a kind or a date")
    return None


def _of_database(path: Path) -> Detection | None:
    from schemory.storage.foreign.memory_node import is_memory_node  # noqa: PLC0415 (rare)

    if is_memory_node(path):
        return Detection(Kind.MEMORY_NODE, "it is a SQLite database with that server's tables")
    return None


def _of_archive(path: Path) -> Detection | None:
    import zipfile  # noqa: PLC0415 (rare)

    from schemory.transfer.zips import BROKEN_ZIP  # noqa: PLC0415 (as above)

    try:
        with zipfile.ZipFile(path) as archive:
            names = {name.rpartition("/")[2] for name in archive.namelist()}
    except BROKEN_ZIP:
        return None
    if "manifest.json" in names:
        return Detection(Kind.EXPORT, "it is a ZIP with a manifest")
    if names & {"memories.json", "memories.jsonl.gz", "memories.jsonl"}:
        return Detection(Kind.MEM0, "it is a ZIP that holds memories.json")
    return None


def _of_json(text: str) -> Detection | None:
    tests: tuple[tuple[bool, Kind, str], ...] = (
        (f'"{EXPORT_FORMAT}"' in text, Kind.EXPORT, "it names the format of our own export"),
        (f'"{MEMPALACE_FORMAT}"' in text, Kind.MEMPALACE, "it names MemPalace's format"),
        (_GRAPH.search(text) is not None, Kind.GRAPH, "it has entities or nodes"),
        (_MEM0.search(text) is not None, Kind.MEM0, "its records are memories as mem0 gives out"),
        (_PALACE.search(text) is not None, Kind.MEMPALACE, "its records have a document or a wing"),
        (_ENTRY.search(text) is not None, Kind.EXPORT, "its lines are entries of this memory"),
    )
    return next((Detection(kind, why) for holds, kind, why in tests if holds), None)


def _of_markdown(path: Path, head: bytes) -> Detection:
    name = path.name.lower()
    text = _text(head)
    if name in NOTE_NAMES or name.endswith(".mdc"):
        return Detection(Kind.NOTES, f"{path.name} is a file of notes for agents")
    if is_room(text):
        return Detection(Kind.MEMPALACE, "it is a room with drawers")
    if fold(path.stem) in LOG_NAMES or _is_adr(path, text):
        return Detection(Kind.ADR, "it holds decision records")
    if fold(path.stem) in BANK_NAMES:
        return Detection(Kind.MEMORY_BANK, f"{path.name} is a file of a memory bank")
    if _is_basic(text):
        return Detection(Kind.BASIC_MEMORY, f"it {_BASIC}")
    return Detection(Kind.MARKDOWN, "it is Markdown")


def _of_folder(root: Root) -> Detection | None:
    paths = list(islice(find_files(root, is_markdown, Tally()), _LOOKED_AT))
    if not paths:
        return _of_data_folder(root)
    texts = [(path, _text(_head(path))) for path in paths]
    judged: tuple[tuple[str | None, Kind], ...] = (
        (_bank_told(texts), Kind.MEMORY_BANK),
        (_rooms_told(texts), Kind.MEMPALACE),
        (_basic_told(texts), Kind.BASIC_MEMORY),
        (_adrs_told(texts), Kind.ADR),
        (_notes_told(root, texts), Kind.NOTES),
    )
    for why, kind in judged:
        if why is not None:
            return Detection(kind, why)
    return Detection(Kind.MARKDOWN, "it is a folder of Markdown")


Texts: TypeAlias = list[tuple[Path, str]]
_BASIC: Final = "has permalinks, observations or relations as basic-memory writes them"


def _of_data_folder(root: Root) -> Detection | None:
    paths = islice(find_files(root, _is_lines, Tally()), 5)
    if any((found := _of_json(_text(_head(p)))) and found.kind is Kind.MEMPALACE for p in paths):
        return Detection(Kind.MEMPALACE, "it is a folder of rooms as JSON Lines")
    return None


def _is_lines(path: Path) -> bool:
    return path.suffix.lower() == ".jsonl"


def _bank_told(texts: Texts) -> str | None:
    names = sorted(path.name for path, _ in texts if fold(path.stem) in BANK_NAMES)
    return f"it has {', '.join(names[:3])}" if len(names) >= _FEWEST_BANK else None


def _rooms_told(texts: Texts) -> str | None:
    rooms = [path for path, text in texts if is_room(text)]
    return f"{rooms[0].name} is a room with drawers" if rooms else None


def _basic_told(texts: Texts) -> str | None:
    count = sum(_is_basic(text) for _, text in texts)
    return f"{count} of {len(texts)} notes: each {_BASIC}" if 2 * count >= len(texts) else None


def _adrs_told(texts: Texts) -> str | None:
    count = sum(_is_adr(path, text) for path, text in texts)
    return f"{count} of {len(texts)} files are decision records" if 2 * count > len(texts) else None


def _notes_told(root: Root, texts: Texts) -> str | None:
    """Return what shows a folder of notes for agents: most files are, or one lies at its top."""
    named = [path for path, _ in texts if path.name.lower() in NOTE_NAMES or path.suffix == ".mdc"]
    at_top = any(path.parent == root.folder and path.suffix != ".mdc" for path in named)
    if not named or not (at_top or 2 * len(named) > len(texts)):
        return None
    others = len(texts) - len(named)
    also = f"; {others} other Markdown files are not read (`--from markdown` reads all)"
    names = ", ".join(sorted({path.name for path in named})[:3])
    return f"it has {names}{also if others else ''}"


def _is_basic(text: str) -> bool:
    front = read_front_matter(lines_of(text))
    signs = (
        "permalink" in front.values,
        _OBSERVATION.search(text) is not None,
        _RELATION.search(text) is not None,
    )
    return signs[0] or (signs[1] and signs[2])


def _is_adr(path: Path, text: str) -> bool:
    headings = list(_headings(text))
    if not headings:
        return False
    return is_record((headings[0], headings[1:])) or (
        _ADR_NAME.fullmatch(path.stem) is not None
        and path.parent.name.lower() in {"adr", "adrs", "decisions"}
    )


def _headings(text: str) -> Iterator[str]:
    return (found.group(1) for found in _HEADING.finditer(text))


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_HEAD)
    except OSError:
        return b""  # reading it will say why


def _text(head: bytes) -> str:
    return clean(head.decode("utf-8-sig", "replace")).text


def _is_empty(path: Path) -> bool:
    try:
        return path.is_file() and path.stat().st_size <= _HEAD and not path.read_bytes().strip()
    except OSError:
        return False  # what cannot be read is not known to be empty


def _unknown(root: Root) -> InvalidParamError:
    if _is_empty(root.path):
        empty = f"{root.path} is empty: there is nothing to import"
        return InvalidParamError.at("PATH", empty)
    what = "folder" if root.path.is_dir() else "file"
    message = f"{root.path} is no {what} that is known here"
    graphs = [root.path / name for name in _GRAPH_FILES if (root.path / name).is_file()]
    hints = [f"{file} looks like a graph: name that file as PATH" for file in graphs]
    kinds = [f"--from {kind.value}: {summary}" for kind, summary in SUMMARIES.items()]
    return InvalidParamError.at("PATH", message, suggestions=[*hints, *kinds])
