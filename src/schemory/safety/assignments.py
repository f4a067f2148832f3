"""Finds values that are given to a password-like name: `password=…`, `api_key: "…"`, `Bearer …`.

Unlike the known forms this is a judgement: the name says "secret", so the value has to look like
a value and not like a type, a variable, a call, a placeholder or a sentence.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from schemory.safety.values import (
    is_basic_credential,
    is_hard_token,
    looks_like_code,
    looks_random,
    looks_typed_in,
)

_PASSWORD_STEMS = (
    *("pass", "pwd", "kennwort", "contrase", "senha", "parola d'ordine", "пароль", "密码", "密碼"),
    *("パスワード", "비밀번호"),
)
_TOKEN_STEMS = ("secret", "token", "credential", "key")
_HEADER_STEMS = ("bearer ", "basic ")
_SIDE_CHARS = 60
_FEWEST_BEARER_CHARS = 16


class Spot(NamedTuple):
    """A value that was given to a password-like name.

    Attributes:
        rule: Which judgement found it.
        start: Where the value begins, in code points.
        end: Where it ends, exclusive.
    """

    rule: str
    start: int
    end: int


class _Name(NamedTuple):
    start: int
    end: int
    is_password: bool
    is_environment: (
        bool  # `DB_PASSWORD`: upper-case, so an unquoted value is a value, not a variable
    )
    is_flag: bool  # `--password`
    is_element: bool  # `<password>`


@cache
def _password_rest() -> re.Pattern[str]:
    return re.compile(r"word|wd|phrase|wort|code|e(?<=mot de passe)")


@cache
def _qualified_key() -> re.Pattern[str]:
    return re.compile(
        r"(?:api|access|auth|private|secret|encryption|signing|master|account|service|app|admin|"
        r"deploy|license|storage|shared|client)[ _-]?$"
    )


@cache
def _after_name() -> re.Pattern[str]:
    return re.compile(
        r"""(?x)
        (?P<tail>[\w.\-]{0,30})
        (?P<close>\\?["'`\])*_]{0,3})
        (?P<link>
            [ \t]{0,3}
            (?: :[ \t]?[A-Za-z_][\w\[\]|.?]{0,30}[ \t]?(?==[^=]) )?   # `password: str = …`
            (?: ={1,3} | := | => | -> | [:\uff1a] | > )
            [*_]{0,2}[ \t]{0,3}
          | [ \t](?:is|was|è|era|est|ist|es|war|sarà)[ \t]:?[ \t]?
          | [ \t]
        )
        (?:
            \\?(?P<quote>["'`])(?P<quoted>(?:(?!(?P=quote))[^\n]){1,300})(?P=quote)
          | (?P<bare>[^\s"'`,;&<>|]{1,300})
        )
        """
    )


@cache
def _long_run() -> re.Pattern[str]:
    return re.compile(r"[A-Za-z0-9+/=_-]{20,160}")


@cache
def _ordinary_tail() -> re.Pattern[str]:
    """Ends of a name that still say "the secret itself": `password1`, `secret_key_base`."""
    return re.compile(
        r"(?:s|_?\d{1,2}|[_.-]?(?:value|text|plain|prod|production|dev|staging|test|db|admin|root|base|"
        r"main|live|key|string|access_key|accesskey))?",
        re.IGNORECASE,
    )


@cache
def _other_thing() -> re.Pattern[str]:
    """Ends of a name that say something about the secret: `password_hash`, `TOKEN_TTL`."""
    return re.compile(
        r"(?:hash|digest|file|path|name|ur[il]|id|type|len|length|min|max|polic(?:y|ies)|field|env|ttl|"
        r"exp\w*|timeout|count|limit|reset|label|hint|rules?|regex|pattern|valid\w*|input|form|param\w*|"
        r"prompt|column|encoder|manager|provider|service|store|strategy|age|format|header|prefix|suffix|"
        r"size|budget|usage|price|version|alg\w*|scheme|endpoint|method|ref|arn|index|list|map|count\w*|"
        r"i[sz]\w*|less|scanning|detection|rotation)s?(?![a-z])",
        re.IGNORECASE,
    )


def find_assigned(text: str) -> Iterator[Spot]:
    """Yield each value that stands where a password-like name puts a secret, in no set order."""
    lowered = _same_length_lower(text)
    unassigned: list[_Name] = []
    for name in _names(text, lowered):
        spot = _assigned(text, name)
        if spot is None:
            unassigned.append(name)
        else:
            yield spot
    for stem in _HEADER_STEMS:
        yield from _header_values(text, lowered, stem)
    if unassigned:
        yield from _random_beside(text, unassigned)


def _same_length_lower(text: str) -> str:
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(low if len(low := char.lower()) == 1 else char for char in text)


def _names(text: str, lowered: str) -> Iterator[_Name]:
    for stem in (*_PASSWORD_STEMS, *_TOKEN_STEMS):
        start = lowered.find(stem)
        while start >= 0:
            end = _name_end(lowered, stem, start)
            if end and not _runs_on(text, end):
                yield _name(text, start, end, is_password=stem in _PASSWORD_STEMS)
            start = lowered.find(stem, start + len(stem))


def _name_end(lowered: str, stem: str, start: int) -> int:
    """Return where the word that begins with `stem` ends, or 0 when it is another word."""
    end = start + len(stem)
    if stem == "pass":
        rest = _password_rest().match(lowered, end)
        if rest is not None:
            return rest.end()
        return end if start and lowered[start - 1] in "_-" else 0
    if stem == "contrase":
        return end + 2 if lowered[end : end + 2] in {"ña", "na"} else 0
    if stem == "key":
        return end if _qualified_key().search(lowered, max(0, start - 12), start) else 0
    return end


def _runs_on(text: str, end: int) -> bool:
    """Return whether the word goes on as another word: `tokenizer`, `TOKENIZERS`, `secretary`."""
    rest = text[end : end + 2]
    if not rest[:1].isalpha() or not rest[0].isascii():
        return False
    if rest[0] in "sS" and not rest[1:].isalpha():
        return False
    return rest[0].islower() or text[end - 1].isupper()


def _name(text: str, start: int, end: int, *, is_password: bool) -> _Name:
    before = start
    while before and (text[before - 1].isalnum() or text[before - 1] in "_-."):
        before -= 1
    whole = text[before:end]
    return _Name(
        start=before,
        end=end,
        is_password=is_password,
        is_environment=whole.isupper() and len(whole) == len(whole.encode()),
        is_flag=whole.startswith("-"),
        is_element=before > 0 and text[before - 1] == "<",
    )


def _assigned(text: str, name: _Name) -> Spot | None:
    found = _after_name().match(text, name.end)
    if found is None or _other_thing().search(found["tail"]):
        return None
    kind = "quoted" if found["quoted"] else "bare"
    value = found[kind].rstrip("\\") if kind == "quoted" else found[kind].rstrip(".,;:!?)*_\\")
    link = found["link"]
    if (link.strip() == ">" and not name.is_element) or not value:
        return None
    is_ordinary = _ordinary_tail().fullmatch(found["tail"]) is not None
    if not _is_value(value, name, link, is_quoted=kind == "quoted", is_ordinary=is_ordinary):
        return None
    start = found.start(kind)
    rule = "password-assignment" if name.is_password else "token-assignment"
    return Spot(rule, start, start + len(value))


def _is_value(value: str, name: _Name, link: str, *, is_quoted: bool, is_ordinary: bool) -> bool:
    if looks_like_code(value, is_quoted=is_quoted):
        return False
    has_operator = bool(link.strip()) and not link.strip().isalpha()
    if not is_ordinary or not name.is_password:
        is_set = has_operator and (is_quoted or (name.is_environment and link == "="))
        return is_hard_token(value, is_set=is_set and is_ordinary)
    if has_operator and (is_quoted or (name.is_environment and link == "=")):
        return True
    if not has_operator and not link.strip() and not (is_quoted or name.is_flag):
        return False
    return looks_typed_in(value)


def _random_beside(text: str, names: list[_Name]) -> Iterator[Spot]:
    for found in _long_run().finditer(text):
        start, end = found.span()
        if not _stands_alone(text, start, end) or not looks_random(found.group()):
            continue
        if any(_is_beside(text, name, start, end) for name in names):
            yield Spot("high-entropy-string", start, end)


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Return whether the run is no part of a path, an address, a checksum or an embedded image."""
    before, after = text[max(0, start - 7) : start], text[end : end + 2]
    if before.endswith((".", ":", "@", "#", "base64,")) or after[:1] in {":", "@", "("}:
        return False
    return not (after[:1] == "." and after[1:].isalnum())


def _is_beside(text: str, name: _Name, start: int, end: int) -> bool:
    """Return whether the span stands near the name, on its line."""
    if start >= name.end:
        return start - name.end <= _SIDE_CHARS and "\n" not in text[name.end : start]
    return 0 <= name.start - end <= _SIDE_CHARS and "\n" not in text[end : name.start]


def _header_values(text: str, lowered: str, stem: str) -> Iterator[Spot]:
    start = lowered.find(stem)
    while start >= 0:
        end = start + len(stem)
        stop = end
        while stop < len(text) and (text[stop].isalnum() or text[stop] in "._~+/=-"):
            stop += 1
        value = text[end:stop].rstrip(".")
        if stem == "basic ":
            if is_basic_credential(value):
                yield Spot("basic-credentials", end, end + len(value))
        elif len(value) >= _FEWEST_BEARER_CHARS and is_hard_token(value, is_set=False):
            yield Spot("bearer-token", end, end + len(value))
        start = lowered.find(stem, end)
