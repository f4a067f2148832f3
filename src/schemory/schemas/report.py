"""What reading a schema brought to light: faults, warnings and notes, each with its place."""

from __future__ import annotations

from collections.abc import Iterable

from schemory.errors import Problem, SchemaFaultError
from schemory.hints import TYPE_CHECKING
from schemory.model.frozen import dataclass, field
from schemory.model.text import encodable

if TYPE_CHECKING:
    from typing import TypeAlias

    from schemory.model.schema import NodeSchema

Steps: TypeAlias = tuple[str | int, ...]
"""The way from a document's root to one of its values."""


def pointer(steps: Steps) -> str:
    """Return a JSON pointer (RFC 6901); the root is the empty text.

    >>> pointer(("properties", "a/b", "enum", 0))
    '/properties/a~1b/enum/0'
    """
    return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in steps)


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedSchema:
    """What a document says as a schema.

    Attributes:
        schema: None when there are faults.
        faults: Why it cannot be used.
        warnings: What makes it worse than its author meant; a definition at run time refuses them.
        notes: What is accepted but worth knowing (a reserved facet, a root `required` list).
    """

    schema: NodeSchema | None
    faults: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()
    notes: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class FileFault:
    """A problem and the file it is in."""

    file: str
    problem: Problem

    def __str__(self) -> str:
        where = f"{self.file}{' at ' + self.problem.path if self.problem.path else ''}"
        hint = f" ({self.problem.suggestion})" if self.problem.suggestion else ""
        return f"{where}: {self.problem.message}{hint}"


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderReport:
    """What a folder or pack holds: the usable schemas in file order, and all that is wrong."""

    schemas: tuple[NodeSchema, ...] = ()
    faults: tuple[FileFault, ...] = ()
    warnings: tuple[FileFault, ...] = ()
    notes: tuple[FileFault, ...] = ()


@dataclass(slots=True)
class Findings:
    """Collects what is found while a schema is read."""

    faults: list[Problem] = field(default_factory=list[Problem])
    warnings: list[Problem] = field(default_factory=list[Problem])
    notes: list[Problem] = field(default_factory=list[Problem])

    def fault(
        self,
        steps: Steps,
        message: str,
        *,
        nearest: Iterable[str] = (),
        suggestion: str | None = None,
    ) -> None:
        """Record why the schema cannot be used."""
        self.faults.append(_problem(steps, message, nearest, suggestion))

    def warn(
        self,
        steps: Steps,
        message: str,
        *,
        nearest: Iterable[str] = (),
        suggestion: str | None = None,
    ) -> None:
        """Record what is ignored or mended."""
        self.warnings.append(_problem(steps, message, nearest, suggestion))

    def note(self, steps: Steps, message: str) -> None:
        """Record what is accepted but worth knowing."""
        self.notes.append(_problem(steps, message, (), None))

    def parsed(self, schema: NodeSchema | None) -> ParsedSchema:
        """Return the outcome; the schema only when nothing is at fault."""
        return ParsedSchema(
            schema=None if self.faults else schema,
            faults=tuple(self.faults),
            warnings=tuple(self.warnings),
            notes=tuple(self.notes),
        )


def _problem(steps: Steps, message: str, nearest: Iterable[str], suggestion: str | None) -> Problem:
    return Problem(
        code=SchemaFaultError.code,
        path=encodable(pointer(steps)),
        message=encodable(message),
        nearest=tuple(map(encodable, nearest)),
        suggestion=encodable(suggestion) if suggestion else None,
    )


def fault_error(origin: str, problems: Iterable[Problem]) -> SchemaFaultError:
    """Return one error for everything wrong with the schema from `origin` (may be empty)."""
    listed = tuple(problems)
    first = listed[0]
    where = f"{origin or 'The schema'}{' at ' + first.path if first.path else ''}"
    rest = f" ({len(listed) - 1} more)" if len(listed) > 1 else ""
    return SchemaFaultError(
        f"{where}: {first.message}{rest}",
        problems=listed,
        context={"file": origin} if origin else {},
        suggestions=dict.fromkeys(p.suggestion for p in listed if p.suggestion),
    )


def clash(node_type: str, holder: str) -> Problem:
    """Return the fault of a schema whose type another one, `holder`, has already."""
    return Problem(
        code=SchemaFaultError.code,
        path="/name",
        message=f"the type {node_type} is defined by {holder} already, which stays",
        suggestion="rename one of the two, or remove one",
    )
