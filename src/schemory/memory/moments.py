"""Points in time as callers write them: how long ago, or an ISO date or time."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from schemory.errors import InvalidParamError
from schemory.memory.faults import invalid, refuse
from schemory.model.moment import moment_text

_AGO = re.compile(r"(\d{1,6})\s*([mhdw])", re.IGNORECASE)
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_EXPECTED = "must be how long ago (7d, 24h, 90m, 2w) or an ISO date or time (2026-03-08)"


def parse_moment(text: str, field: str, now: datetime) -> str:
    """Return the moment that `text` means, as stored time text.

    A date means its first moment, a time without a zone is UTC.

    >>> parse_moment("24h", "since", datetime(2026, 3, 8, 12, tzinfo=UTC))
    '2026-03-07T12:00:00.000Z'
    >>> parse_moment("2026-03-08T10:00+01:00", "since", datetime(2026, 3, 8, tzinfo=UTC))
    '2026-03-08T09:00:00.000Z'

    Raises:
        InvalidParamError: It is neither.
    """
    trimmed = text.strip()
    try:
        found = _AGO.fullmatch(trimmed)
        if found is not None:
            ago = timedelta(**{_UNITS[found[2].lower()]: int(found[1])})
            return moment_text(now - ago)
        moment = datetime.fromisoformat(trimmed)
        return moment_text(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
    except (ValueError, OverflowError):
        raise _refused(field) from None


def _refused(field: str) -> InvalidParamError:
    error = refuse(invalid(field, _EXPECTED, suggestion=f"Pass {field} as in `{field}: 7d`."))
    return InvalidParamError(error.message, problems=error.problems, suggestions=error.suggestions)
