"""Short answers of the HTTP server itself, before or beside the protocol."""

from collections.abc import Mapping, Sequence

from starlette.responses import JSONResponse, Response


def plain(status: int, text: str, headers: Mapping[str, str] | None = None) -> Response:
    """Return a line of text."""
    return Response(text + "\n", status, dict(headers or {}), "text/plain")


def rpc_refusal(
    status: int, code: int, message: str, request_id: int | str | None = None
) -> Response:
    """Return a JSON-RPC error; None = it belongs to no request."""
    error = {"code": code, "message": message}
    return JSONResponse({"jsonrpc": "2.0", "id": request_id, "error": error}, status)


def challenge(
    status: int,
    metadata_url: str,
    *,
    error: str,
    description: str,
    scopes: Sequence[str],
) -> Response:
    """Return why a token is needed, or which it takes, as OAuth clients read it (RFC 6750)."""
    parts = {
        "error": error,
        "error_description": description,
        "scope": " ".join(scopes),
        "resource_metadata": metadata_url,
    }
    told = ", ".join(f'{name}="{value}"' for name, value in parts.items() if value)
    body = {"error": error or "unauthorized", "error_description": description}
    return JSONResponse(body, status, {"WWW-Authenticate": f"Bearer {told}"})
