"""The viewer's sockets: the standard library's HTTP server, on the loopback address alone."""

import socket
import sys
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final, cast

from schemory.web.guard import HEADERS, Guard
from schemory.web.shelf import Shelf
from schemory.web.site import Response, Site

LOOPBACK: Final = "127.0.0.1"
_PATIENCE_SECONDS: Final = 20
_MOST_TARGET: Final = 8_192


class Viewer:
    """The viewer as long as it listens; closes its sockets at the end of the `with` block.

    Args:
        shelf: What the pages are made from.
        token: What an address must begin with; whoever has it may read everything.
        port: 0 = any that is free.

    Raises:
        OSError: The port is taken.
    """

    def __init__(self, shelf: Shelf, *, token: str, port: int = 0) -> None:
        self._server = _Server((LOOPBACK, port), _Handler)
        guard = Guard(port=self._server.server_port, token=token)
        self._server.answer = Site(shelf, guard.base).answer
        self._server.guard = guard
        self.address = f"http://{LOOPBACK}:{guard.port}{guard.base}"

    def serve(self) -> None:
        """Answer until `stop` is called from another thread, or the process is interrupted."""
        self._server.serve_forever(poll_interval=0.2)

    def stop(self) -> None:
        """Let `serve` end."""
        self._server.shutdown()

    def close(self) -> None:
        """Close the socket."""
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    answer: Callable[[str], Response]
    guard: Guard

    def server_bind(self) -> None:
        """Bind without asking the name service who this machine is."""
        if sys.platform == "win32":  # there nobody else may take the port over
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = str(self.server_address[0]), self.server_address[1]

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: a browser that goes away is no news, and pages never raise."""
        del request, client_address


class _Handler(BaseHTTPRequestHandler):
    timeout = _PATIENCE_SECONDS

    def __getattr__(self, name: str) -> Callable[[], None]:
        """Return what answers a method; which ones may be used the guard knows."""
        if name.startswith("do_"):
            return self._answer
        raise AttributeError(name)

    def _answer(self) -> None:
        server = cast("_Server", self.server)
        refusal = server.guard.find_refusal(
            self.command,
            self.path,
            hosts=[str(each) for each in self.headers.get_all("Host", [])],
            fetch_site=self.headers.get("Sec-Fetch-Site"),
        )
        if refusal is not None:
            self.send_error(refusal.status, refusal.text)
        elif len(self.path) > _MOST_TARGET:
            self.send_error(HTTPStatus.REQUEST_URI_TOO_LONG, "This address is too long.")
        else:
            self._send(server.answer(self.path))

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Send a sentence as plain text; what was asked is not repeated in it."""
        del explain
        body = f"{message or 'This request is not understood.'}\n".encode()
        self.close_connection = True
        self._send(Response(status=code, content_type="text/plain; charset=utf-8", body=body))

    def _send(self, response: Response) -> None:
        self.send_response_only(response.status)
        self.send_header("Content-Type", response.content_type)
        self.send_header("Content-Length", str(len(response.body)))
        for name, value in HEADERS.items():
            self.send_header(name, value)
        if response.status == HTTPStatus.METHOD_NOT_ALLOWED:
            self.send_header("Allow", "GET, HEAD")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(response.body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the name is given)
        """Write nothing: an address holds the token."""
        del format, args
