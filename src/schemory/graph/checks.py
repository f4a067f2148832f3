"""Rules for single inputs, and the collection of everything wrong with one call (graph.md §2)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from schemory.errors import (
    ConflictError,
    DuplicateInCallError,
    InvalidParamError,
    NodeNotFoundError,
    NothingToChangeError,
    Problem,
    SecretDetectedError,
    UnknownTypeError,
    error_for,
)
from schemory.graph.results import Failure
from schemory.model.edge import EdgeRecord
from schemory.model.jsonvalue import Json, child_path, compact, place
from schemory.model.likeness import nearest
from schemory.model.node import NodeRecord
from schemory.model.text import name_fault, nfc, text_fault, twin_key
from schemory.safety.secrets import find_secrets
from schemory.schemas.catalog import SchemaCatalog
from schemory.storage.protocols import GraphReader

MAX_NEAREST_LOOKUPS = 20
"""How many problems of one call are told nearest names; answers show no more problems anyway."""

T = TypeVar("T")


class Faults:
    """Everything wrong with one call, by the index of the item it is in."""

    def __init__(self) -> None:
        self._by_item: dict[int, list[Problem]] = {}
        self.warnings: list[str] = []

    def add(self, index: int, problem: Problem) -> None:
        """Note one problem of one item."""
        self._by_item.setdefault(index, []).append(problem)

    def extend(self, index: int, problems: Iterable[Problem]) -> None:
        """Note several problems of one item."""
        for problem in problems:
            self.add(index, problem)

    def copy(self) -> "Faults":
        """Return an independent collection with the same content."""
        other = Faults()
        other.warnings = list(self.warnings)
        for index, problems in self._by_item.items():
            other.extend(index, problems)
        return other

    def __contains__(self, index: int) -> bool:
        return index in self._by_item

    def problems(self) -> tuple[Problem, ...]:
        """Return all problems in the order of the input."""
        return tuple(problem for _, own in sorted(self._by_item.items()) for problem in own)

    def failures(self) -> tuple[Failure, ...]:
        """Return the items that cannot be done, in the order of the input."""
        items = sorted(self._by_item.items())
        return tuple(Failure(index=index, problems=tuple(own)) for index, own in items)

    def raise_any(self) -> None:
        """Raise one error for all problems, if there are any."""
        problems = self.problems()
        if problems:
            raise error_for(problems)

    def settle(self, count: int, *, continue_on_error: bool) -> tuple[Failure, ...]:
        """Return what is left out of a partial success.

        Raises:
            SchemoryError: There are problems and no part of the call may or can succeed.
        """
        if not continue_on_error or len(self._by_item) == count:
            self.raise_any()
        return self.failures()


def require_items(items: Sequence[object], path: str) -> None:
    """Refuse a call that names nothing to do.

    Raises:
        NothingToChangeError: `items` is empty.
    """
    if not items:
        problem = Problem(
            code=NothingToChangeError.code,
            path=path,
            message=f"{place(path)} is empty: nothing to do",
        )
        raise error_for([problem])


def once_each(keys: Iterable[T], paths: Iterable[str]) -> Iterator[tuple[int, Problem]]:
    """Yield a problem for each key that stood earlier in the call."""
    first: dict[T, str] = {}
    for index, (key, path) in enumerate(zip(keys, paths, strict=True)):
        if key in first:
            message = f"the same item as {place(first[key])}; give each item once"
            yield index, Problem(code=DuplicateInCallError.code, path=path, message=message)
        else:
            first[key] = path


def new_name_problem(text: str, path: str) -> Problem | None:
    """Return why `text` cannot become a name or type."""
    fault = name_fault(text)
    if fault is None:
        return None
    stripped = text.strip()
    hint = f"use {compact(stripped)}" if stripped and name_fault(stripped) is None else None
    return invalid(path, f"{place(path)} {fault}", suggestion=hint)


def invalid(path: str, message: str, *, suggestion: str | None = None) -> Problem:
    """Return an INVALID_PARAM problem."""
    return Problem(code=InvalidParamError.code, path=path, message=message, suggestion=suggestion)


def line_problems(lines: Sequence[str], path: str) -> Iterator[Problem]:
    """Yield what keeps metadata lines from being stored."""
    for index, line in enumerate(lines):
        fault = text_fault(line)
        if fault is not None:
            yield invalid(f"{path}[{index}]", f"{place(path)}[{index}] {fault}")


def secret_problems(texts: Iterable[tuple[str, str]]) -> Iterator[Problem]:
    """Yield a problem for each credential in the (path, text) pairs; rule and place only."""
    for path, text in texts:
        for finding in find_secrets(text, precise_only=True):
            spot = f"characters {finding.start + 1} to {finding.end}"
            yield Problem(
                code=SecretDetectedError.code,
                path=path,
                message=f"{place(path)} seems to hold a credential ({finding.rule}, {spot})",
                suggestion="leave the credential out, or pass allowSecret: true if it is none",
            )


def texts_of(value: Json, path: str) -> Iterator[tuple[str, str]]:
    """Yield every text inside a JSON value with its path."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from texts_of(inner, child_path(path, key))
    elif isinstance(value, Sequence):
        for index, inner in enumerate(value):
            yield from texts_of(inner, child_path(path, index))


def check_secrets(
    faults: Faults, index: int, texts: Iterable[tuple[str, str]], *, allow_secret: bool
) -> None:
    """Note credentials in an item's texts: as problems, or as warnings where they are allowed."""
    for problem in secret_problems(texts):
        if allow_secret:
            faults.warnings.append(f"{problem.message}; stored as allowed")
        else:
            faults.add(index, problem)


def type_problem(catalog: SchemaCatalog, node_type: str, path: str) -> Problem | None:
    """Return why strict types refuse `node_type`: no schema defines it."""
    if catalog.get(node_type) is not None:
        return None
    types = catalog.types()
    return Problem(
        code=UnknownTypeError.code,
        path=path,
        message=f"no schema defines the type {compact(node_type)}",
        nearest=nearest(node_type, types),
        suggestion="list_schemas shows the types that exist",
    )


def revision_problem(
    record: NodeRecord | EdgeRecord, expected: int | None, path: str
) -> Problem | None:
    """Return a CONFLICT when the stored thing has another revision than the caller knows."""
    if expected is None or record.revision == expected:
        return None
    return Problem(
        code=ConflictError.code,
        path=path,
        message=f"it has revision {record.revision} by now, expected {expected}",
        suggestion="read it again and repeat the change on what stands there now",
    )


def find_nodes(reader: GraphReader, names: Iterable[str]) -> dict[str, NodeRecord]:
    """Return existing nodes by NFC name; no shape of a name is refused, it is just not found."""
    wanted = dict.fromkeys(nfc(name) for name in names if text_fault(name) is None)
    return reader.find_nodes(wanted) if wanted else {}


class Missing:
    """Makes the problems of names that do not exist, with the nearest that do."""

    def __init__(self, reader: GraphReader) -> None:
        self._reader = reader
        self._suggested: dict[str, tuple[str, ...]] = {}
        self._asked: dict[str, None] = {}

    def nearest(self, name: str) -> tuple[str, ...]:
        """Return existing names like `name`; () once the call has asked often enough."""
        if text_fault(name) is not None or not self.may_ask(name):
            return ()
        if name not in self._suggested:
            self._suggested[name] = self._reader.suggest_names(nfc(name))
        return self._suggested[name]

    def may_ask(self, thing: str) -> bool:
        """Whether this call may still look up what is near to one more thing."""
        self._asked.setdefault(thing)
        return len(self._asked) <= MAX_NEAREST_LOOKUPS

    def problem(self, name: str, path: str) -> Problem:
        """Return the problem of a name at `path` that is not there."""
        if not name.strip():
            return invalid(path, f"{place(path)} must not be empty or blank")
        near = self.nearest(name)
        message = f"there is no node {shown(name)}"
        if near:
            message += f"; did you mean {compact(near[0])}?"
        hint = None if near else 'search_nodes {"query":"…"} looks for part of a name'
        return Problem(
            code=NodeNotFoundError.code, path=path, message=message, nearest=near, suggestion=hint
        )


def shown(name: str) -> str:
    """Return a name as messages show it: quoted, cut when it is very long."""
    longest = 120
    text = name if len(name) <= longest else name[:longest] + "…"
    return compact(text.encode("utf-8", "replace").decode())


def call_text(tool: str, arguments: Mapping[str, Json]) -> str:
    """Return a call that can be made as it stands: the tool's name and its arguments as JSON.

    >>> call_text("open_nodes", {"names": ["Bree"]})
    'open_nodes {"names":["Bree"]}'
    """
    return f"{tool} {compact(arguments)}".encode("utf-8", "replace").decode()


def twin_warnings(
    reader: GraphReader, names: Sequence[str], *, besides: str | None = None
) -> Iterator[str]:
    """Yield a warning for each new name that only looks different from one other than `besides`."""
    existing = reader.find_twins(names)
    in_call: dict[str, str] = {}
    for name in names:
        twins = tuple(twin for twin in existing.get(name, ()) if twin != besides)
        key = twin_key(name)
        if not twins and key in in_call:
            twins = (in_call[key],)
        in_call.setdefault(key, name)
        if twins:
            others = " and ".join(shown(twin) for twin in twins[:3])
            yield (
                f"{shown(name)} differs from {others} only by case, white space or Unicode form; "
                "check that it is meant to be another node"
            )
