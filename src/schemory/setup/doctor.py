"""Is everything well: the store's files, what is in them, the schemas, the tools."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, Protocol

from schemory.model.frozen import dataclass, field
from schemory.model.jsonvalue import Json
from schemory.storage.keeping import Finding, Inspection, Progress, Severity, unheard

MOST_TOOLS: Final = 40
"""Beyond this many, models choose worse and some hosts cut the list (graph.md §4)."""

_BESIDE_THE_FILE: Final = ("file.permissions", "folder.permissions", "file.leftovers")
"""What can be mended without writing into the store."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What the doctor is told of the rest of the product.

    Attributes:
        schema_faults: Files that are left out, and why.
        schema_warnings: What is ignored or mended in files that are used.
        setting_warnings: Odd settings.
        tools: How many tools are listed.
        tokens: About how many tokens of a model's context they cost.
        findings: What was found beside all that, such as clients that start nothing.
    """

    schema_faults: Sequence[str] = ()
    schema_warnings: Sequence[str] = ()
    setting_warnings: Sequence[str] = ()
    tools: int = 0
    tokens: int = 0
    findings: Sequence[Finding] = ()


class Examined(Protocol):
    """What the doctor asks of a store's keeper; a server has nothing more (server_store)."""

    def inspect(self, progress: Progress = unheard) -> Inspection:
        """Look everything over; changes nothing and makes nothing."""
        ...

    def mend(self, findings: tuple[Finding, ...]) -> tuple[str, ...]:
        """Put right what can be put right without loss; returns a sentence for each thing done."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Patient:
    """A store that is looked over.

    Attributes:
        read: Looks into what is stored; asked only where that makes and changes nothing.
    """

    keeper: Examined
    read: Callable[[Progress], Iterable[Finding]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """What the doctor found and did.

    Attributes:
        stores: Facts of each store that was looked over.
        findings: What is not as it should be, worst first.
        fixed: What was put right, a sentence each.
    """

    stores: tuple[Mapping[str, Json], ...]
    findings: tuple[Finding, ...]
    fixed: tuple[str, ...] = field(default=())

    @property
    def is_usable(self) -> bool:
        """Whether the store works at all."""
        return all(finding.severity is not Severity.FATAL for finding in self.findings)


def examine(
    patients: Sequence[Patient],
    *,
    around: Surroundings,
    fix: bool = False,
    progress: Progress = unheard,
) -> Diagnosis:
    """Look over every store, mend what is safe if asked to, and judge the rest.

    Raises:
        StoreError: Mending failed; what was found is found again by the next run.
    """
    findings: list[Finding] = []
    fixed: list[str] = []
    stores: list[Mapping[str, Json]] = []
    for patient in patients:
        seen = patient.keeper.inspect(progress)
        done = patient.keeper.mend(_safe_to_mend(seen)) if fix else ()
        if done:
            fixed += done
            seen = patient.keeper.inspect(progress)
        stores.append({**seen.facts, "exists": seen.exists})
        findings += seen.findings
        if _can_be_read(seen):
            findings += patient.read(progress)
    findings += _judge(around)
    rank = list(Severity)
    return Diagnosis(
        stores=tuple(stores),
        findings=tuple(sorted(findings, key=lambda finding: rank.index(finding.severity))),
        fixed=tuple(fixed),
    )


def _safe_to_mend(seen: Inspection) -> tuple[Finding, ...]:
    """Return what may be mended; a damaged file is not written to, so that a copy shows it all."""
    if all(finding.severity is not Severity.FATAL for finding in seen.findings):
        return seen.findings
    return tuple(finding for finding in seen.findings if finding.code in _BESIDE_THE_FILE)


def _can_be_read(seen: Inspection) -> bool:
    """Whether opening the store makes no file, changes none and meets no damage."""
    is_sound = all(finding.severity is not Severity.FATAL for finding in seen.findings)
    return seen.exists and seen.is_current and is_sound


def _judge(around: Surroundings) -> Iterator[Finding]:
    yield from around.findings
    check = "`schemory schema check` shows it with a suggestion."
    for code, severity, texts, step in (
        ("schema.fault", Severity.ERROR, around.schema_faults, check),
        ("schema.warning", Severity.WARNING, around.schema_warnings, check),
        ("settings", Severity.WARNING, around.setting_warnings, "See docs/reference/settings.md."),
    ):
        for text in texts:
            yield Finding(code=code, severity=severity, what=text, next_step=step)
    if around.tools > MOST_TOOLS:
        yield Finding(
            code="tools.many",
            severity=Severity.WARNING,
            what=f"{around.tools} tools cost a model about {around.tokens:,} tokens; beyond "
            f"{MOST_TOOLS} models choose worse and some hosts cut the list",
            next_step="Serve with `--tools compact` (or auto), fewer schemas, or fewer toolsets.",
        )
