"""Tokens of an OAuth authorization server: signature, issuer, audience and time, by its keys."""

import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, cast
from urllib.request import HTTPRedirectHandler, Request, build_opener

import jwt

from schemory.config.http import HttpSettings
from schemory.errors import ConfigError
from schemory.model.text import nfc
from schemory.server.logs import describe, log
from schemory.server.principals import KeysUnavailableError, Principal, Scope, held_scopes

ALGORITHMS: Final = (
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512", "EdDSA"),
)
"""What tokens may be signed with: public keys only, never a shared secret or nothing."""

_FRESH_SECONDS: Final = 600.0
_RETRY_SECONDS: Final = 30.0
"""Unknown keys are asked for this often at most, so that forged tokens cost the issuer nothing."""

_FETCH_SECONDS: Final = 5.0
_MAX_KEY_BYTES: Final = 1024 * 1024
_LEEWAY_SECONDS: Final = 30
_MAX_TOKEN_CHARS: Final = 16_384
_MAX_NAME_CHARS: Final = 255


class _NoRedirects(HTTPRedirectHandler):
    def redirect_request(self, *given: Any, **named: Any) -> None:
        del given, named


class KeySet:
    """The issuer's keys, from a file or a URL, asked for again when they are old or one is unknown.

    Safe to share by threads; it blocks while it fetches.
    """

    def __init__(self, place: str, now: Callable[[], float] = time.monotonic) -> None:
        self._place = place
        self._is_url = place.startswith(("https://", "http://"))
        self._now = now
        self._lock = threading.Lock()
        self._keys: Mapping[str, jwt.PyJWK] = {}
        self._fetched_at: float | None = None
        self._asked_at: float | None = None

    def key(self, kid: str | None) -> jwt.PyJWK | None:
        """Return the key of that id, or the only one where a token names none.

        Raises:
            KeysUnavailableError: There are no keys, and none can be had.
        """
        with self._lock:
            now = self._now()
            is_old = self._fetched_at is None or now - self._fetched_at > _FRESH_SECONDS
            may_ask = self._asked_at is None or now - self._asked_at > _RETRY_SECONDS
            if (is_old or self._pick(kid) is None) and may_ask:
                self._asked_at = now
                self._refresh(now)
            if self._fetched_at is None:
                raise KeysUnavailableError
            return self._pick(kid)

    def load(self) -> None:
        """Read the keys of a file now, so that a bad one is told at the start.

        Raises:
            ConfigError: It cannot be read, or holds no key that tokens may be signed with.
        """
        if self._is_url:
            return
        name = "MEMORY_HTTP_JWKS"
        try:
            self._keys = _parsed(_read_file(Path(self._place)))
        except OSError as fault:
            told = f"{name}: {self._place} cannot be read: {fault.strerror}"
        except (ValueError, jwt.PyJWTError):
            told = f"{name}: {self._place} holds no JSON Web Key Set"
        else:
            self._fetched_at = self._asked_at = self._now()
            if self._keys:
                return
            told = f"{name}: {self._place} holds no public key that tokens can be signed with"
        raise ConfigError.at(name, told)

    def _pick(self, kid: str | None) -> jwt.PyJWK | None:
        if kid is None:
            return next(iter(self._keys.values())) if len(self._keys) == 1 else None
        return self._keys.get(kid)

    def _refresh(self, now: float) -> None:
        try:
            raw = _fetch(self._place) if self._is_url else _read_file(Path(self._place))
            keys = _parsed(raw)
        except (OSError, ValueError, jwt.PyJWTError) as fault:
            log.warning("the issuer's keys cannot be had: %s", describe(fault))
            return
        self._keys, self._fetched_at = keys, now


def _read_file(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_MAX_KEY_BYTES + 1)


def _fetch(url: str) -> bytes:
    # The scheme was checked with the settings; a redirect could lead to another one.
    request = Request(url, headers={"Accept": "application/json"})  # noqa: S310 (see above)
    with build_opener(_NoRedirects).open(request, timeout=_FETCH_SECONDS) as answer:
        return cast("bytes", answer.read(_MAX_KEY_BYTES + 1))


def _parsed(raw: bytes) -> Mapping[str, jwt.PyJWK]:
    if len(raw) > _MAX_KEY_BYTES:
        raise ValueError("too large")
    data: object = json.loads(raw)
    listed: object = cast("dict[str, object]", data).get("keys") if isinstance(data, dict) else None
    if not isinstance(listed, list):
        raise ValueError("no key set")  # noqa: TRY004 (one kind for whatever is no key set)
    keys: dict[str, jwt.PyJWK] = {}
    for position, item in enumerate(cast("list[object]", listed)):
        key = _key(item)
        if key is not None:
            keys[key.key_id or f"#{position}"] = key
    return keys


def _key(item: object) -> jwt.PyJWK | None:
    """Return a key that tokens may be signed with; sets hold others as well, which are left out."""
    if not isinstance(item, dict):
        return None
    given = cast("dict[str, Any]", item)
    if given.get("use", "sig") != "sig" or given.get("kty") not in {"RSA", "EC", "OKP"}:
        return None
    try:
        return jwt.PyJWK(given)
    except jwt.PyJWTError:
        return None


class OAuthTokens:
    """Tells whom an access token stands for.

    Attributes:
        resource: What tokens are made for: the URL that clients use.
    """

    def __init__(self, settings: HttpSettings, keys: KeySet) -> None:
        self.resource = settings.public_url or ""
        self._issuer = settings.issuer or ""
        audience = settings.audience or self.resource.rstrip("/")
        self._audience = [audience] if settings.audience else [audience, audience + "/"]
        self._principal_claim = settings.principal_claim
        self._projects_claim = settings.projects_claim
        self._keys = keys

    def find(self, token: str) -> Principal | None:
        """Return whom `token` stands for, None where it is not good; may ask the issuer for keys.

        Raises:
            KeysUnavailableError: Nobody can tell.
        """
        if len(token) > _MAX_TOKEN_CHARS:
            return None
        try:
            header = jwt.get_unverified_header(token)
            kid: object = header.get("kid")
            key = self._keys.key(kid if isinstance(kid, str) else None)
            if key is None or header.get("alg") not in ALGORITHMS:
                return None
            claims: dict[str, Any] = jwt.decode(
                token,
                key,
                algorithms=list(ALGORITHMS),
                audience=self._audience,
                issuer=self._issuer,
                leeway=_LEEWAY_SECONDS,
                options={"require": ["exp", "iss", "aud"]},
            )
        except jwt.PyJWTError:
            return None
        return self._principal(claims)

    def _principal(self, claims: Mapping[str, object]) -> Principal | None:
        name = claims.get(self._principal_claim)
        if not isinstance(name, str) or not name.strip() or not name.isprintable():
            return None
        if len(name) > _MAX_NAME_CHARS:
            return None  # cut, it could be somebody else's
        given = [each for each in _scopes(claims) if each in list(Scope)]
        expires = claims.get("exp")
        return Principal(
            name=name.strip(),
            scopes=held_scopes(map(Scope, given)),
            projects=self._projects(claims),
            can_step_up=True,
            issuer=self._issuer,
            expires_at=float(expires) if isinstance(expires, int | float) else None,
        )

    def _projects(self, claims: Mapping[str, object]) -> tuple[str, ...] | None:
        if self._projects_claim is None:
            return None
        given = claims.get(self._projects_claim)
        listed = [given] if isinstance(given, str) else given
        if not isinstance(listed, list):
            return ()
        texts = (each for each in cast("list[object]", listed) if isinstance(each, str))
        return tuple(dict.fromkeys(nfc(each.strip()) for each in texts if each.strip()))


def _scopes(claims: Mapping[str, object]) -> Sequence[str]:
    """Return the scopes of a token: `scope` as one text, or `scp` as some servers write it."""
    given = claims.get("scope", claims.get("scp", ""))
    if isinstance(given, str):
        return given.split()
    listed = cast("list[object]", given) if isinstance(given, list) else []
    return [each for each in listed if isinstance(each, str)]
