"""What keeps a request from being answered before its method is looked at: envelope and shape."""

from schemory.server import jsonrpc
from schemory.server.jsonrpc import Object, Request, RpcError
from schemory.server.shapes import (
    CAPABILITIES_KEY,
    MODERN_VERSIONS,
    VERSION_KEY,
    is_of_era,
    problems_in,
)


def envelope_of(request: Request) -> Object:
    """Return what a request of the newest era says of its client; empty where it says nothing."""
    meta = (request.params or {}).get("_meta")
    return meta if isinstance(meta, dict) else {}


def check_envelope(request: Request) -> None:
    """Require what each request of the newest era carries.

    Raises:
        RpcError: It lacks some of it, or names a version that is not served.
    """
    meta = envelope_of(request)
    missing = [key for key in (VERSION_KEY, CAPABILITIES_KEY) if key not in meta]
    if missing:
        told = f"params._meta lacks what each request of this era carries: {', '.join(missing)}"
        raise RpcError(jsonrpc.INVALID_PARAMS, told)
    version = meta[VERSION_KEY]
    if not isinstance(version, str):
        raise RpcError(jsonrpc.INVALID_PARAMS, f"{VERSION_KEY} must be a text")
    if version not in MODERN_VERSIONS:
        data: Object = {"supported": list(MODERN_VERSIONS), "requested": version}
        raise RpcError(jsonrpc.UNSUPPORTED_VERSION, "Unsupported protocol version", data)


def check_shape(request: Request, *, is_modern: bool) -> None:
    """Require that the era has the method, and parameters of its shape.

    Raises:
        RpcError: With every problem there is.
    """
    if not is_of_era(request.method, is_modern=is_modern):
        raise not_found(request.method)
    problems = problems_in(request.method, request.params, is_modern=is_modern)
    if problems:
        first = f"{problems[0]['path']} {problems[0]['problem']}"
        told = f"Invalid parameters for {request.method}: {first}"
        raise RpcError(jsonrpc.INVALID_PARAMS, told, {"problems": [*problems]})


def not_found(method: str) -> RpcError:
    """Return the error for a method that is not served."""
    return RpcError(jsonrpc.METHOD_NOT_FOUND, "Method not found", method)
