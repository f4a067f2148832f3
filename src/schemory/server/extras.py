"""What a server answers beside tools: resources, prompts, completions; by method, for any adapter.

Nothing of it is imported before somebody asks. Parameters have their protocol's shape already; an
adapter adds only what its era's results carry.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

from schemory.errors import InvalidCursorError, InvalidParamError, NotFoundError, SchemoryError
from schemory.hints import TYPE_CHECKING, cast
from schemory.model.jsonvalue import Json
from schemory.tools.registry import Caller

if TYPE_CHECKING:
    from typing import Final, TypeAlias

    from schemory.tools.resources import Resources, Watched

Params: TypeAlias = Mapping[str, Json]
Answer: TypeAlias = Callable[[Params, Caller], Mapping[str, Json]]

POLL_SECONDS: Final = 2.0
"""How often watched addresses are looked at; other processes write to the store as well."""

_INVALID_PARAMS: Final = -32602
_INTERNAL_ERROR: Final = -32603
_RESOURCE_NOT_FOUND: Final = -32002
"""What clients before 2026-07-28 expect for an address that leads nowhere."""


Told: TypeAlias = tuple[int, str, Mapping[str, Json]]
"""An error as JSON-RPC has it: its code, its message and its data."""


class Extras:
    """The methods, each a function of parameters and caller that may read the store.

    Attributes:
        methods: What is served, by name.
        cacheable: Methods whose results the newest era wants marked with how long they stay fresh.
    """

    cacheable: Final = frozenset(
        {"resources/list", "resources/templates/list", "resources/read", "prompts/list"}
    )

    def __init__(self, open_resources: Callable[[], Resources], *, has_prompts: bool) -> None:
        self._open_resources = open_resources
        self._has_prompts = has_prompts
        self.methods: Mapping[str, Answer] = {
            "resources/list": self._list,
            "resources/templates/list": self._templates,
            "resources/read": self._read,
            "completion/complete": self._complete,
            **({"prompts/list": _prompts, "prompts/get": _prompt} if has_prompts else {}),
        }

    @cached_property
    def _resources(self) -> Resources:
        # Most clients never ask, and a start-up should not pay for what nobody asks for.
        return self._open_resources()

    def capabilities(self, *, is_modern: bool) -> dict[str, Json]:
        """Return what the server says of these methods.

        In the newest era whoever listens is told of changed lists; before it nobody asks.
        """
        prompts: dict[str, Json] = (
            {"prompts": {"listChanged": is_modern}} if self._has_prompts else {}
        )
        return {
            "resources": {"subscribe": True, "listChanged": is_modern},
            "completions": {},
            **prompts,
        }

    def watched(self, caller: Caller) -> Watched:
        """Return an empty set of addresses to watch for one client."""
        from schemory.tools.resources import Watched  # noqa: PLC0415 (as for `_resources`)

        return Watched(self._resources, caller)

    def _list(self, params: Params, caller: Caller) -> Mapping[str, Json]:
        page = self._resources.page(cast("str | None", params.get("cursor")), caller)
        more = {} if page.next_cursor is None else {"nextCursor": page.next_cursor}
        return {"resources": list(page.resources), **more}

    def _templates(self, params: Params, caller: Caller) -> Mapping[str, Json]:
        del caller
        _require_one_page(params)
        return {"resourceTemplates": self._resources.templates()}

    def _read(self, params: Params, caller: Caller) -> Mapping[str, Json]:
        return {"contents": self._resources.read(str(params["uri"]), caller)}

    def _complete(self, params: Params, caller: Caller) -> Mapping[str, Json]:
        from schemory.tools.completions import Asked, complete  # noqa: PLC0415 (as above)

        argument = cast("Mapping[str, str]", params["argument"])
        context = cast("Mapping[str, Mapping[str, str] | None]", params.get("context") or {})
        asked = Asked(
            argument=argument["name"],
            value=argument["value"],
            known=context.get("arguments") or {},
        )
        return {"completion": complete(self._resources, asked, caller)}


def rpc_error(error: SchemoryError, *, method: str, params: Params, is_modern: bool) -> Told:
    """Return an error of one of the methods as its era has it."""
    if isinstance(error, NotFoundError) and method.startswith("resources/"):
        code = _INVALID_PARAMS if is_modern else _RESOURCE_NOT_FOUND
    elif isinstance(error, NotFoundError | InvalidCursorError | InvalidParamError):
        code = _INVALID_PARAMS
    else:
        code = _INTERNAL_ERROR
    nearest: Sequence[str] = [word for problem in error.problems for word in problem.nearest]
    data = {"error_code": error.code, "suggestions": list(error.suggestions), "nearest": nearest}
    asked_for = {"uri": params["uri"]} if "uri" in params else {}
    return code, error.message, {**data, **asked_for}


def _prompts(params: Params, caller: Caller) -> Mapping[str, Json]:
    from schemory.tools.prompts import list_prompts  # noqa: PLC0415 (as for `_resources`)

    del caller
    _require_one_page(params)
    return {"prompts": list_prompts()}


def _prompt(params: Params, caller: Caller) -> Mapping[str, Json]:
    from schemory.tools.prompts import get_prompt  # noqa: PLC0415 (as for `_resources`)

    del caller
    arguments = cast("Mapping[str, str]", params.get("arguments") or {})
    return get_prompt(str(params["name"]), arguments)


def _require_one_page(params: Params) -> None:
    if params.get("cursor") is not None:
        raise InvalidCursorError("This list has one page; there is no such cursor.")
