"""The suite's tools that the product has no use for: images, sampling, roots, log messages.

Their results are made for the SDK's server directly; everything around them is the product's.
"""

import asyncio
import warnings
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, TypeAlias, cast

from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError
from mcp_types import MISSING_REQUIRED_CLIENT_CAPABILITY, SamplingMessage, TextContent
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from schemory.server.calling import answers_in

Context: TypeAlias = ServerRequestContext[Any, Any]
Result: TypeAlias = dict[str, Any]
Handler: TypeAlias = Callable[[Context, Mapping[str, Any]], Awaitable[Result]]

PNG: Final = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmM"
    "IQAAAABJRU5ErkJggg=="
)
WAV: Final = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA=="
IMAGE: Final = {"type": "image", "data": PNG, "mimeType": "image/png"}
_PAUSE_SECONDS: Final = 0.05
_ASK_NAME: Final = {
    "method": "elicitation/create",
    "params": {
        "mode": "form",
        "message": "What is your name?",
        "requestedSchema": {
            "type": "object",
            "properties": {"name": {"type": "string"}},
            "required": ["name"],
        },
    },
}
_ASK_ROOTS: Final[Result] = {"method": "roots/list", "params": {}}


def _content(*blocks: Mapping[str, Any]) -> Handler:
    async def handle(ctx: Context, arguments: Mapping[str, Any]) -> Result:
        del arguments
        return complete(ctx, *blocks)

    return handle


def complete(ctx: Context, *blocks: Mapping[str, Any]) -> Result:
    """Return a tool's result, with the mark of the newest era where that is spoken."""
    # The tools are listed with an output schema, which nothing at all satisfies.
    result: Result = {"content": [*blocks], "structuredContent": {}}
    is_modern = ctx.protocol_version in MODERN_PROTOCOL_VERSIONS
    return {"resultType": "complete", **result} if is_modern else result


def _text(text: str) -> Result:
    return {"type": "text", "text": text}


def _ask_model(prompt: str, tokens: int) -> Result:
    message = {"role": "user", "content": _text(prompt)}
    return {
        "method": "sampling/createMessage",
        "params": {"messages": [message], "maxTokens": tokens},
    }


async def _log(ctx: Context, arguments: Mapping[str, Any]) -> Result:
    del arguments
    for said in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MCPDeprecationWarning)  # older clients know it
            await ctx.session.send_log_message("info", said, related_request_id=ctx.request_id)
        await asyncio.sleep(_PAUSE_SECONDS)
    return complete(ctx, _text("Logged three messages."))


async def _sample(ctx: Context, arguments: Mapping[str, Any]) -> Result:
    text = TextContent(text=str(arguments.get("prompt")))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MCPDeprecationWarning)
        answer = await ctx.session.create_message(
            [SamplingMessage(role="user", content=text)],
            max_tokens=100,
            related_request_id=ctx.request_id,
        )
    said = answer.content.text if isinstance(answer.content, TextContent) else "(no text)"
    return complete(ctx, _text(f"LLM response: {said}"))


def _asks(requests: Mapping[str, Result], *, state: str | None = None) -> Handler:
    """Return a handler that asks for everything at once, until each has an answer."""

    async def handle(ctx: Context, arguments: Mapping[str, Any]) -> Result:
        del arguments
        answers = answers_in(ctx.params or {}).answers
        if set(requests) <= set(answers):
            told = {key: answers[key] for key in requests}
            return complete(ctx, _text(f"Answered: {told}"))
        asked: Result = {"resultType": "input_required", "inputRequests": dict(requests)}
        return {**asked, "requestState": state} if state else asked

    return handle


async def _by_capability(ctx: Context, arguments: Mapping[str, Any]) -> Result:
    declared = ctx.session.client_capabilities
    requests: dict[str, Result] = {}
    if declared and declared.elicitation:
        requests["user_name"] = cast("Result", _ASK_NAME)
    if declared and declared.sampling:
        requests["greeting"] = _ask_model("Generate a greeting", 50)
    return await _asks(requests)(ctx, arguments)


async def _missing(ctx: Context, arguments: Mapping[str, Any]) -> Result:
    declared = ctx.session.client_capabilities
    if declared is None or declared.sampling is None:
        needs: Result = {"requiredCapabilities": {"sampling": {}}}
        told = "This tool needs a client that offers sampling"
        raise MCPError(MISSING_REQUIRED_CLIENT_CAPABILITY, told, needs)
    return await _content(_text("The client offers sampling."))(ctx, arguments)


RAW: Final[Mapping[str, Handler]] = {
    "test_image_content": _content(IMAGE),
    "test_audio_content": _content({"type": "audio", "data": WAV, "mimeType": "audio/wav"}),
    "test_embedded_resource": _content(
        {
            "type": "resource",
            "resource": {
                "uri": "test://embedded-resource",
                "mimeType": "text/plain",
                "text": "This is an embedded resource content.",
            },
        }
    ),
    "test_multiple_content_types": _content(
        _text("Multiple content types test:"),
        IMAGE,
        {
            "type": "resource",
            "resource": {
                "uri": "test://mixed-content-resource",
                "mimeType": "application/json",
                "text": '{"test":"data","value":123}',
            },
        },
    ),
    "test_tool_with_logging": _log,
    "test_logging_tool": _log,
    "test_sampling": _sample,
    "test_missing_capability": _missing,
    "test_input_required_result_sampling": _asks(
        {"capital_question": _ask_model("What is the capital of France?", 100)}
    ),
    "test_input_required_result_list_roots": _asks({"client_roots": _ASK_ROOTS}),
    "test_input_required_result_multiple_inputs": _asks(
        {
            "user_name": cast("Result", _ASK_NAME),
            "greeting": _ask_model("Generate a greeting", 50),
            "client_roots": _ASK_ROOTS,
        },
        state="everything at once",
    ),
    "test_input_required_result_capabilities": _by_capability,
}
"""Handlers by tool."""
