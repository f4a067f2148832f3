"""The web server's socket and its end: slow clients are cut off, running calls are finished."""

import asyncio
import signal
import socket
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final

import h11
import uvicorn
from starlette.applications import Starlette
from uvicorn.protocols.http.h11_impl import H11Protocol

from schemory.errors import StoreError

HEADER_SECONDS: Final = 10.0
"""A request's head must be here this long after the connection, or after its first byte; so must
the rest of a body whose request has been answered already."""

STALL_SECONDS: Final = 60.0
"""How long a client may leave unread what it asked for."""

DRAIN_SECONDS: Final = 30.0
"""How long calls that run may go on after the server has been told to end."""

_KEEP_ALIVE_SECONDS: Final = 75
"""Longer than the minute for which proxies keep connections, so that theirs end first."""

_MAX_CONNECTIONS: Final = 4096
_BACKLOG: Final = 512
_TOO_SLOW: Final = b"HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


class _Protocol(H11Protocol):
    """HTTP/1.1 that does not wait for what comes byte by byte.

    The body of a request that is being answered has a time limit of its own, in `http_gate`.
    """

    _deadline: asyncio.TimerHandle | None = None
    _stall: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        self._watch()
        super().data_received(data)

    def handle_events(self) -> None:
        super().handle_events()
        if not self._is_waiting():
            self._unwatch()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.conn.their_state is h11.SEND_BODY:
            self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._unwatch()
        self._flow_again()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._stall = self.loop.call_later(STALL_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        self._flow_again()
        super().resume_writing()

    def _flow_again(self) -> None:
        if self._stall is not None:
            self._stall.cancel()
            self._stall = None

    def _is_waiting(self) -> bool:
        """Return whether a head is awaited, or the rest of what has been answered."""
        theirs = self.conn.their_state
        return theirs is h11.IDLE or (theirs is h11.SEND_BODY and self.conn.our_state is h11.DONE)

    def _watch(self) -> None:
        if self._deadline is None and self._is_waiting():
            self._deadline = self.loop.call_later(HEADER_SECONDS, self._cut_off)

    def _unwatch(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _cut_off(self) -> None:
        self._deadline = None
        if self.transport.is_closing():
            return
        if self.conn.their_state is h11.IDLE and self.conn.trailing_data[0]:
            self.transport.write(_TOO_SLOW)
        self.transport.close()


class _Server(uvicorn.Server):
    """A web server that ends with exit code 0 when it is told to, after its last answer."""

    def __init__(self, config: uvicorn.Config, ending: Callable[[], None]) -> None:
        super().__init__(config)
        self._ending = ending

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Have signals end the server; uvicorn's own way would end the process by the signal."""
        loop = asyncio.get_running_loop()

        def stop(number: int, frame: FrameType | None) -> None:
            del number, frame
            loop.call_soon_threadsafe(self._stop)

        numbers = (signal.SIGINT, signal.SIGTERM)
        earlier = {number: signal.signal(number, stop) for number in numbers}
        try:
            yield
        finally:
            for number, handler in earlier.items():
                signal.signal(number, handler)

    def _stop(self) -> None:
        if self.should_exit:
            self.force_exit = True  # told twice: the person does not want to wait
            return
        self.should_exit = True
        self._ending()


def bind(host: str, port: int) -> socket.socket:
    """Return a socket that listens at that address.

    Raises:
        StoreError: The address is in use, or none of this machine.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Said in full: the event loop lets small answers go at once on such sockets only. On others
    # each waits 40 ms for the client's acknowledgement of its beginning.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if sys.platform != "win32":  # there it would let two servers share a port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(_BACKLOG)
    except (OSError, UnicodeError) as fault:
        listener.close()
        reason = getattr(fault, "strerror", None) or "it is no address"
        raise StoreError(
            f"The server cannot listen at {host}:{port}: {reason}",
            suggestions=["Choose another port with --http HOST:PORT, or stop what listens there."],
        ) from None
    listener.settimeout(0)
    return listener


def run(app: Starlette, listener: socket.socket, ending: Callable[[], None]) -> None:
    """Serve until the process is told to end, and then until the last call has been answered.

    Args:
        app: What answers.
        listener: From `bind`.
        ending: Called in the event loop as soon as the process is told; ends streams that would
            stay open by themselves.
    """
    _allow_many_files()
    config = uvicorn.Config(
        app,
        http=_Protocol,
        ws="none",
        lifespan="on",
        loop="asyncio",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        backlog=_BACKLOG,
        limit_concurrency=_MAX_CONNECTIONS,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=int(DRAIN_SECONDS),
    )
    _Server(config, ending).run(sockets=[listener])


def _allow_many_files() -> None:
    """Raise how many connections the process may hold, where the system lets it."""
    if sys.platform == "win32":
        return
    import resource  # noqa: PLC0415 (not on every system)

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted: Any = _MAX_CONNECTIONS * 2
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
