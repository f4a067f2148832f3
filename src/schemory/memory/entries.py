"""Rules for an entry's fields, without a store: what is refused, and what is stored instead.

Pure, so that one entry of a call and a hundred thousand of an import are checked alike.
Source: memory.md §4, §9.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeGuard

from schemory.errors import Problem
from schemory.memory.faults import SecretFinding, invalid, one_of, over_limit
from schemory.memory.labels import label_fault, normal_label, normal_tag
from schemory.memory.settings import Limits
from schemory.model.entry import DEFAULT_IMPORTANCE, MAX_IMPORTANCE, MIN_IMPORTANCE, SourceType
from schemory.model.frozen import dataclass, field
from schemory.model.jsonvalue import Json, is_finite_number, json_kind
from schemory.model.likeness import nearest
from schemory.model.text import text_fault
from schemory.safety.secrets import find_secrets

MAX_PATH_CHARS = 4_096

REQUIRED = ("scope", "topic", "content", "source_type")
OPTIONAL_TEXTS = ("title", "summary", "source_ref", "source_path", "source_uri")
FIELDS = (*REQUIRED, *OPTIONAL_TEXTS, "tags", "importance", "confidence")
"""Every field that a caller gives, in the order of messages."""

_SOURCE_TYPES = frozenset(SourceType)


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryRules:
    """What entries of a project must keep to; `allowed_tags` normalised, none = any."""

    limits: Limits = field(default_factory=Limits)
    allowed_tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """Fields after the check.

    Attributes:
        values: What is to be stored, of the fields given; without those that have a problem.
        problems: What is wrong, in the order of `FIELDS`; credentials are not among them.
        findings: Credentials in the texts as they were given.
    """

    values: Mapping[str, Any]
    problems: tuple[Problem, ...]
    findings: tuple[SecretFinding, ...]


def check_fields(given: Mapping[str, Json], rules: EntryRules) -> Checked:
    """Return the fields in `given` as they are stored, and everything that is wrong with them.

    None, and a blank optional text, stand for a field that is empty. A field that is absent is
    not missed: see `missing`.
    """
    check = _Check(rules)
    for name in (name for name in FIELDS if name in given):
        check.field(name, given[name])
    for name in (name for name in given if name not in FIELDS):
        check.problems.append(invalid(name, "is no field of an entry", near=nearest(name, FIELDS)))
    return Checked(
        values=check.values,
        problems=tuple(check.problems),
        findings=tuple(find_field_secrets(given, rules.limits)),
    )


def missing(given: Mapping[str, Json], has_default_scope: bool) -> Iterator[Problem]:  # noqa: FBT001 (one switch)
    """Yield a problem for each field that a new entry needs and `given` lacks."""
    for name in REQUIRED:
        if given.get(name) is None and not (name == "scope" and has_default_scope):
            hint = "MEMORY_SCOPE_DEFAULT can give a default." if name == "scope" else None
            yield invalid(name, "is required", suggestion=hint)


def check_text(name: str, text: str | None, max_chars: int) -> Checked:
    """Return one free text outside an entry (a reason, a label) checked alike; blank = None."""
    problems: list[Problem] = []
    findings: tuple[SecretFinding, ...] = ()
    if text is not None:
        fault = text_fault(text)
        if fault is not None:
            problems.append(invalid(name, fault))
        if len(text) > max_chars:
            problems.append(over_limit(name, len(text), max_chars, "characters"))
        findings = tuple(find_field_secrets({name: text}, Limits()))
    kept = text if text is not None and text.strip() else None
    return Checked(values={name: kept}, problems=tuple(problems), findings=findings)


def content_sha256(content: str) -> str:
    """Return the hash by which equal contents are recognised.

    >>> content_sha256("")[:8]
    'e3b0c442'
    """
    return hashlib.sha256(content.encode()).hexdigest()


def find_field_secrets(given: Mapping[str, Json], limits: Limits) -> Iterator[SecretFinding]:
    """Yield credentials in the texts of `given`; a text far over its limit is not searched."""
    for name, value in given.items():
        texts = [value] if isinstance(value, str) else value if _is_list(value) else []
        for text in texts:
            if isinstance(text, str) and len(text) <= limits.max_entry_bytes:
                for finding in find_secrets(text, precise_only=False):
                    yield SecretFinding(finding.rule, name, finding.start, finding.end)


class _Check:
    """One pass over the fields of one entry."""

    def __init__(self, rules: EntryRules) -> None:
        self._rules = rules
        self._limits = rules.limits
        self.values: dict[str, Json] = {}
        self.problems: list[Problem] = []

    def field(self, name: str, value: Json) -> None:
        if name in {"importance", "confidence"}:
            self._number(name, value)
        elif name == "tags":
            self._tags(value)
        elif value is None:
            self._empty(name)
        elif not isinstance(value, str):
            self._refuse(invalid(name, f"must be a string, not {json_kind(value)}"))
        elif (fault := text_fault(value)) is not None:
            self._refuse(invalid(name, fault))
        else:
            self._text(name, value)

    def _text(self, name: str, text: str) -> None:
        if name in {"scope", "topic"}:
            self._label(name, normal_label(text))
        elif name == "content":
            self._content(text)
        elif name == "source_type":
            if text in _SOURCE_TYPES:
                self.values[name] = text
            else:
                self._refuse(one_of(name, text, tuple(SourceType)))
        elif not text.strip():
            self._empty(name)
        else:
            self._limited(name, text)

    def _empty(self, name: str) -> None:
        if name in REQUIRED:
            self._refuse(invalid(name, "must not be empty or blank"))
        else:
            self.values[name] = None

    def _label(self, name: str, label: str) -> None:
        fault = label_fault(label)
        if fault is not None:
            self._refuse(invalid(name, fault))
        else:
            self._limited(name, label)

    def _content(self, text: str) -> None:
        size = len(text.encode())
        limit = self._limits.max_entry_bytes
        if not text.strip():
            self._empty("content")
        elif size > limit:
            problem = over_limit("content", size, limit, "UTF-8 bytes", "MEMORY_MAX_ENTRY_BYTES")
            self._refuse(problem)
        else:
            self.values["content"] = text

    def _limited(self, name: str, text: str) -> None:
        limit = getattr(self._limits, f"max_{name}_chars", MAX_PATH_CHARS)
        if len(text) > limit:
            setting = "" if name == "source_path" else f"MEMORY_MAX_{name.upper()}_CHARS"
            self._refuse(over_limit(name, len(text), limit, "characters", setting))
        else:
            self.values[name] = text

    def _tags(self, value: Json) -> None:
        given = () if value is None else value
        if not _is_list(given) or not all(isinstance(tag, str) for tag in given):
            self._refuse(invalid("tags", 'must be an array of strings, such as ["auth", "bug"]'))
            return
        texts = [str(tag) for tag in given]
        before = len(self.problems)
        tags = sorted({normal_tag(text) for text in texts})
        for index, text in enumerate(texts):
            self._tag(f"tags[{index}]", text)
        if len(tags) > self._limits.max_tags:
            limit = self._limits.max_tags
            self._refuse(over_limit("tags", len(tags), limit, "tags", "MEMORY_MAX_TAGS"))
        if len(self.problems) == before:
            self.values["tags"] = tags

    def _tag(self, path: str, text: str) -> None:
        tag, limit = normal_tag(text), self._limits.max_tag_chars
        allowed = self._rules.allowed_tags
        fault = text_fault(text) or label_fault(tag)
        if fault is not None:
            self._refuse(invalid(path, fault))
        elif len(tag) > limit:
            self._refuse(over_limit(path, len(tag), limit, "characters", "MEMORY_MAX_TAG_CHARS"))
        elif allowed and tag not in allowed:
            self._refuse(one_of(path, tag, allowed))

    def _number(self, name: str, value: Json) -> None:
        if value is None:
            self.values[name] = DEFAULT_IMPORTANCE if name == "importance" else None
        elif name == "confidence":
            if is_finite_number(value) and 0 <= value <= 1:
                self.values[name] = float(value)
            else:
                self._refuse(invalid(name, "must be a number from 0 to 1"))
        elif is_finite_number(value) and value in range(MIN_IMPORTANCE, MAX_IMPORTANCE + 1):
            self.values[name] = int(value)
        else:
            fault = f"must be a whole number from {MIN_IMPORTANCE} to {MAX_IMPORTANCE}"
            self._refuse(invalid(name, fault))

    def _refuse(self, problem: Problem) -> None:
        self.problems.append(problem)


def _is_list(value: object) -> TypeGuard[Sequence[Json]]:
    return isinstance(value, Sequence) and not isinstance(value, str)
