"""Rules for what a file says: an entry's, a tag's and a link's fields, each with all its faults."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Final

from schemory.errors import InvalidParamError, LimitExceededError, Problem
from schemory.memory.entries import (
    FIELDS,
    OPTIONAL_TEXTS,
    EntryRules,
    check_fields,
    content_sha256,
    find_field_secrets,
    missing,
)
from schemory.memory.faults import invalid, one_of, over_limit
from schemory.memory.find import known_id
from schemory.memory.settings import MAX_LABEL_CHARS, MAX_REASON_CHARS
from schemory.model.entry import DEFAULT_IMPORTANCE, Relation, Status
from schemory.model.jsonvalue import Json, compact, is_finite_number, json_kind
from schemory.model.likeness import nearest
from schemory.model.moment import moment_text
from schemory.model.text import text_fault
from schemory.transfer.memory.faults import FileFaults
from schemory.transfer.memory.source_paths import SourcePaths
from schemory.transfer.memory.stream import parse_line
from schemory.transfer.memory.texts import texts_of
from schemory.transfer.memory.wire import ENTRY_FIELDS, LINK_FIELDS, TAG_FIELDS

_METADATA_TEXT: Final = "metadata_json"
_SCANNED: Final = (
    *("invalidation_reason", "label", "description", "created_by", "project_id"),
    *("display_name", "id"),
)
"""Texts that are looked through for credentials beside those of every entry."""
_SHA256: Final = re.compile("[0-9a-f]{64}")
_BLOB: Final = re.compile("[0-9a-f]{40}")
MAX_OWN_CHARS: Final = 500
_MAX_BYTES: Final = 2**53
_MAX_REVISION: Final = 2**31
_MAX_DEPTH: Final = 50
_CLOCKS_DIFFER: Final = timedelta(days=1)


class Checker:
    """Checks the things of one file; what is wrong goes to the faults.

    Args:
        rules: The project's.
        faults: Where problems go.
        paths: Judges what entries name as their source; None = what they name is taken.
        now: What a time counts as that is more than a day later (clocks differ), since nothing
            written before it would be newer; None = any time is taken.

    Attributes:
        early: How many times were still to come.
    """

    def __init__(
        self,
        rules: EntryRules,
        faults: FileFaults,
        paths: SourcePaths | None = None,
        now: datetime | None = None,
    ) -> None:
        self._rules = rules
        self._faults = faults
        self._paths = paths
        self._now = now
        self.early = 0

    def entry(self, value: Json, where: str) -> dict[str, Json] | None:
        """Return an entry's fields as they are stored, None when something is wrong with it."""
        given = self._object(value, where, (*ENTRY_FIELDS, _METADATA_TEXT))
        if given is None:
            return None
        before = self._faults.count
        texts = {name: given[name] for name in FIELDS if name in given}
        checked = check_fields(texts, self._rules)
        self._faults.add(where, *missing(texts, has_default_scope=False), *checked.problems)
        self._faults.add_findings(where, checked.findings)
        own = _Fields(given, self._rules, self._now)
        fields = {**dict.fromkeys(OPTIONAL_TEXTS), **checked.values, **own.entry()}
        self._settle(where, given, own)
        if self._faults.count > before:
            return None
        fault = self._paths.settle(fields) if self._paths is not None else None
        if fault is not None:
            self._faults.add(where, fault)
            return None
        fields.setdefault("tags", [])
        fields.setdefault("confidence", None)
        fields.setdefault("importance", DEFAULT_IMPORTANCE)
        return fields

    def tag(self, value: Json, where: str) -> dict[str, Json] | None:
        """Return a tag's fields as they are stored, None when something is wrong with it."""
        if isinstance(value, str):
            value = {"name": value}
        given = self._object(value, where, (*TAG_FIELDS, "id", "project_id"))
        if given is None:
            return None
        before = self._faults.count
        name = given.get("name")
        checked = check_fields({"tags": [name]}, self._rules)
        self._faults.add(where, *(_of_name(problem) for problem in checked.problems))
        own = _Fields(given, self._rules, self._now)
        own.text("description", MAX_REASON_CHARS)
        own.moment("created_at", is_required=False)
        self._faults.add_findings(where, checked.findings)
        self._settle(where, given, own)
        if self._faults.count > before:
            return None
        return {**own.values, "name": _first(checked.values["tags"])}

    def link(self, value: Json, where: str) -> dict[str, Json] | None:
        """Return a link's fields as they are stored, None when something is wrong with it."""
        given = self._object(value, where, (*LINK_FIELDS, _METADATA_TEXT, "project_id"))
        if given is None:
            return None
        before = self._faults.count
        own = _Fields(given, self._rules, self._now)
        for name in ("id", "source_entry_id", "target_entry_id"):
            own.identity(name)
        own.word("relation", tuple(Relation))
        own.text("label", MAX_LABEL_CHARS)
        own.moment("created_at", is_required=True)
        own.metadata()
        ends = (own.values.get("source_entry_id"), own.values.get("target_entry_id"))
        if ends[0] is not None and ends[0] == ends[1]:
            own.problems.append(invalid("target_entry_id", "is the source itself"))
        self._settle(where, given, own)
        return own.values if self._faults.count == before else None

    def project(self, value: Json, where: str) -> dict[str, Json]:
        """Return what a file says of its project: id, display_name, created_at and metadata."""
        names = ("id", "display_name", "canonical_path", "git_remote", "created_at", "updated_at")
        given = self._object(value, where, (*names, "metadata", _METADATA_TEXT))
        if given is None:
            return {}
        own = _Fields(given, self._rules, self._now)
        own.text("id", self._rules.limits.max_project_id_chars)
        own.text("display_name", MAX_OWN_CHARS)
        own.moment("created_at", is_required=False)
        own.metadata()
        self._settle(where, given, own)
        return own.values

    def _object(self, value: Json, where: str, known: tuple[str, ...]) -> Mapping[str, Json] | None:
        if not isinstance(value, Mapping):
            kind = json_kind(value)
            self._faults.add(where, _problem("$", f"must be an object, not {kind}"))
            return None
        for name in value:
            if name not in known:
                near = nearest(name, known)
                self._faults.add(where, invalid(name[:80], "is no field here", near=near))
        return value

    def _settle(self, where: str, given: Mapping[str, Json], own: "_Fields") -> None:
        self._faults.add(where, *own.problems)
        self.early += own.early
        texts: dict[str, Json] = {
            name: given[name] for name in _SCANNED if isinstance(given.get(name), str)
        }
        metadata = own.values.get("metadata")
        if metadata is not None:
            texts["metadata"] = list(texts_of(metadata))
        findings = find_field_secrets(texts, self._rules.limits)
        self._faults.add_findings(where, findings)


class _Fields:
    """One pass over fields that only files have."""

    def __init__(self, given: Mapping[str, Json], rules: EntryRules, now: datetime | None) -> None:
        self._given = given
        self._rules = rules
        self._now = now
        self.early = 0
        self.values: dict[str, Json] = {}
        self.problems: list[Problem] = []

    def entry(self) -> dict[str, Json]:
        """Check what an entry has beyond what callers give, and return it."""
        self.identity("id")
        self.text("project_id", self._rules.limits.max_project_id_chars)
        self.word("status", tuple(Status), default=Status.ACTIVE)
        self.moment("created_at", is_required=True)
        self.moment("updated_at", is_required=False)
        self.moment("invalidated_at", is_required=False)
        self.text("invalidation_reason", MAX_REASON_CHARS)
        self.text("created_by", MAX_OWN_CHARS)
        self.pattern("source_sha256", _SHA256, "64 hexadecimal digits")
        self.pattern("source_blob", _BLOB, "40 hexadecimal digits")
        self.whole("source_bytes", 0, _MAX_BYTES)
        self.whole("revision", 1, _MAX_REVISION)
        self.metadata()
        self._sum()
        self.values["revision"] = self.values.get("revision") or 1
        self.values["updated_at"] = self.values.get("updated_at") or self.values.get("created_at")
        return self.values

    def identity(self, name: str) -> None:
        """Check an id."""
        value = self._given.get(name)
        if isinstance(value, str) and known_id(value) is not None:
            self.values[name] = value
        else:
            fault = "must be an id: 1 to 64 letters, digits, _ and -"
            self._refuse(name, "is required" if value is None else fault)

    def text(self, name: str, limit: int) -> None:
        """Check an optional text."""
        value = self._given.get(name)
        self.values[name] = None
        if value is None:
            return
        if not isinstance(value, str):
            self._refuse(name, f"must be a string, not {json_kind(value)}")
        elif (fault := text_fault(value)) is not None:
            self._refuse(name, fault)
        elif len(value) > limit:
            self.problems.append(over_limit(name, len(value), limit, "characters"))
        else:
            self.values[name] = value

    def word(self, name: str, allowed: tuple[str, ...], default: str | None = None) -> None:
        """Check one of a few words."""
        value = self._given.get(name)
        if value is None and default is not None:
            self.values[name] = str(default)
        elif isinstance(value, str) and value in allowed:
            self.values[name] = value
        elif isinstance(value, str):
            self.problems.append(one_of(name, value, allowed))
        else:
            self._refuse(name, f"must be one of {', '.join(allowed)}")

    def moment(self, name: str, *, is_required: bool) -> None:
        """Check a time; without a zone it is UTC, one that is far to come is now."""
        value = self._given.get(name)
        self.values[name] = None
        if value is None:
            if is_required:
                self._refuse(name, "is required")
            return
        try:
            moment = datetime.fromisoformat(value if isinstance(value, str) else "")
            if moment.tzinfo is None:
                moment = moment.replace(tzinfo=UTC)
            if self._now is not None and moment > self._now + _CLOCKS_DIFFER:
                self.early += 1
                moment = self._now
            self.values[name] = moment_text(moment)
        except (ValueError, OverflowError):
            self._refuse(name, "must be an ISO time such as 2026-03-08T09:05:07.000Z")

    def pattern(self, name: str, pattern: re.Pattern[str], expected: str) -> None:
        """Check an optional text of a certain form."""
        value = self._given.get(name)
        self.values[name] = None
        if value is None:
            return
        if isinstance(value, str) and pattern.fullmatch(value):
            self.values[name] = value
        else:
            self._refuse(name, f"must be {expected}")

    def whole(self, name: str, least: int, most: int) -> None:
        """Check an optional whole number."""
        value = self._given.get(name)
        self.values[name] = None
        if value is None:
            return
        if is_finite_number(value) and value == int(value) and least <= value <= most:
            self.values[name] = int(value)
        else:
            self._refuse(name, f"must be a whole number from {least} to {most}")

    def metadata(self) -> None:
        """Check free fields, given as an object or as its JSON text."""
        given = self._given
        name = "metadata" if given.get("metadata") is not None else _METADATA_TEXT
        value = given.get(name)
        if isinstance(value, str):
            try:
                value = parse_line(value.encode("utf-8", "surrogatepass"), name)
            except InvalidParamError:
                self._refuse(name, "must be an object, or its JSON text")
                return
        self.values["metadata"] = None
        if value is None:
            return
        if not isinstance(value, Mapping):
            self._refuse(name, "must be an object, or its JSON text")
            return
        fault = _value_fault(value, _MAX_DEPTH)
        limit = self._rules.limits.max_entry_bytes
        if fault is not None:
            self._refuse(name, fault)
        elif (size := len(compact(value).encode())) > limit:
            setting = "MEMORY_MAX_ENTRY_BYTES"
            self.problems.append(over_limit(name, size, limit, "UTF-8 bytes", setting))
        else:
            self.values["metadata"] = value

    def _sum(self) -> None:
        """Check that the content is what it was when its sum was told."""
        content, told = self._given.get("content"), self._given.get("content_sha256")
        if not isinstance(content, str) or text_fault(content) is not None:
            return  # told elsewhere
        actual = content_sha256(content)
        if told is not None and told != actual:
            self._refuse("content_sha256", "is not the SHA-256 of the content")
        self.values["content_sha256"] = actual

    def _refuse(self, name: str, fault: str) -> None:
        self.problems.append(invalid(name, fault))


def _value_fault(value: Json, depth: int) -> str | None:
    """Return why a value cannot be kept, or None."""
    if depth == 0:
        return f"must not be nested deeper than {_MAX_DEPTH}"
    if isinstance(value, str):
        return text_fault(value)
    if isinstance(value, Mapping):
        return next(
            (f for v in (*value, *value.values()) if (f := _value_fault(v, depth - 1))), None
        )
    if isinstance(value, list):
        return next((f for v in value if (f := _value_fault(v, depth - 1))), None)
    if value is None or isinstance(value, bool) or is_finite_number(value):
        return None
    return "must not hold a number beyond what a double holds"


def _first(value: Json) -> Json:
    return value[0] if isinstance(value, list) else value


def _of_name(problem: Problem) -> Problem:
    code = problem.code
    fault = problem.message.replace("tags[0] ", "name ").replace("tags ", "name ")
    kind = LimitExceededError.code if code == LimitExceededError.code else InvalidParamError.code
    return Problem(code=kind, path="$.name", message=fault, nearest=problem.nearest)


def _problem(path: str, message: str) -> Problem:
    return Problem(code=InvalidParamError.code, path=path, message=message)
