"""Questions to the person behind a client, each a request of ours (`elicitation/create`).

Versions 2025-06-18 and 2025-11-25 have them so. In 2026-07-28 a question is the result of a call,
which the client repeats with the answer, so that nobody has to wait here.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Mapping

from schemory.hints import TYPE_CHECKING, cast
from schemory.model.frozen import dataclass
from schemory.model.jsonvalue import Json
from schemory.server.jsonrpc import Answer, Id, Object, notification_of, request_of
from schemory.tools.registry import Question

if TYPE_CHECKING:
    from typing import Final, TypeAlias

ANSWER_SECONDS: Final = 300.0
"""How long a person may take; their client may give up earlier."""

ASK: Final = "elicitation/create"
_ASKING_VERSIONS: Final = frozenset({"2025-06-18", "2025-11-25", "2026-07-28"})
UNANSWERED: Final[Mapping[str, object]] = {"action": "cancel"}
"""What counts as said where nobody said anything."""

Then: TypeAlias = Callable[[Mapping[str, object]], None]


@dataclass(frozen=True, slots=True)
class _Open:
    """A question that was sent.

    Attributes:
        about: What it belongs to, so that it can be taken back.
    """

    about: object
    then: Then
    timer: threading.Timer


class Questions:
    """What one client's person is being asked; safe to share by threads."""

    def __init__(self, send: Callable[[Object], None], seconds: float = ANSWER_SECONDS) -> None:
        self._send = send
        self._seconds = seconds
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._open: dict[Id, _Open] = {}
        self._is_deaf = False

    def ask(self, question: Question, *, about: object, then: Then) -> None:
        """Ask, and have `then` called once with what was said; silence counts as a cancellation."""
        key = f"ask-{next(self._numbers)}"
        timer = threading.Timer(self._seconds, self._expire, [key])
        timer.daemon = True
        with self._lock:
            is_deaf = self._is_deaf
            if not is_deaf:
                self._open[key] = _Open(about, then, timer)
        if is_deaf:
            then(UNANSWERED)
            return
        timer.start()
        self._send(request_of(key, ASK, question.params))

    def hear(self, answer: Answer) -> None:
        """Take what the client says to a request of ours; anything else is nobody's."""
        asked = self._taken(answer.id)
        if asked is not None:
            result = answer.body.get("result")
            asked.then(result if isinstance(result, dict) else UNANSWERED)

    def withdraw(self, about: object) -> None:
        """Take back what was asked for a request that is given up."""
        with self._lock:
            keys = [key for key, asked in self._open.items() if asked.about is about]
        for key in keys:
            if self._taken(key) is not None:
                self._take_back(key, "the call that needed it was cancelled")

    def go_deaf(self) -> None:
        """Count every question as unanswered: nobody can answer any more."""
        with self._lock:
            self._is_deaf = True
            keys = list(self._open)
        for key in keys:
            asked = self._taken(key)
            if asked is not None:
                asked.then(UNANSWERED)

    def _expire(self, key: Id) -> None:
        asked = self._taken(key)
        if asked is not None:
            self._take_back(key, "no answer in time")
            asked.then(UNANSWERED)

    def _take_back(self, key: Id, reason: str) -> None:
        params: dict[str, Json] = {"requestId": key, "reason": reason}
        self._send(notification_of("notifications/cancelled", params))

    def _taken(self, key: Id | None) -> _Open | None:
        with self._lock:
            asked = self._open.pop(key, None) if key is not None else None
        if asked is not None:
            asked.timer.cancel()
        return asked


def can_ask(version: str | None, capabilities: object) -> bool:
    """Return whether a client shows its person forms: what is empty means them too."""
    declared: Mapping[str, object] = (
        cast("Mapping[str, object]", capabilities) if isinstance(capabilities, Mapping) else {}
    )
    told = declared.get("elicitation")
    shows_forms = isinstance(told, Mapping) and ("form" in told or "url" not in told)
    return shows_forms and version in _ASKING_VERSIONS
