"""The inner wall around every request: who acts, whether the scope is enough, and how it went."""

import time
from collections.abc import Mapping
from typing import Any, Final, TypeAlias, cast

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, INVALID_REQUEST
from pydantic import BaseModel

from schemory.server.http_gate import PRINCIPAL
from schemory.server.metrics import UNKNOWN_TOOL, Metrics
from schemory.server.principals import Principal, acting, scope_for, scope_for_request
from schemory.server.sdk import ToolServer
from schemory.tools.registry import Tool

_Context: TypeAlias = ServerRequestContext[Any, Any]
_CALL: Final = "tools/call"


def watch_calls(server: ToolServer, metrics: Metrics) -> None:
    """Have every request of `server` pass this wall."""

    async def act(ctx: _Context, call_next: CallNext) -> HandlerResult:
        principal = _principal(ctx)
        _require_scope(server, ctx, principal)
        token = acting.set(principal)
        try:
            result = await call_next(ctx)
        finally:
            acting.reset(token)
        if ctx.method == "tools/list" and principal is not None:
            return _for(principal, server, result)
        return result

    async def measure(ctx: _Context, call_next: CallNext) -> HandlerResult:
        if ctx.method != _CALL:
            return await call_next(ctx)
        given = (ctx.params or {}).get("name")
        tool = given if isinstance(given, str) and given in server.tools else UNKNOWN_TOOL
        started, outcome = time.perf_counter(), "cancelled"
        try:
            result = await call_next(ctx)
            outcome = "error" if _is_error(result) else "ok"
        except MCPError as error:
            is_refusal = error.error.code in {INVALID_PARAMS, INVALID_REQUEST}
            outcome = "refused" if is_refusal else "failed"
            raise
        finally:
            metrics.note_call(tool, outcome, time.perf_counter() - started)
        return result

    server.sdk.middleware[:0] = [measure, act]


def _principal(ctx: _Context) -> Principal | None:
    scope: Mapping[str, Any] = ctx.request.scope if ctx.request is not None else {}
    return scope.get(PRINCIPAL)


def _require_scope(server: ToolServer, ctx: _Context, principal: Principal | None) -> None:
    """Refuse what the scope is not enough for; the gate has done so, unless it read another body.

    Raises:
        MCPError: The token's scopes are not enough.
    """
    if principal is None:
        return
    needed = scope_for_request(ctx.method, ctx.params or {}, server.tools)
    if needed is not None and needed not in principal.scopes:
        raise MCPError(INVALID_REQUEST, f"This needs a token with the scope {needed}.")


def _for(principal: Principal, server: ToolServer, result: HandlerResult) -> HandlerResult:
    """Return the tool list of a principal: what it can call, now or with a token it can ask for."""
    listed = result.model_dump(by_alias=True) if isinstance(result, BaseModel) else result
    if listed is None or principal.can_step_up:
        return result
    tools = cast("list[dict[str, Any]]", listed["tools"])
    known = server.tools
    allowed = [
        tool
        for tool in tools
        if tool["name"] in known and _may_call(principal, known[tool["name"]])
    ]
    return {**listed, "tools": allowed}


def _may_call(principal: Principal, tool: Tool) -> bool:
    """Return whether a call could succeed; schemas belong to all projects, see `tools.admin`."""
    concerns_all = tool.toolset == "admin" and principal.projects is not None
    return scope_for(tool) in principal.scopes and not concerns_all


def _is_error(result: HandlerResult) -> bool:
    return isinstance(result, dict) and bool(result.get("isError"))
