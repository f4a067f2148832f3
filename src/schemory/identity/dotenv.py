"""Reads a project's own `.env`: project-domain keys and nothing else (memory.md §3).

A cloned repository is untrusted and hosts start servers inside it, so its `.env` can name the
project and make limits tighter; where the store is, which folders may be read and whether writes
are audited it cannot say. The reader is small on purpose: no variables, no commands, no includes,
no values over several lines. (python-dotenv does all of that and takes 30 ms to import.)
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from schemory.identity.files import UnreadableFileError, read_small_text
from schemory.model.frozen import dataclass, field

FILE_NAME = ".env"
PROJECT_ID = "MEMORY_PROJECT_ID"
DISPLAY_NAME = "MEMORY_PROJECT_DISPLAY_NAME"
NAMING_KEYS = (PROJECT_ID, DISPLAY_NAME, "MEMORY_SCOPE_DEFAULT", "MEMORY_ALLOWED_TAGS")
LIMIT_KEYS = (
    *("MEMORY_MAX_ENTRY_BYTES", "MEMORY_MAX_SEARCH_RESULTS", "MEMORY_MAX_TAGS"),
    *("MEMORY_MAX_TITLE_CHARS", "MEMORY_MAX_SUMMARY_CHARS", "MEMORY_MAX_SOURCE_REF_CHARS"),
    *("MEMORY_MAX_SOURCE_URI_CHARS", "MEMORY_MAX_PROJECT_ID_CHARS", "MEMORY_MAX_SCOPE_CHARS"),
    *("MEMORY_MAX_TOPIC_CHARS", "MEMORY_MAX_TAG_CHARS"),
)
PROJECT_KEYS = frozenset((*NAMING_KEYS, *LIMIT_KEYS))
"""The only keys that count in a `.env`."""

_PREFIX = "MEMORY_"
_MAX_FILE_BYTES = 256 * 1024


class Setting(NamedTuple):
    """One line of a `.env` that gives a key a value; None = the value cannot be read."""

    line: int
    key: str
    value: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectEnv:
    """What a project's `.env` says.

    Attributes:
        values: The project-domain keys that were given, as text.
        warnings: Lines and keys that do not count, by name and never by value.
    """

    values: Mapping[str, str] = field(default_factory=dict[str, str])
    warnings: tuple[str, ...] = ()


def read_project_env(folder: Path, *, whose: str = "the project's") -> ProjectEnv:
    """Return the project-domain settings of the `.env` in `folder`; empty when there is none.

    `whose` it is, warnings say.
    """
    try:
        text = read_small_text(folder / FILE_NAME, _MAX_FILE_BYTES)
    except UnreadableFileError as fault:
        owner = whose[0].upper() + whose[1:]
        return ProjectEnv(warnings=(f"{owner} .env {fault} and is not used.",))
    return parse_project_env(text or "", whose=whose)


def parse_project_env(text: str, *, whose: str = "the project's") -> ProjectEnv:
    """Return the project-domain settings of a `.env`'s text; the last line of a key wins."""
    values: dict[str, str] = {}
    warnings: list[str] = []
    for setting in parse_settings(text):
        if setting.key not in PROJECT_KEYS:
            warnings.append(
                f"{setting.key} in {whose} .env is not taken from there; "
                "set it in the server's own environment or flags."
            )
        elif setting.value is None:
            warnings.append(
                f"{setting.key} in {whose} .env is ignored: line {setting.line} "
                "has an open quote or text behind the closing one."
            )
        elif setting.value:
            values[setting.key] = setting.value
    return ProjectEnv(values=values, warnings=tuple(dict.fromkeys(warnings)))


def parse_settings(text: str) -> Iterator[Setting]:
    r"""Yield the `MEMORY_…` settings of a `.env` in order; other lines belong to the application.

    >>> [tuple(s) for s in parse_settings("A=1\nexport MEMORY_PROJECT_ID='team/app' # ours")]
    [(2, 'MEMORY_PROJECT_ID', 'team/app')]
    """
    for number, line in enumerate(text.splitlines(), start=1):
        found = _line().fullmatch(line)
        if found is not None:
            yield Setting(number, found["key"], _value(found["value"]))


def tighter_limits(
    values: Mapping[str, str], current: Mapping[str, int]
) -> tuple[dict[str, int], tuple[str, ...]]:
    """Return `current` with the limits that a `.env` makes smaller, and what was ignored.

    >>> tighter_limits({"MEMORY_MAX_TAGS": "5"}, {"MEMORY_MAX_TAGS": 20})
    ({'MEMORY_MAX_TAGS': 5}, ())
    """
    limits = dict(current)
    warnings: list[str] = []
    for key in LIMIT_KEYS:
        text = values.get(key)
        if text is None or key not in current:
            continue
        if not (text.isascii() and text.isdigit() and int(text) > 0):
            warnings.append(
                f"{key} in the project's .env is ignored: not a whole number from 1 up."
            )
        elif int(text) > current[key]:
            warnings.append(
                f"{key} in the project's .env is ignored: it may only be {current[key]} or less."
            )
        else:
            limits[key] = int(text)
    return limits, tuple(warnings)


@cache
def _line() -> re.Pattern[str]:
    return re.compile(
        rf"\s*(?:export\s+)?(?P<key>{_PREFIX}[A-Z0-9_]+)\s*=[^\S\n]*(?P<value>.*?)\s*"
    )


@cache
def _quoted() -> re.Pattern[str]:
    return re.compile(r"(?:'(?P<single>[^']*)'|\"(?P<double>(?:[^\"\\]|\\.)*)\")(?:\s+#.*|\s*)")


def _value(text: str) -> str | None:
    if not text.startswith(("'", '"')):
        return re.split(r"(?:^|\s)#", text, maxsplit=1)[0].strip()
    found = _quoted().fullmatch(text)
    if found is None:
        return None
    if found["single"] is not None:
        return found["single"]
    return re.sub(r"\\(.)", r"\1", found["double"])
