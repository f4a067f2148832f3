"""A request under way: who asks, how it is answered, and whether anybody still waits."""

from __future__ import annotations

import threading
from collections.abc import Callable

from schemory.hints import TYPE_CHECKING, cast
from schemory.model.frozen import dataclass
from schemory.server import jsonrpc
from schemory.server.jsonrpc import Id, Object, Request
from schemory.tools.registry import Asking, Caller

if TYPE_CHECKING:
    from typing import TypeAlias

Send: TypeAlias = Callable[[Object], None]
SendLine: TypeAlias = Callable[[Object | list[Object]], None]
Submit: TypeAlias = Callable[[Callable[[], None]], None]
Answering: TypeAlias = Callable[[Object | None], None]
"""Takes the one message that answers a request; None for a request that gets no answer."""


class Asked:
    """A request under way.

    Attributes:
        answer: Where its answer goes: to the client, or to the others of its batch.
        caller: Who asks, as the store notes it.
        asking: What its client's person was asked and said; None = they cannot be asked.
        never_ends: It is answered only when the client gives up.
    """

    def __init__(
        self,
        request: Request,
        *,
        is_modern: bool,
        caller: Caller,
        answer: Answering,
        tell: Callable[[Asked, Object], None],
    ) -> None:
        self.id: Id = request.id
        self.method = request.method
        self.params: Object = request.params or {}
        self.is_modern = is_modern
        self.caller = caller
        self.answer = answer
        self.asking: Asking | None = None
        self.never_ends = False
        self._tell = tell
        self._cancelled = threading.Event()
        self._token = _progress_token(self.params)

    @property
    def is_cancelled(self) -> Callable[[], bool]:
        """Asks whether the client gave up."""
        return self._cancelled.is_set

    def cancel(self) -> None:
        """Have the work told that nobody waits for it any more."""
        self._cancelled.set()

    def tell(self, message: Object) -> None:
        """Send something about this request, unless it has been answered or given up."""
        self._tell(self, message)

    def note_progress(self, done: float, total: float | None, message: str) -> None:
        """Tell the client of a step, if it wants to hear of steps and still waits."""
        if self._token is None:
            return
        params: Object = {"progressToken": self._token, "progress": done}
        if total is not None:
            params["total"] = total
        if message:
            params["message"] = message
        self.tell(jsonrpc.notification_of("notifications/progress", params))


@dataclass(frozen=True, slots=True)
class Method:
    """How a method is answered.

    Attributes:
        run: Computes the result; None = the answer comes later, or never. RpcError for anything
            else.
        is_long: Whether it runs in a lane, one call after the other.
        is_cacheable: Whether the newest era wants to know how long the result stays fresh.
    """

    run: Callable[[Asked], Object | None]
    is_long: bool = False
    is_cacheable: bool = False


def _progress_token(params: Object) -> Id | None:
    meta = params.get("_meta")
    token = meta.get("progressToken") if isinstance(meta, dict) else None
    return cast("Id", token) if jsonrpc.is_id(token) else None
