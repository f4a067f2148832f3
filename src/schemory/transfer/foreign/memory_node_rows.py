"""Brings rows of the memory-node server into the form that the checks of an import know.

What our rules would refuse becomes the nearest thing they take; the original is kept under
`import` in the metadata, and the tally counts each case.
"""

import json
import re
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

from schemory.memory.entries import content_sha256
from schemory.memory.find import known_id
from schemory.memory.labels import label_fault, normal_label
from schemory.memory.redaction import redacted
from schemory.memory.settings import MAX_LABEL_CHARS, MAX_REASON_CHARS
from schemory.model.entry import (
    DEFAULT_IMPORTANCE,
    MAX_IMPORTANCE,
    MIN_IMPORTANCE,
    AuditRow,
    Relation,
    SourceType,
    Status,
)
from schemory.model.jsonvalue import Json, is_finite_number
from schemory.model.moment import moment_text
from schemory.storage.foreign.memory_node import Row
from schemory.transfer.foreign.draft import Tally
from schemory.transfer.foreign.json_files import as_object
from schemory.transfer.memory.check import MAX_OWN_CHARS

_ENTRY: Final = frozenset(
    {
        *("id", "project_id", "scope", "topic", "title", "content", "summary", "source_type"),
        *("source_ref", "source_path", "source_uri", "content_sha256", "status", "confidence"),
        *("importance", "created_by", "created_at", "updated_at", "invalidated_at"),
        *("invalidation_reason", "metadata_json", "tags"),
    }
)
_TEXTS: Final = (
    *("title", "content", "summary", "source_ref", "source_path", "source_uri"),
    *("created_by", "invalidation_reason"),
)
_FREE: Final = ("content", "summary", "query", "text", "document", "title", "reason")
_FORBIDDEN: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff]")
_NAMESPACE: Final = uuid.UUID("0a3c3c7e-7f2e-5d0b-8f67-3f1f0f6c0d11")
_MILLISECONDS: Final = 100_000_000_000
_MAX_LABEL: Final = 200
_MOST_CHARS: Final = {
    "created_by": MAX_OWN_CHARS,
    "description": MAX_REASON_CHARS,
    "invalidation_reason": MAX_REASON_CHARS,
    "label": MAX_LABEL_CHARS,
}


class _Row:
    """One row on its way: what had to be changed is kept aside."""

    def __init__(self, row: Row, tally: Tally) -> None:
        self.row = row
        self._tally = tally
        self.originals: dict[str, Json] = {}

    def change(self, name: str, note: str) -> None:
        """Keep a column's original, since another value takes its place."""
        self.originals[name] = self.row.get(name)
        self._tally.notes[note] += 1

    def text(self, name: str) -> str | None:
        value = self.row.get(name)
        if value is None:
            return None
        plain = _FORBIDDEN.sub("", str(value))
        if plain != value:
            self._tally.notes["control characters, taken out of texts"] += 1
        most = _MOST_CHARS.get(name, len(plain))
        if len(plain) > most:
            self.change(name, f"texts of {name} that were too long, cut")
        return plain[:most]

    def label(self, name: str) -> str:
        label = normal_label(self.text(name) or "")
        if label_fault(label) is None:
            return label
        self.change(name, f"entries without a {name}, now general")
        return "general"

    def word(self, name: str, allowed: frozenset[str], instead: str) -> str:
        value = self.row.get(name)
        if isinstance(value, str) and value in allowed:
            return value
        self.change(name, f"values of {name} that are not known, now {instead}")
        return instead

    def importance(self) -> int:
        value = self.row.get("importance")
        if value is None:
            return DEFAULT_IMPORTANCE
        if is_finite_number(value) and value in range(MIN_IMPORTANCE, MAX_IMPORTANCE + 1):
            return int(value)
        self.change("importance", "values of importance outside 1 to 5")
        if not is_finite_number(value):
            return DEFAULT_IMPORTANCE
        return min(max(round(value), MIN_IMPORTANCE), MAX_IMPORTANCE)

    def confidence(self) -> float | None:
        value = self.row.get("confidence")
        if value is None:
            return None
        if is_finite_number(value) and 0 <= value <= 1:
            return float(value)
        self.change("confidence", "values of confidence outside 0 to 1, left open")
        return None

    def moment(self, name: str, instead: str | None) -> str | None:
        value = self.row.get(name)
        if value is None or value == "":
            return instead
        moment = moment_of(value)
        if moment is None:
            self.change(name, f"times of {name} that are none")
        return moment or instead


def entry_of_row(row: Row, tally: Tally, now: str) -> dict[str, Json]:
    """Return an entry as an import takes it."""
    own = _Row(row, tally)
    fields: dict[str, Json] = {name: own.text(name) for name in _TEXTS}
    content = str(fields["content"] or "")
    created = own.moment("created_at", own.moment("updated_at", now))
    fields |= {
        "id": id_of(row.get("id")),
        "content": content,
        "scope": own.label("scope"),
        "topic": own.label("topic"),
        "source_type": own.word("source_type", frozenset(SourceType), SourceType.AGENT_NOTE.value),
        "status": own.word("status", frozenset(Status), Status.ARCHIVED.value),
        "importance": own.importance(),
        "confidence": own.confidence(),
        "created_at": created,
        "updated_at": own.moment("updated_at", created),
        "invalidated_at": own.moment("invalidated_at", None),
        "tags": _tags(row),
        "content_sha256": content_sha256(content),
    }
    if fields["id"] != row.get("id"):
        own.change("id", "ids that are none here, replaced")
    told = text_of(row, "content_sha256")
    if told and told != fields["content_sha256"]:
        own.change("content_sha256", "sums that were not those of the content")
    extra = {name: row[name] for name in row if name not in _ENTRY and row[name] is not None}
    if extra:
        own.originals["columns"] = extra
        tally.notes["values of columns that are not known, kept as metadata"] += len(extra)
    metadata = loaded(row.get("metadata_json"))
    if own.originals:
        metadata["import"] = {"kind": "memory-node", **own.originals}
    fields["metadata"] = metadata or None
    return fields


def tag_of_row(row: Row, tally: Tally) -> dict[str, Json]:
    """Return a tag as an import takes it."""
    own = _Row(row, tally)
    return {
        "name": own.text("name"),
        "description": own.text("description"),
        "created_at": own.moment("created_at", None),
    }


def link_of_row(row: Row, tally: Tally) -> dict[str, Json]:
    """Return a link as an import takes it."""
    own = _Row(row, tally)
    label = own.text("label")
    relation = own.word("relation", frozenset(Relation), Relation.RELATED_TO.value)
    if "relation" in own.originals:
        label = " ".join(filter(None, (str(row.get("relation") or ""), label)))[:_MAX_LABEL]
    metadata = loaded(row.get("metadata_json"))
    if "label" in own.originals:
        metadata["import"] = {"kind": "memory-node", "label": own.originals["label"]}
    return {
        "id": id_of(row.get("id")),
        "source_entry_id": id_of(row.get("source_entry_id")),
        "target_entry_id": id_of(row.get("target_entry_id")),
        "relation": relation,
        "label": label or None,
        "created_at": own.moment("created_at", "1970-01-01T00:00:00.000Z"),
        "metadata": metadata or None,
    }


def audit_of_row(row: Row, project_id: str, now: str) -> AuditRow:
    """Return an audit row; free text that it should not hold is redacted by our rules."""
    params = loaded(row.get("params_redacted_json"))
    free: dict[str, Json] = {
        name: params[name] for name in _FREE if isinstance(params.get(name), str)
    }
    entry = row.get("entry_id")
    return AuditRow(
        id=id_of(row.get("id")),
        timestamp=moment_of(row.get("timestamp")) or now,
        project_id=project_id,
        operation=str(row.get("operation") or "unknown")[:100],
        entry_id=None if entry is None else id_of(entry),
        actor=str(row.get("actor") or ""),
        params={**params, **redacted(free, with_hashes=True)},
        result=loaded(row.get("result_json")),
    )


def id_of(value: Json) -> str:
    """Return an id as it is, or where it can be none here another that is always the same."""
    text = "" if value is None else str(value)
    return known_id(text) or str(uuid.uuid5(_NAMESPACE, text))


def loaded(value: Json) -> dict[str, Json]:
    """Return metadata of its JSON text; what is no object is kept as the text it is."""
    if not isinstance(value, str) or not value.strip():
        return {}
    try:
        found: Json = json.loads(value)
    except (ValueError, RecursionError):
        return {"metadata_json": _FORBIDDEN.sub("", value)}
    return dict(as_object(found)) if isinstance(found, dict) else {"metadata_json": value}


def moment_of(value: Json) -> str | None:
    """Return a stored time as our text: ISO text, or seconds or milliseconds since 1970.

    >>> moment_of("2026-05-11 10:00:00"), moment_of(1_778_493_600)
    ('2026-05-11T10:00:00.000Z', '2026-05-11T10:00:00.000Z')
    """
    try:
        if isinstance(value, str) and value.isdecimal():
            value = int(value)
        if is_finite_number(value):
            seconds = value / 1000 if value > _MILLISECONDS else value
            return moment_text(datetime.fromtimestamp(seconds, UTC))
        moment = datetime.fromisoformat(str(value))
        return moment_text(moment.replace(tzinfo=moment.tzinfo or UTC))
    except (ValueError, OverflowError, OSError):
        return None


def text_of(row: Mapping[str, Json], name: str) -> str:
    """Return a column as text; "" for none."""
    value = row.get(name)
    return "" if value is None else str(value)


def _tags(row: Row) -> list[Json]:
    tags = row.get("tags")
    return [tag for tag in tags if str(tag).strip()] if isinstance(tags, list) else []
