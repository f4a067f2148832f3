"""Questions to the person behind a client of the SDK's server: it only moves JSON, as `sdk.py`."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeAlias, cast

import anyio
from mcp.server.context import HandlerResult, ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp_types import ElicitRequest, ElicitRequestFormParams, ElicitResult
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from schemory.server.asking import ANSWER_SECONDS, UNANSWERED, can_ask
from schemory.server.calling import answers_in, input_required
from schemory.tools.registry import Asking, Question, Reply

_Context: TypeAlias = ServerRequestContext[Any, Any]


async def with_questions(
    ctx: _Context,
    made: Callable[[Asking | None], Awaitable[Reply]],
    ending: asyncio.Event,
) -> Reply | HandlerResult:
    """Make a call, and again with each answer; returns its reply, or the question as a result.

    A question is a result in the newest era, whose clients repeat the call themselves; before it is
    a request of ours, which counts as unanswered when the server is `ending`.
    """
    asking = _asking(ctx)
    reply = await made(asking)
    while reply.question is not None:
        if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
            return input_required(reply.question)
        said = await _said(ctx, reply.question, ending)
        reply = await made(Asking(answers={reply.question.key: said}, state=reply.question.state))
    return reply


def _asking(ctx: _Context) -> Asking | None:
    """Return what is known of the person; None where the client cannot ask them."""
    declared = ctx.session.client_capabilities
    told = declared.model_dump(by_alias=True, exclude_none=True) if declared else {}
    if not can_ask(ctx.protocol_version, told):
        return None
    if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
        return answers_in(ctx.params or {})
    return Asking() if ctx.session.can_send_request else None


async def _said(ctx: _Context, question: Question, ending: asyncio.Event) -> Mapping[str, object]:
    """Ask, and return what was said; an error of the client's and silence are cancellations."""
    shown = question.params
    form = ElicitRequestFormParams(
        message=str(shown["message"]),
        requested_schema=cast("dict[str, Any]", shown["requestedSchema"]),
    )
    said: Mapping[str, object] = UNANSWERED
    with suppress(MCPError, ValidationError):
        async with _until(ending):
            result = await ctx.session.send_request(
                ElicitRequest(params=form),
                ElicitResult,
                request_read_timeout_seconds=ANSWER_SECONDS,
                metadata=ServerMessageMetadata(related_request_id=ctx.request_id),
            )
            said = result.model_dump(by_alias=True, exclude_none=True)
    return said


@asynccontextmanager
async def _until(ending: asyncio.Event) -> AsyncGenerator[None]:
    """Give the block up when `ending` is set."""
    with anyio.CancelScope() as scope:
        waiting = asyncio.ensure_future(ending.wait())
        waiting.add_done_callback(lambda done: None if done.cancelled() else scope.cancel())
        try:
            yield
        finally:
            waiting.cancel()
