"""Signed cursors: where a listing goes on, valid only for the same tool, space and arguments."""

import base64
import binascii
import hashlib
import json
from collections.abc import Mapping
from typing import TypeAlias, cast

from schemory.errors import InvalidCursorError, Problem
from schemory.model.frozen import dataclass
from schemory.model.jsonvalue import Json, compact

Position: TypeAlias = tuple[int | str, ...]

CURSOR_ARGUMENT = "cursor"
_MAC_BYTES = 16


@dataclass(frozen=True, slots=True)
class Cursors:
    """Makes and reads cursors.

    Attributes:
        key: The store's secret; a cursor of another store is refused.
    """

    key: bytes

    def seal(
        self, position: Position, *, tool: str, space: str, arguments: Mapping[str, Json]
    ) -> str:
        """Return the cursor for `position` of this very call."""
        body = compact(list(position)).encode()
        mac = self._mac(body, tool, space, arguments)
        return _encoded(mac + body)

    def open(
        self, cursor: str, *, tool: str, space: str, arguments: Mapping[str, Json]
    ) -> Position:
        """Return the position that `cursor` holds.

        Raises:
            InvalidCursorError: It was changed, or made for another tool, space or arguments.
        """
        raw = _decoded(cursor)
        mac, body = raw[:_MAC_BYTES], raw[_MAC_BYTES:]
        import hmac  # noqa: PLC0415 (see `_mac`)

        if not hmac.compare_digest(mac, self._mac(body, tool, space, arguments)):
            raise _invalid()
        return tuple(cast("list[int | str]", json.loads(body)))

    def _mac(self, body: bytes, tool: str, space: str, arguments: Mapping[str, Json]) -> bytes:
        bound = {key: value for key, value in arguments.items() if key != CURSOR_ARGUMENT}
        call = json.dumps([tool, space, bound], sort_keys=True, separators=(",", ":"))
        import hmac  # noqa: PLC0415 (not every session has a second page)

        digest = hashlib.sha256(call.encode()).digest()
        return hmac.new(self.key, digest + body, hashlib.sha256).digest()[:_MAC_BYTES]


def _decoded(cursor: str) -> bytes:
    try:
        raw = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
    except (binascii.Error, ValueError):
        raise _invalid() from None
    if _encoded(raw) != cursor:  # the decoder skips foreign characters and spare bits
        raise _invalid()
    return raw


def _encoded(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode("ascii")


def _invalid() -> InvalidCursorError:
    message = "The cursor does not belong to this call: it was changed, or the arguments were."
    hint = (
        "Repeat the call with exactly the arguments of its first page and the nextCursor of the "
        "last one, or leave cursor out to start from the beginning."
    )
    problem = Problem(
        code="INVALID_CURSOR", path=f"$.{CURSOR_ARGUMENT}", message=message, suggestion=hint
    )
    return InvalidCursorError(message, problems=[problem])
