"""Batches of JSON-RPC messages, which one version of the protocol has: 2025-03-26.

Its answers come together in one array, when the last of them is there.
"""

import threading
from typing import Final, Generic, TypeVar

from schemory.server.jsonrpc import INVALID_REQUEST, Batch, Fault, Message, Request
from schemory.server.shapes import BATCH_VERSION

_Answer = TypeVar("_Answer")

_NO_HANDSHAKE: Final = "Invalid request: initialize may not be part of a batch"


class Gathering(Generic[_Answer]):
    """Collects the answers to the requests of one batch; safe to share by threads."""

    def __init__(self, batch: Batch) -> None:
        self._missing = sum(isinstance(item, Request | Fault) for item in batch.items)
        self._answers: list[_Answer] = []
        self._lock = threading.Lock()

    def add(self, answer: _Answer | None) -> list[_Answer]:
        """Take the answer to one request, None for one that gets none; returns all at the last."""
        with self._lock:
            self._missing -= 1
            if answer is not None:
                self._answers.append(answer)
            return [] if self._missing else self._answers


def refusal(version: str | None) -> str:
    """Return why a batch is not served in `version` (None: nothing agreed yet); "" where it is."""
    if version == BATCH_VERSION:
        return ""
    if version is None:
        return f"Invalid request: initialize first; batches are part of {BATCH_VERSION} alone"
    return (
        f"Invalid request: protocol {version} has no batches, only {BATCH_VERSION} had;"
        " send one message a line"
    )


def items_of(batch: Batch) -> tuple[Message | Fault, ...]:
    """Return the messages of a batch, with a fault for what may only come alone."""
    return tuple(
        Fault(item.id, INVALID_REQUEST, _NO_HANDSHAKE)
        if isinstance(item, Request) and item.method == "initialize"
        else item
        for item in batch.items
    )
