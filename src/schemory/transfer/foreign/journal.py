"""Reads journals: JSON records that each hold a text with a title, a kind or a date.

Hooks and home-made memories write such files, each with words of its own; so do assistants that
keep facts with a subject and a reason. Records one a line, in an array or one after another are
read alike, and a record whose text cannot be told from its other members is refused by its line.
"""

import hashlib
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Final

from schemory.model.entry import SourceType
from schemory.model.jsonvalue import Json, is_finite_number
from schemory.model.lines.scan import Scanner, Value
from schemory.model.moment import moment_text
from schemory.model.text import fold
from schemory.transfer.foreign.draft import Draft, Place, Tally
from schemory.transfer.foreign.files import Root, read_file
from schemory.transfer.foreign.json_files import as_object, text_of
from schemory.transfer.foreign.kinds import Kind
from schemory.transfer.foreign.text import clean

_TEXTS: Final = (
    *("message", "fact", "content", "text", "body", "note", "observation", "insight", "lesson"),
)
_TITLES: Final = ("title", "subject", "name", "topic")
_KINDS: Final = ("kind", "category", "type", "tag")
_REASONS: Final = ("reason", "rationale", "why", "summary")
_TIMES: Final = ("ts", "timestamp", "created_at", "createdAt", "date", "time")
_TAKEN: Final = frozenset({*_TEXTS, *_TITLES, *_TIMES, "id", "tags"})
_TYPES: Final[tuple[tuple[tuple[str, ...], SourceType], ...]] = (
    (("decision", "adr"), SourceType.DECISION),
    (("bug", "gotcha", "pitfall", "error", "fix"), SourceType.BUG_PATTERN),
    (("workaround",), SourceType.WORKAROUND),
    (("preference",), SourceType.USER_PREFERENCE),
    (("handoff", "session", "progress"), SourceType.HANDOFF),
    (("environment", "setup", "config"), SourceType.ENVIRONMENT_NOTE),
)
_MILLISECONDS: Final = 100_000_000_000
_SHORTEST_QUOTED: Final = 3


def is_journal(data: bytes) -> bool:
    """Whether the first record of a file is that of a journal."""
    for piece in Scanner(data):
        record = as_object(piece.value if isinstance(piece, Value) else None)
        others = (*_TITLES, *_KINDS, *_TIMES)
        return text_of(record, *_TEXTS) is not None and any(name in record for name in others)
    return False


def read_journal(root: Root, tally: Tally) -> Iterator[Draft]:
    """Yield a draft of every record of a journal."""
    file = read_file(root, root.path, tally)
    if file is None:
        return
    for piece in Scanner(file.data):
        place = Place(file.shown, piece.line)
        record = as_object(piece.value if isinstance(piece, Value) else None)
        text = text_of(record, *_TEXTS)
        if text is None:
            known = ", ".join(sorted(record)[:6])
            tally.refuse(place, f"has {known}, but no text" if known else "is no JSON object")
            continue
        cleaned = clean(_unquoted(text))
        tally.removed.update(cleaned.removed)
        yield _draft(record, cleaned.text, place, root.stored_path(root.path))


def _draft(record: Mapping[str, Json], text: str, place: Place, stored_path: str) -> Draft:
    title = text_of(record, *_TITLES)
    kind = text_of(record, *_KINDS)
    told = next((record[name] for name in _TIMES if record.get(name)), None)
    own_id = record.get("id") or "\n".join(str(each) for each in (title, told) if each) or text
    mark = hashlib.sha256(str(own_id).encode("utf-8", "replace")).hexdigest()[:16]
    tags = record.get("tags")
    rest = {name: value for name, value in record.items() if name not in _TAKEN and value}
    return Draft(
        place=place,
        key=f"{stored_path}#{mark}",
        content=text,
        scope="journal",
        topic=kind.lower() if kind else "notes",
        title=title,
        summary=text_of(record, *_REASONS),
        source_type=_source_type(kind),
        tags=(
            *((kind,) if kind else ()),
            *([str(tag) for tag in tags] if isinstance(tags, list) else ()),
        ),
        created_at=_time_text(told),
        metadata={
            **rest,
            "import": {"kind": Kind.JOURNAL.value, "file": stored_path, "lines": [place.line]},
        },
    )


def _source_type(kind: str | None) -> SourceType:
    word = fold(kind or "")
    return next(
        (kind for words, kind in _TYPES if any(each in word for each in words)),
        SourceType.AGENT_NOTE,
    )


def _unquoted(text: str) -> str:
    """Return a text without the quotes that a shell put around it."""
    bare = text.strip()
    is_quoted = len(bare) >= _SHORTEST_QUOTED and bare[0] == bare[-1] == '"'
    return bare[1:-1] if is_quoted and '"' not in bare[1:-1] else text


def _time_text(value: Json) -> str | None:
    if is_finite_number(value):
        seconds = value / 1000 if value > _MILLISECONDS else value
        try:
            return moment_text(datetime.fromtimestamp(seconds, UTC))
        except (ValueError, OverflowError, OSError):
            return str(value)
    return value if isinstance(value, str) else None
