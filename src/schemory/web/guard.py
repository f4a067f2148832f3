"""Who may ask: only a browser on this machine that was given the address, and only to read.

The viewer listens on the loopback address, which other programs, other users and, through a
browser, foreign web pages can reach, too.
"""

import hmac
from collections.abc import Mapping
from typing import Final

from schemory.model.frozen import dataclass

HEADERS: Final[Mapping[str, str]] = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
"""Sent with every answer: no script, nothing from elsewhere, no frame, no address told on."""

_OWN_SITES: Final = ("none", "same-origin")


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why an answer is refused: a status, and a sentence that tells nothing of the store."""

    status: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """Looks at a request before anything is read.

    Attributes:
        port: Where the viewer listens.
        token: What an address must begin with.
    """

    port: int
    token: str

    @property
    def base(self) -> str:
        """What every address of the viewer begins with."""
        return f"/{self.token}/"

    @property
    def hosts(self) -> tuple[str, ...]:
        """The names by which the viewer may be called; others are DNS rebinding."""
        return f"127.0.0.1:{self.port}", f"localhost:{self.port}"

    def find_refusal(
        self, method: str, target: str, *, hosts: list[str], fetch_site: str | None
    ) -> Refusal | None:
        """Return why the request is refused, None when it may be answered.

        Args:
            method: The request's method.
            target: The path with the query, as it came.
            hosts: Every Host header.
            fetch_site: The Sec-Fetch-Site header, which browsers send.
        """
        if len(hosts) != 1 or hosts[0].lower() not in self.hosts:
            return Refusal(status=421, text="This viewer answers to localhost alone.")
        if fetch_site is not None and fetch_site not in _OWN_SITES:
            return Refusal(status=403, text="Another web site may not ask this viewer.")
        if method not in {"GET", "HEAD"}:
            return Refusal(status=405, text="This viewer only reads.")
        given = target.encode("utf-8", "replace")[: len(self.base)]
        if not hmac.compare_digest(given, self.base.encode()):
            return Refusal(status=404, text="Open the address that `schemory ui` printed.")
        return None
