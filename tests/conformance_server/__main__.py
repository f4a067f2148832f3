"""A server for the official conformance suite: `python -m tests.conformance_server --port PORT`.

It is the product's HTTP server, tool server, toolbox and resources over a store in memory, with
the tools, resources and prompts beside them that the suite calls by name. It wants no token and
listens on this machine alone, at `/mcp`.
"""

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Any

from mcp.server.context import HandlerResult
from mcp.server.subscriptions import PromptsListChanged
from mcp_types import CallToolRequestParams, EmptyResult, SetLevelRequestParams
from tests.conformance_server.beside import SuiteExtras
from tests.conformance_server.raw import RAW, Context, complete
from tests.conformance_server.tools import TOOLS, said, tool

from schemory.app import App, open_app, system_clock
from schemory.config import load_settings
from schemory.config.http import HttpSettings
from schemory.server.http import HttpServer
from schemory.server.http_wire import bind, run
from schemory.server.lane import Lanes
from schemory.server.logs import configure_logging
from schemory.server.sdk import ToolServer
from schemory.tools.registry import Call, Reply
from schemory.tools.toolbox import Toolbox, ToolSettings, build_toolbox

_HOST = "127.0.0.1"
_CHANGING_TYPE = "conformance_change"
_PROMPT_CHANGE = "test_trigger_prompt_change"


class SuiteServer(ToolServer):
    """The product's tool server, which hands the suite's own tools on."""

    def __init__(self, toolbox: Toolbox, lanes: Lanes, extras: SuiteExtras) -> None:
        super().__init__(
            toolbox, lanes.short, transport="http", extras=extras, long_lane=lanes.long
        )
        self.sdk.add_request_handler("logging/setLevel", SetLevelRequestParams, self._set_level)

    async def _call_tool(self, ctx: Context, params: CallToolRequestParams) -> HandlerResult:
        if params.name == _PROMPT_CHANGE:
            await self._bus.publish(PromptsListChanged())
            return complete(ctx, {"type": "text", "text": "Prompts changed."})
        if params.name in RAW:
            return await RAW[params.name](ctx, params.arguments or {})
        return await super()._call_tool(ctx, params)

    async def _set_level(self, ctx: Context, params: SetLevelRequestParams) -> HandlerResult:
        del ctx, params
        return EmptyResult()


def _toolbox(app: App) -> Toolbox:
    """Return the product's tools and the suite's over one store."""

    def unused(call: Call) -> Reply:
        del call
        return said("The suite's server answers this one itself.", is_error=True)

    def change(call: Call) -> Reply:
        del call
        if app.catalog.get(_CHANGING_TYPE) is None:
            schema: dict[str, Any] = {
                "name": f"add_{_CHANGING_TYPE}",
                "description": "Comes and goes",
                "properties": {},
            }
            app.catalog.define(schema)
        else:
            app.catalog.remove(_CHANGING_TYPE)
        return said("The tools changed.")

    own = [tool(name, unused, takes="prompt" if name == "test_sampling" else "") for name in RAW]
    own += [tool("test_trigger_tool_change", change), tool(_PROMPT_CHANGE, unused)]
    settings = ToolSettings(toolsets=("graph",))
    return build_toolbox(app.graph, app.catalog, settings, system_clock, extra_tools=[*TOOLS, *own])


def main() -> int:
    """Serve until told to end."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance_server", description=__doc__)
    parser.add_argument("--port", type=int, required=True, help="0 takes any free one")
    port: int = parser.parse_args().port
    configure_logging(debug=False)
    with tempfile.TemporaryDirectory(prefix="schemory-conformance-") as folder:
        here = Path(folder)
        flags = {"MEMORY_DB_PATH": ":memory:", "MEMORY_SCHEMAS": str(here)}
        app = open_app(load_settings(flags, environ={}, cwd=here, home=here))
        lanes = Lanes("conformance")
        server = SuiteServer(_toolbox(app), lanes, SuiteExtras(lambda: app.resources))
        with bind(_HOST, port) as listener:
            web = HttpServer(server, HttpSettings(host=_HOST, port=port))
            address = f"http://localhost:{listener.getsockname()[1]}/mcp"
            sys.stderr.write(f"conformance server: {address}\n")
            sys.stderr.flush()
            run(web.app, listener, web.begin_to_end)
        lanes.close(5.0)
        app.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
