"""Listed items that cannot even be read, kept apart from the others, so that all is told at once.

A call lists nodes or edges. What is wrong with one by itself (a missing name) and what the graph
has against another (a taken name) belong into the same answer, and with `continueOnError` the good
ones are stored all the same.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from schemory.errors import Problem
from schemory.graph.results import Failure
from schemory.model.frozen import dataclass, replace
from schemory.model.jsonvalue import Json
from schemory.tools.coerce import is_array
from schemory.tools.registry import Call
from schemory.tools.validate import Examined


@dataclass(frozen=True, slots=True, kw_only=True)
class Sifted:
    """A call's readable items, and what is wrong with the others.

    Attributes:
        arguments: With the readable items only.
        places: Where each of them stood in the call.
        left_out: The problems of the others, by where they stood.
    """

    arguments: Mapping[str, Json]
    places: tuple[int, ...]
    left_out: Mapping[int, tuple[Problem, ...]]


def sift(examined: Examined, key: str) -> Sifted | None:
    """Return the items of argument `key` apart; None if more than single items is wrong."""
    items = examined.arguments.get(key)
    left_out: dict[int, list[Problem]] = {}
    for problem in examined.problems:
        found = re.match(rf"\$\.{key}\[(\d+)\]", problem.path)
        if found is None:
            return None
        left_out.setdefault(int(found[1]), []).append(problem)
    if not is_array(items) or len(items) == len(left_out):
        return None
    places = tuple(index for index in range(len(items)) if index not in left_out)
    return Sifted(
        arguments={**examined.arguments, key: [items[index] for index in places]},
        places=places,
        left_out={index: tuple(problems) for index, problems in left_out.items()},
    )


def all_failures(call: Call, key: str, failures: Sequence[Failure]) -> tuple[Failure, ...]:
    """Return every item that was left out of a partial success, as the caller numbered them."""
    if not call.left_out:
        return tuple(failures)
    own = [
        Failure(index=call.places[f.index], problems=at_their_places(call, key, f.problems))
        for f in failures
    ]
    unread = [Failure(index=index, problems=p) for index, p in call.left_out.items()]
    return tuple(sorted([*own, *unread], key=lambda failure: failure.index))


def all_problems(call: Call, key: str, problems: Iterable[Problem]) -> list[Problem]:
    """Return these problems of readable items with those of the others, in the call's order."""
    unread = [problem for own in call.left_out.values() for problem in own]
    told = [*unread, *at_their_places(call, key, problems)]
    return sorted(told, key=lambda problem: _index(problem.path, key))


def at_their_places(call: Call, key: str, problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Return problems with the places where the caller had the items."""
    if not call.places:
        return tuple(problems)
    pattern = re.compile(rf"\b{key}\[(\d+)\]")

    def moved(text: str) -> str:
        return pattern.sub(lambda found: f"{key}[{_place(call, int(found[1]))}]", text)

    return tuple(
        replace(
            problem,
            path=moved(problem.path),
            message=moved(problem.message),
            suggestion=moved(problem.suggestion) if problem.suggestion else None,
        )
        for problem in problems
    )


def _place(call: Call, index: int) -> int:
    return call.places[index] if index < len(call.places) else index


def _index(path: str, key: str) -> int:
    found = re.match(rf"\$\.{key}\[(\d+)\]", path)
    return int(found[1]) if found else -1
