"""Read what a record of a foreign file claims about its age: times in any usual form, a version."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

from schemory.model.jsonvalue import Json
from schemory.model.lines.records import NO_CLAIMS, Claims
from schemory.model.moment import moment_text

CREATED_KEYS: Final = ("createdAt", "created_at")
UPDATED_KEYS: Final = ("updatedAt", "updated_at")
VERSION_KEY: Final = "version"
_SECONDS_END = 1e11  # a larger number counts milliseconds (as seconds it would be the year 5138)
_MILLISECONDS_END = 1e14
_MIN_DIGITS = 9
_EXACT_BELOW = 2**53  # larger whole numbers are no longer exact as floats


def parse_moment(value: object) -> datetime | None:
    """Return the moment that an ISO 8601 text or an epoch number means, or None.

    Seconds, milliseconds and microseconds since 1970 are told apart by size; a time without zone
    is UTC.

    >>> parse_moment(1768402102) == parse_moment(1768402102000)
    True
    >>> parse_moment(1768402102) == parse_moment("2026-01-14T14:48:22Z")
    True
    >>> parse_moment("yesterday"), parse_moment(True)
    (None, None)
    """
    if isinstance(value, bool):
        return None
    try:
        if isinstance(value, int | float):
            return _from_epoch(value)
        if isinstance(value, str):
            return _from_text(value.strip())
    except (ValueError, OverflowError, OSError):
        return None
    return None


def _from_epoch(number: float) -> datetime:
    if number >= _MILLISECONDS_END:
        number /= 1e6
    elif number >= _SECONDS_END:
        number /= 1e3
    return datetime.fromtimestamp(number, UTC)


def _from_text(text: str) -> datetime:
    if text.isascii() and text.isdigit() and len(text) >= _MIN_DIGITS:
        return _from_epoch(int(text))
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        return moment.replace(tzinfo=UTC)
    return moment.astimezone(UTC)


def same_form(old: Json, moment: str) -> Json:
    """Return our stored `moment` in the form that `old` has: epoch of the same unit, or ISO text.

    >>> same_form(1768402102, "2026-01-14T14:48:23.500Z")
    1768402103
    >>> same_form("2026-01-14", "2026-01-14T14:48:23.500Z")
    '2026-01-14T14:48:23.500Z'
    """
    if isinstance(old, bool) or not isinstance(old, int | float):
        return moment
    seconds = datetime.fromisoformat(moment).timestamp()
    if old >= _MILLISECONDS_END:
        return round(seconds * 1e6)
    return round(seconds * 1e3) if old >= _SECONDS_END else int(seconds)


def read_claims(found: Mapping[str, Json]) -> tuple[Claims, frozenset[str]]:
    """Return the claims in a record's fields, and which fields were used up by them.

    A field that is there but tells no time is not used up.
    """
    number = version_number(found.get(VERSION_KEY))
    created_key, created = _first_moment(found, CREATED_KEYS)
    updated_key, updated = _first_moment(found, UPDATED_KEYS)
    if number is None and created is None and updated is None:
        return NO_CLAIMS, frozenset()
    moments = [moment for moment in (created, updated) if moment is not None]
    claims = Claims(
        created=moment_text(created) if created else None,
        updated=moment_text(updated) if updated else None,
        version=number,
        latest=max(moments, default=None),
    )
    return claims, frozenset(key for key in (created_key, updated_key) if key)


def version_number(value: Json) -> float | None:
    """Return a version that can be compared, or None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) < _EXACT_BELOW else None


def _first_moment(
    found: Mapping[str, Json], keys: tuple[str, ...]
) -> tuple[str | None, datetime | None]:
    for key in keys:
        if key in found:
            moment = parse_moment(found[key])
            if moment is not None:
                return key, moment
    return None, None
