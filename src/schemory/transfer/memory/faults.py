"""Everything wrong with a file, counted to the end and told as far as anybody reads."""

from collections.abc import Iterable

from schemory.errors import Problem, SchemoryError, SecretDetectedError, error_for
from schemory.memory.faults import SecretFinding, secret_problem
from schemory.model.frozen import replace
from schemory.model.jsonvalue import Json

MAX_TOLD = 50
"""As many problems are told one by one."""


class FileFaults:
    """Collects what is wrong with a file.

    Attributes:
        count: Problems in all, those told and those only counted.
        secrets: Texts that look like credentials.
    """

    def __init__(self, *, allow_secret: bool) -> None:
        self._allow_secret = allow_secret
        self._problems: list[Problem] = []
        self._findings: list[SecretFinding] = []
        self.count = 0
        self.secrets = 0

    def add(self, where: str, *problems: Problem) -> None:
        """Note problems of the thing that stands at `where`; their paths are seen from it."""
        for problem in problems:
            self.count += 1
            if len(self._problems) < MAX_TOLD:
                path = where + problem.path.removeprefix("$")
                message = f"{where}: {problem.message}"
                self._problems.append(replace(problem, path=path, message=message))

    def add_findings(self, where: str, findings: Iterable[SecretFinding]) -> None:
        """Note credentials; where they are allowed they are only counted."""
        for finding in findings:
            self.secrets += 1
            if self._allow_secret:
                continue
            self.add(where, secret_problem(finding))
            if len(self._findings) < MAX_TOLD:
                self._findings.append(finding._replace(field=f"{where}.{finding.field}"))

    def raise_any(self) -> None:
        """Raise one error for all problems, if there are any; a credential decides its code."""
        if self.count:
            raise self.error()

    def error(self) -> SchemoryError:
        """Return the error for what was noted."""
        first = self._problems[0].message
        message = first if self.count == 1 else f"{self.count} problems; the first: {first}"
        told = error_for(self._problems)
        kind: type[SchemoryError] = SecretDetectedError if self._findings else type(told)
        context: dict[str, Json] = {"problemCount": self.count}
        if self._findings:
            context["findings"] = [finding.wire() for finding in self._findings]
        return kind(
            f"{message}; nothing was stored",
            problems=self._problems,
            context=context,
            suggestions=told.suggestions,
        )
