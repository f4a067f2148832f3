"""The MCP server over streamable HTTP: the application, and serving it until the process ends.

The way of a request: `http_guard` (host, origin), `http_gate` (token, rate, size, scope),
`http_sessions` (clients that shook hands), the SDK's transport, `http_calls` (scope, figures), and
the same handlers as on pipes. TLS is left to a proxy.
"""

import asyncio
import os
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from http import HTTPStatus
from typing import Final

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from schemory.app import App, open_app
from schemory.config import Settings
from schemory.config.http import ENDPOINT, HttpSettings, http_settings
from schemory.model.frozen import replace
from schemory.model.jsonvalue import Json
from schemory.server.auth import Gatekeeper, resource_url
from schemory.server.extras import Extras
from schemory.server.http_answers import plain
from schemory.server.http_calls import watch_calls
from schemory.server.http_gate import Gate, admitted
from schemory.server.http_guard import Guard
from schemory.server.http_lanes import SharedLanes
from schemory.server.http_rates import Rates
from schemory.server.http_sessions import MAX_SESSIONS, Sessions
from schemory.server.http_streams import Streams
from schemory.server.http_wire import bind, run
from schemory.server.lane import Lanes
from schemory.server.logs import configure_logging, log_internal_error
from schemory.server.metrics import CONTENT_TYPE, Metrics
from schemory.server.sdk import ToolServer
from schemory.server.serve import start_lines, watching_schemas
from schemory.server.session_names import SessionNames

WELL_KNOWN: Final = "/.well-known/oauth-protected-resource"
_READY_SECONDS: Final = 5.0
_LAST_CALL_SECONDS: Final = 5.0
_LONG_WORKERS: Final = 2


class HttpServer:
    """A `ToolServer` behind the walls that a network needs.

    Attributes:
        app: The application, for any ASGI web server.
    """

    def __init__(
        self,
        server: ToolServer,
        settings: HttpSettings,
        *,
        keeper: Gatekeeper | None = None,
        session_key: bytes | None = None,
        is_ready: Callable[[], Awaitable[bool]] | None = None,
    ) -> None:
        self._server = server
        self._keeper = keeper
        self._is_ready = is_ready
        self._metrics = Metrics()
        self._streams = Streams(self._is_admitted)
        # The guard is ours, since it covers every path and every address.
        unguarded = TransportSecuritySettings(enable_dns_rebinding_protection=False)
        stateful, stateless = (
            StreamableHTTPSessionManager(
                server.sdk,
                stateless=is_stateless,
                security_settings=unguarded,
                max_sessions=MAX_SESSIONS,
            )
            for is_stateless in (False, True)
        )
        self._managers = (stateful, stateless)
        names = SessionNames(session_key or os.urandom(32))
        self._sessions = Sessions(stateful, stateless, names, left=server.forget)
        # Else the SDK lists all tools before each call, to look at one schema.
        server.sdk.get_tool_input_schema = _schema_finder(server)
        watch_calls(server, self._metrics)
        refused = self._metrics.note_refusal
        gate = Gate(
            self._streams.ending_with_the_server(self._sessions),
            keeper,
            Rates(settings.rate),
            tools=lambda: server.tools,
            refused=refused,
        )
        self.app = Starlette(
            routes=[
                # Not redirected: behind a proxy that would lead from https to http, token and all.
                *(
                    Route(path, _Endpoint(gate, self._metrics))
                    for path in (ENDPOINT, ENDPOINT + "/")
                ),
                Route("/healthz", self._healthz),
                Route("/readyz", self._readyz),
                Route("/metrics", self._figures),
                *([Route(path, self._metadata) for path in self._metadata_paths()]),
            ],
            middleware=[Middleware(Guard, settings=settings, refused=refused)],
            lifespan=self._lifespan,
        )
        self.app.router.redirect_slashes = False

    def begin_to_end(self) -> None:
        """Close the streams that wait for news, so that only running calls are waited for."""
        self._streams.end()
        self._server.end_listening()

    @asynccontextmanager
    async def _lifespan(self, app: Starlette) -> AsyncGenerator[None]:
        del app
        stop_announcing = self._server.announce_changes(asyncio.get_running_loop())
        tasks = [
            asyncio.ensure_future(job) for job in (self._server.watch(), self._sessions.prune())
        ]
        stateful, stateless = self._managers
        try:
            async with stateful.run(), stateless.run():
                yield
        finally:
            stop_announcing()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _is_admitted(self, scope: Scope) -> bool:
        """Return whether a request's token still counts; also while nobody can tell."""
        if self._keeper is None:
            return True
        found = await admitted(self._keeper, scope)
        return not isinstance(found, Response) or found.status_code != HTTPStatus.UNAUTHORIZED

    async def _healthz(self, request: Request) -> Response:
        del request
        return plain(200, "ok")

    async def _readyz(self, request: Request) -> Response:
        del request
        if self._streams.is_ending:
            return plain(503, "ending")
        is_ready = self._is_ready is None or await self._is_ready()
        return plain(200, "ok") if is_ready else plain(503, "the store cannot be read")

    async def _figures(self, request: Request) -> Response:
        if self._keeper is not None:
            found = await admitted(self._keeper, request.scope)
            if isinstance(found, Response):
                self._metrics.note_refusal("token")
                return found
            if found[1].projects is not None:
                self._metrics.note_refusal("scope")
                return plain(403, "The figures are of all projects; this token is of some.")
        text = self._metrics.text(len(self._sessions))
        return Response(text, media_type=CONTENT_TYPE)

    async def _metadata(self, request: Request) -> Response:
        del request
        found = self._keeper.metadata() if self._keeper else {}
        return JSONResponse(found, headers={"Access-Control-Allow-Origin": "*"})

    def _metadata_paths(self) -> list[str]:
        if self._keeper is None:
            return []
        return list(dict.fromkeys((WELL_KNOWN, WELL_KNOWN + ENDPOINT)))


def _schema_finder(server: ToolServer) -> Callable[[str], Mapping[str, Json] | None]:
    """Return what finds a tool's input schema, as it is then."""

    def find(name: str) -> Mapping[str, Json] | None:
        tool = server.tools.get(name)
        return None if tool is None else tool.input_schema

    return find


class _Endpoint:
    """Counts what is in flight; an object, since Starlette lets those see every HTTP method."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._metrics.request():
            await self._app(scope, receive, send)


def serve_http(settings: Settings) -> int:
    """Serve over HTTP until the process is told to end; return the exit code.

    Raises:
        SchemoryError: The store, the address or a setting cannot be used; nothing was served.
    """
    http = http_settings(settings.http)
    configure_logging(debug=settings.debug)
    listener = bind(http.host, http.port)
    port: int = listener.getsockname()[1]
    url = resource_url(http, port)
    with listener:
        keeper = Gatekeeper(http, url) if http.needs_token else None
        app = open_app(_for_many(settings), on_internal_error=log_internal_error)
        app.makes_vectors = True
        app.for_remote = keeper is not None
        for line in (*start_lines(app), *_http_lines(http, port)):
            sys.stderr.write(line + "\n")
        sys.stderr.flush()
        lanes = SharedLanes("schemory-tools", http.workers, _LONG_WORKERS)
        extras = Extras(lambda: app.resources, has_prompts="memory" in settings.toolsets)
        server = ToolServer(
            app.toolbox, lanes.short, transport="http", extras=extras, long_lane=lanes.long
        )
        web = HttpServer(
            server,
            http,
            keeper=keeper,
            session_key=app.store.cursor_key,
            is_ready=lambda: _can_read(app, lanes),
        )
        with watching_schemas(app):
            run(web.app, listener, web.begin_to_end)
        if not lanes.close(_LAST_CALL_SECONDS):
            sys.stderr.flush()
            os._exit(0)  # as on pipes: the store survives a process that ends inside a call
        app.close()
    return 0


def _for_many(settings: Settings) -> Settings:
    """Return settings with which the graph's tools take a project; a graph file holds one only."""
    return replace(settings, allow_cross_project=settings.graph_file is None)


def _http_lines(settings: HttpSettings, port: int) -> list[str]:
    """Return what is said at the start of the network: where it listens and who may come in."""
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    how = "with a bearer token" if settings.needs_token else "without a token, from this machine"
    told = [f"schemory: listening at http://{host}:{port}{ENDPOINT}, {how}; Ctrl-C ends"]
    return [*told, *(f"schemory warning: {warning}" for warning in settings.warnings)]


async def _can_read(app: App, lanes: Lanes) -> bool:
    """Return whether the store can be read, and soon."""

    def look() -> bool:
        with app.graph.reading() as reader:
            reader.count()
        return True

    with suppress(Exception):  # whatever keeps it from being read
        async with asyncio.timeout(_READY_SECONDS):
            return await lanes.short.run(look)
    return False
