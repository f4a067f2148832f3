"""From a bearer token to a principal, checked by the SDK's own rules for resource servers."""

import asyncio
import threading
from pathlib import Path
from typing import Any, Final

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser, BearerAuthBackend
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.routes import build_resource_metadata_url
from mcp.server.auth.settings import AuthSettings
from pydantic import AnyHttpUrl, ConfigDict, Field
from starlette.requests import HTTPConnection

from schemory.config.http import ENDPOINT, HttpSettings
from schemory.errors import ConfigError
from schemory.server.auth_file import StaticTokens, one_token, read_tokens
from schemory.server.logs import log
from schemory.server.principals import Principal, Scope

_NO_TOKENS: Final = StaticTokens(())


class _NamedToken(AccessToken):
    """An access token without its text, and whom it stands for."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    principal: Any = Field(repr=False, exclude=True)


class TokenFile:
    """The file of static tokens, read again when it changes.

    A token taken out of the file stops working at once. A file that has become faulty lets nobody
    in: whoever edits it wanted something else than what was there before.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._mark = self._now()
        self._tokens = read_tokens(path)

    def find(self, token: str) -> Principal | None:
        """Return whom `token` stands for."""
        with self._lock:
            mark = self._now()
            if mark != self._mark:
                self._mark, self._tokens = mark, self._read()
            return self._tokens.find(token)

    def _read(self) -> StaticTokens:
        try:
            return read_tokens(self._path)
        except ConfigError as error:
            log.error("no static token is accepted: %s", error.message)
            return _NO_TOKENS

    def _now(self) -> tuple[int, ...]:
        try:
            found = self._path.stat()
        except OSError:
            return ()
        return (
            *(found.st_mtime_ns, found.st_size, found.st_ino),
            *(found.st_mode, found.st_uid, found.st_ctime_ns),
        )


class Gatekeeper:
    """Knows every token that is accepted; a `TokenVerifier` for the SDK.

    Attributes:
        resource: The URL that tokens are for.
    """

    def __init__(self, settings: HttpSettings, resource: str) -> None:
        self.resource = resource
        self.settings = settings
        self._file = TokenFile(settings.auth_file) if settings.auth_file else None
        self._own = one_token(settings.token) if settings.token else _NO_TOKENS
        self._oauth = None
        if settings.issuer is not None:
            # Cryptography takes a while to import; static tokens need none of it.
            from schemory.server.auth_jwt import KeySet, OAuthTokens  # noqa: PLC0415 (see above)

            keys = KeySet(settings.jwks or "")
            keys.load()
            self._oauth = OAuthTokens(settings, keys)
        auth = AuthSettings(
            issuer_url=AnyHttpUrl(settings.issuer or resource),
            resource_server_url=AnyHttpUrl(resource),
            validate_token_resource=True,
        )
        self._backend = BearerAuthBackend(self, resource_server_url=auth.resource_server_url)

    async def admit(self, connection: HTTPConnection) -> tuple[AuthenticatedUser, Principal] | None:
        """Return who sent a request, None without a token that is good here.

        Raises:
            KeysUnavailableError: The issuer's keys cannot be had, so nobody can tell.
        """
        found = await self._backend.authenticate(connection)
        if found is None:
            return None
        _, user = found
        token = user.access_token
        if not isinstance(token, _NamedToken):
            return None
        principal: Principal = token.principal
        return user, principal

    async def verify_token(self, token: str) -> AccessToken | None:
        """Return what the SDK wants to know of a token, None if it is not good."""
        principal = self._own.find(token) or (self._file.find(token) if self._file else None)
        issuer = "static"
        if principal is None and self._oauth is not None:
            principal = await asyncio.to_thread(self._oauth.find, token)
            issuer = self.settings.issuer or ""
        if principal is None:
            return None
        return _NamedToken(
            token="",
            client_id=principal.name,
            scopes=sorted(principal.scopes),
            expires_at=None if principal.expires_at is None else int(principal.expires_at),
            # Static tokens are of this server alone; of others the audience has been checked.
            resource=self.resource,
            subject=principal.name,
            claims={"iss": issuer},
            principal=principal,
        )

    @property
    def metadata_url(self) -> str:
        """Where clients learn how to get a token (RFC 9728)."""
        return str(build_resource_metadata_url(AnyHttpUrl(self.resource)))

    def metadata(self) -> dict[str, object]:
        """Return what is published there."""
        servers = {"authorization_servers": [self.settings.issuer]} if self.settings.issuer else {}
        return {
            "resource": self.resource,
            **servers,
            "scopes_supported": list(Scope),
            "bearer_methods_supported": ["header"],
            "resource_name": "Schemory",
        }


def resource_url(settings: HttpSettings, port: int) -> str:
    """Return the URL of the endpoint as clients know it."""
    if settings.public_url:
        return settings.public_url
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    return f"http://{host}:{port}{ENDPOINT}"
