"""Recognises decision records by their headings, and what became of the decision."""

import re
from collections.abc import Sequence
from typing import Final

from schemory.model.entry import Status
from schemory.model.text import fold

_NUMBERED: Final = re.compile(
    r"\[?(?:adr|decision(?: record)?|dec|rfc)[\s#:_-]*\d+\b.*", re.IGNORECASE | re.DOTALL
)
_MARKS: Final = re.compile(r"^[\W\d_]+|[\W_]+$")
_DECISION: Final = frozenset(
    {
        *("decision", "decision outcome", "the decision", "decisione", "decisión", "décision"),
        *("entscheidung", "decisão", "quyết định", "决定", "决策", "決定", "решение"),
    }
)
_OTHERS: Final = frozenset(
    {
        *("status", "context", "context and problem statement", "consequences", "rationale"),
        *("alternatives", "alternatives considered", "considered options", "decision drivers"),
        *("options", "problem", "implementation details", "stato", "contesto", "conseguenze"),
        *("estado", "contexto", "consecuencias", "contexte", "conséquences", "statut"),
        *("kontext", "konsequenzen", "bối cảnh", "hệ quả", "背景", "状态", "影响", "后果", "状況"),
    }
)
_LOGS: Final = frozenset(
    {
        *("decision log", "decisions", "decision records", "architecture decision records"),
        *("architectural decisions", "architecture decisions", "adrs", "adr log"),
        *("registro decisioni", "decisioni", "decisiones", "entscheidungen", "决策日志"),
    }
)
_STATUS_LINE: Final = re.compile(
    r"^\s*(?:[-*+>|]\s*)?[*_]*(?:status|state|stato|estado|statut|状态)[*_]*\s*[:|\uff1a][*_]*\s*(?P<word>[^\n|]+)",
    re.IGNORECASE | re.MULTILINE,
)
_STATUS_SECTION: Final = re.compile(
    r"^#{1,6}\s*(?:\d+[.)]?\s*)?(?:status|stato|estado|statut|状态)\s*#*\s*\n+(?P<word>[^\n]+)",
    re.IGNORECASE | re.MULTILINE,
)
_NUMBER: Final = re.compile(r"\b(?:adr|decision|dec|rfc)[\s#:_-]*0*(\d+)\b", re.IGNORECASE)
_SUPERSEDED_BY: Final = re.compile(r"(?:superseded|replaced)\s+by\b(?P<rest>[^\n]*)", re.IGNORECASE)
_FILE_NUMBER: Final = re.compile(r"0*(\d{1,5})[-_. ]")
_FATES: Final = (
    (
        ("superseded", "replaced", "sostituit", "reemplazad", "ersetzt", "remplac"),
        Status.SUPERSEDED,
    ),
    (("rejected", "deprecated", "withdrawn", "obsolete", "rifiutat", "rechazad"), Status.ARCHIVED),
)


def is_record(headings: tuple[str, Sequence[str]]) -> bool:
    """Whether a section is a decision record: by its own heading, or by those right below it.

    >>> is_record(("ADR-007: Use SQLite", ())), is_record(("Notes", ("Context", "Decision")))
    (True, True)
    """
    own, below = headings
    if _NUMBERED.fullmatch(own):
        return True
    words = {_word(each) for each in below}
    return not words.isdisjoint(_DECISION) and not words.isdisjoint(_OTHERS)


def is_record_log(title: str | None) -> bool:
    """Whether a title says that a file holds many decision records."""
    return title is not None and _word(title) in _LOGS


def decision_status(text: str) -> str | None:
    """Return what a record says of its status, in its own words, at most a line."""
    found = _STATUS_SECTION.search(text) or _STATUS_LINE.search(text)
    return found["word"].strip(" *_`-") or None if found else None


def entry_status(word: str | None) -> Status:
    """Return the status of an entry for a decision's; a proposal is as active as anything."""
    start = fold(word or "")
    for words, status in _FATES:
        if start.startswith(words):
            return status
    return Status.ACTIVE


def record_number(heading: str, file_name: str) -> str | None:
    """Return a record's number, from its heading or else its file's name."""
    found = _NUMBER.search(heading) or _FILE_NUMBER.match(file_name)
    return found.group(1) if found else None


def superseded_by(text: str) -> str | None:
    """Return the number of the record that a text says supersedes it."""
    found = _SUPERSEDED_BY.search(text)
    if found is None:
        return None
    number = _NUMBER.search(found["rest"]) or re.search(r"\b0*(\d{1,5})\b", found["rest"])
    return number.group(1) if number else None


def _word(heading: str) -> str:
    return fold(_MARKS.sub("", heading).strip())
