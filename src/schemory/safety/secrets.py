"""Finds credentials in a text before it is stored; tells rule and place, never the value.

A text is first asked for the fixed letters of each rule, which costs a substring search; patterns
are compiled when their letters first turn up, so that importing this module costs nothing.
Source: memory.md §9.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import NamedTuple

from schemory.safety.assignments import find_assigned
from schemory.safety.placeholders import is_documentation_token, is_stand_in
from schemory.safety.service_forms import SERVICE_FORMS
from schemory.safety.shape_forms import SHAPE_FORMS
from schemory.safety.token_forms import TOKEN_FORMS

_SHORTEST_TOKEN = 20
_ESCAPES = ("\\n", "\\r", "\\t")

_TOKENS = (*TOKEN_FORMS, *SERVICE_FORMS)
_KEYWORDS = tuple((keyword, form) for form in SHAPE_FORMS for keyword in form.keywords)


class Finding(NamedTuple):
    """Where a text holds what looks like a credential.

    Attributes:
        rule: The name of the rule that found it.
        start: The value's first code point.
        end: Behind its last code point.
    """

    rule: str
    start: int
    end: int


def find_secrets(text: str, *, precise_only: bool) -> tuple[Finding, ...]:
    """Return what looks like a credential in `text`, by place, without overlaps.

    With `precise_only` only forms count that mean nothing else: tokens of known providers, private
    keys, connection strings with credentials, signed tokens. Otherwise also values given to a
    password-like name, HTTP credentials, and random strings beside such a name.
    """
    found = [*_known_tokens(text), *_known_shapes(text)]
    if not precise_only:
        found += [Finding(*spot) for spot in find_assigned(text)]
    return _without_overlaps(found)


def _known_tokens(text: str) -> Iterator[Finding]:
    # Prose has few words that could hold a token, so asking only these for every prefix is cheap.
    long_words = "\n".join([word for word in text.split() if len(word) >= _SHORTEST_TOKEN])
    if not long_words:
        return
    for form in _TOKENS:
        for prefix in form.prefixes:
            if prefix in long_words:
                rest = _compiled(form.rest + "(?![A-Za-z0-9])")
                for start, end in _tokens_at(text, prefix, rest):
                    yield Finding(form.name, start, end)


def _tokens_at(text: str, prefix: str, rest: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    start = text.find(prefix)
    while start >= 0:
        found = rest.match(text, start + len(prefix)) if _begins_a_word(text, start) else None
        if found is not None and not is_documentation_token(text[start : found.end()]):
            yield start, found.end()
        start = text.find(prefix, start + 1)


def _begins_a_word(text: str, at: int) -> bool:
    before = text[max(0, at - 3) : at]
    if not before or not (before[-1].isascii() and before[-1].isalnum()):
        return True
    # An escaped line break (`\nghp_…` in JSON) or a percent code (`%3Dghp_…`) ends a word too.
    return before.endswith(_ESCAPES) or (len(before) == len("%3D") and before[0] == "%")


def _known_shapes(text: str) -> Iterator[Finding]:
    for form in dict.fromkeys([form for keyword, form in _KEYWORDS if keyword in text]):
        for found in _compiled(form.pattern).finditer(text):
            group = "value" if "value" in found.re.groupindex else 0
            if not _is_harmless(found, group):
                yield Finding(form.name, found.start(group), found.end(group))


def _is_harmless(found: re.Match[str], group: str | int) -> bool:
    """Return whether the credential is a placeholder, or a user name told twice (`app:app@`)."""
    value = found[group]
    if "user" in found.re.groupindex:
        return is_stand_in(value) or value == found["user"]
    return is_documentation_token(value)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _without_overlaps(found: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the findings by place; where two overlap, the one whose rule was tried first stays."""
    kept: list[Finding] = []
    for finding in found:
        if all(finding.end <= other.start or other.end <= finding.start for other in kept):
            kept.append(finding)
    return tuple(sorted(kept, key=lambda finding: (finding.start, finding.end)))
