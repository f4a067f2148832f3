"""Everything wrong with one call, told at once."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from schemory.errors import (
    InvalidParamError,
    LimitExceededError,
    Problem,
    SchemoryError,
    SecretDetectedError,
    error_for,
)
from schemory.model.jsonvalue import Json
from schemory.model.likeness import nearest
from schemory.model.text import encodable

_LONGEST_SHOWN = 80


class SecretFinding(NamedTuple):
    """Where a field holds what looks like a credential; never the value."""

    rule: str
    field: str
    start: int
    end: int

    def wire(self) -> dict[str, Json]:
        """Return the finding as JSON."""
        return {"rule": self.rule, "field": self.field, "start": self.start, "end": self.end}


class Faults:
    """Collects problems; `raise_any` makes one error of them.

    Attributes:
        findings: Credentials that speak against the call.
    """

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self.findings: list[SecretFinding] = []
        self._taken: SchemoryError | None = None

    def add(self, *problems: Problem) -> None:
        """Note problems."""
        self.problems += problems

    def take(self, error: SchemoryError) -> None:
        """Note what a deeper check refused."""
        self.problems += error.problems
        self._taken = error

    def add_findings(self, findings: Iterable[SecretFinding]) -> None:
        """Note credentials that are not allowed."""
        for finding in findings:
            self.findings.append(finding)
            self.add(secret_problem(finding))

    def raise_any(self) -> None:
        """Raise one error for all problems, if there are any; a credential decides its code."""
        if not self.problems:
            return
        if self.findings:
            raise self._secret_error()
        if self._taken is not None and tuple(self.problems) == self._taken.problems:
            raise self._taken
        raise error_for(self.problems)

    def _secret_error(self) -> SecretDetectedError:
        fields = ", ".join(dict.fromkeys(finding.field for finding in self.findings))
        rules = ", ".join(dict.fromkeys(finding.rule for finding in self.findings))
        others = len(self.problems) - len(self.findings)
        also = f"; {others} other problem{'s' if others > 1 else ''} beside it" if others else ""
        suggestions = dict.fromkeys(p.suggestion for p in self.problems if p.suggestion)
        return SecretDetectedError(
            f"{fields} seems to hold a credential ({rules}); nothing was stored{also}",
            problems=self.problems,
            context={"findings": [finding.wire() for finding in self.findings]},
            suggestions=suggestions,
        )


def secret_problem(finding: SecretFinding) -> Problem:
    """Return the problem of a credential: rule and place only."""
    spot = f"characters {finding.start + 1} to {finding.end}"
    return Problem(
        code=SecretDetectedError.code,
        path=f"$.{finding.field}",
        message=f"{finding.field} seems to hold a credential ({finding.rule}, {spot})",
        suggestion="Leave the credential out, or pass allow_secret=true if it is none.",
    )


def invalid(
    field: str, fault: str, *, near: Sequence[str] = (), suggestion: str | None = None
) -> Problem:
    """Return an INVALID_PARAM problem of one field."""
    return Problem(
        code=InvalidParamError.code,
        path=f"$.{field}",
        message=f"{field} {fault}",
        nearest=tuple(near),
        suggestion=suggestion,
    )


def over_limit(field: str, actual: int, limit: int, unit: str, setting: str = "") -> Problem:
    """Return a LIMIT_EXCEEDED problem of one field."""
    where = f" ({setting})" if setting else ""
    return Problem(
        code=LimitExceededError.code,
        path=f"$.{field}",
        message=f"{field} has {actual} {unit}, at most {limit} are allowed{where}",
        suggestion=_shorter(field),
    )


def _shorter(field: str) -> str:
    if field == "content":
        return "Shorten content, or split it over several entries."
    return "Give fewer tags." if field == "tags" else f"Shorten {field}."


def one_of(field: str, given: str, allowed: Sequence[str]) -> Problem:
    """Return the problem of a word that is none of the allowed ones."""
    shown = encodable(given)[:_LONGEST_SHOWN]
    return invalid(
        field,
        f"must be one of {', '.join(allowed)}, not {shown!r}",
        near=tuple(map(str, nearest(given, allowed))),
    )


def refuse(*problems: Problem) -> SchemoryError:
    """Return the error for these problems."""
    return error_for(problems)
