"""What an import found and a person should know, in sentences; at most a few names each."""

from collections.abc import Iterable

from schemory.model.lines.records import UNKNOWN_TYPE, FaultKind
from schemory.model.text import MAX_NAME_CHARS
from schemory.transfer.parse import ParsedFile
from schemory.transfer.resolve import Resolution

_SHOWN = 5


def import_warnings(parsed: ParsedFile, resolution: Resolution) -> tuple[str, ...]:
    """Return one sentence for each kind of oddity that the import met."""
    found = (
        _conflicts(resolution),
        _typeless(parsed),
        _unusual_names(parsed),
        _twins(resolution),
        _differences(resolution),
        _stubs(resolution),
        _clamped(parsed),
    )
    return tuple(sentence for sentence in found if sentence)


def _shown(names: Iterable[str]) -> str:
    listed = list(names)
    more = f" and {len(listed) - _SHOWN} more" if len(listed) > _SHOWN else ""
    return ", ".join(f'"{name}"' for name in listed[:_SHOWN]) + more


def _conflicts(resolution: Resolution) -> str | None:
    lines = [str(f.line) for f in resolution.faults if f.kind is FaultKind.CONFLICT]
    if not lines:
        return None
    more = f" and {len(lines) - _SHOWN} more" if len(lines) > _SHOWN else ""
    where = ", ".join(lines[:_SHOWN]) + more
    return (
        f"The file has merge conflict markers (lines {where}): the records of both sides were "
        "taken. Resolve the conflict in the file."
    )


def _typeless(parsed: ParsedFile) -> str | None:
    names = [name for name, found in parsed.nodes.items() if not any(r.has_type for r in found)]
    if not names:
        return None
    return f'Nodes without a type became "{UNKNOWN_TYPE}": {_shown(names)}.'


def _unusual_names(parsed: ParsedFile) -> str | None:
    names = [n for n in parsed.nodes if n != n.strip() or len(n) > MAX_NAME_CHARS]
    if not names:
        return None
    return (
        f"Names with white space around them or over {MAX_NAME_CHARS} characters were taken as "
        f"they are: {_shown(names)}."
    )


def _twins(resolution: Resolution) -> str | None:
    if not resolution.twins:
        return None
    pairs = [" / ".join(names) for names in resolution.twins]
    return f"Names differ only by case, white space or Unicode form: {_shown(pairs)}."


def _differences(resolution: Resolution) -> str | None:
    if not resolution.differences:
        return None
    named = [f"{found.name} ({', '.join(found.fields)})" for found in resolution.differences]
    return f"Records of one name differ; one value was kept of each: {_shown(named)}."


def _stubs(resolution: Resolution) -> str | None:
    if not resolution.stubs:
        return None
    names = [new.node.name for new in resolution.nodes[-resolution.stubs :]]
    return f'Missing ends became nodes of type "{UNKNOWN_TYPE}": {_shown(names)}.'


def _clamped(parsed: ParsedFile) -> str | None:
    if not parsed.clamped:
        return None
    return f"{parsed.clamped} weights outside 0..1 were brought into it."
