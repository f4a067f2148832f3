"""Names of handshake sessions that any server of the same store can read and trust.

A name holds what the client said in its handshake, signed with a key of the store and bound to the
principal. So a client goes on undisturbed when its server was restarted, or when a balancer sends
it to another one, which then repeats the handshake with itself.
"""

import base64
import binascii
import hashlib
import hmac
import json
from collections.abc import Mapping
from typing import Any, Final, cast

from schemory.model.jsonvalue import compact

_MAC_CHARS: Final = 32
_MAX_GREETING_BYTES: Final = 1500
"""Proxies refuse headers that are much longer."""


class SessionNames:
    """Makes and reads the names.

    Args:
        key: A secret that all servers of one store share.
    """

    def __init__(self, key: bytes) -> None:
        self._key = hmac.new(key, b"http sessions", hashlib.sha256).digest()

    def make(self, inner: str, greeting: Mapping[str, Any], principal: str) -> str:
        """Return the name of a session.

        Args:
            inner: What the transport calls it.
            greeting: The parameters of the client's `initialize`.
            principal: Who alone can use it.
        """
        body = _encoded(compact([inner, _shortened(greeting)]).encode())
        return f"{self._mac(body, principal)}{body}"

    def read(self, name: str, principal: str) -> tuple[str, Mapping[str, Any]] | None:
        """Return the transport's id and the greeting; None unless it was made for `principal`."""
        mac, body = name[:_MAC_CHARS], name[_MAC_CHARS:]
        expected = self._mac(body, principal)
        if not hmac.compare_digest(mac.encode("utf-8", "replace"), expected.encode()):
            return None
        try:
            inner, greeting = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
        except (binascii.Error, ValueError):
            return None
        return str(inner), cast("Mapping[str, Any]", greeting)

    def _mac(self, body: str, principal: str) -> str:
        text = f"{len(principal)}:{principal}{body}".encode("utf-8", "replace")
        return hmac.new(self._key, text, hashlib.sha256).hexdigest()[:_MAC_CHARS]


def _encoded(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode("ascii")


def _shortened(greeting: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what another server needs of a greeting; of a very long one only the version."""
    client: Mapping[str, Any] = greeting.get("clientInfo") or {}
    kept = {
        "protocolVersion": greeting.get("protocolVersion"),
        "capabilities": greeting.get("capabilities") or {},
        "clientInfo": {key: str(client.get(key, ""))[:200] for key in ("name", "version")},
    }
    if len(compact(kept).encode()) > _MAX_GREETING_BYTES:
        kept["capabilities"] = {}
    return kept
