"""What the HTTP server gets of the settings; what would be unsafe is refused with the way out."""

import ipaddress
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, cast
from urllib.parse import SplitResult, urlsplit

from schemory.errors import ConfigError, Problem
from schemory.model.frozen import dataclass, field

ENDPOINT: Final = "/mcp"
MIN_TOKEN_CHARS: Final = 32

_LOCAL_NAMES: Final = ("127.0.0.1", "localhost", "[::1]")
_HOST: Final = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:[0-9]{1,5})?")
_TOKEN: Final = re.compile(r"[\x21-\x7E]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpSettings:
    """How the HTTP server works; made by `http_settings`, which refuses what is unsafe.

    Attributes:
        port: 0 = any free one.
        allowed_hosts: By which clients may call it, lower-case; without a port = at any port.
        allowed_origins: Of web pages that may call it, beside those of this machine.
        public_url: The URL that clients use; None = its own address.
        auth_file: The file of static tokens.
        token: The one token from the environment.
        jwks: A URL or a path.
        audience: Of OAuth tokens; None = the public URL.
        projects_claim: None = OAuth principals may use every project.
        rate: Most requests a minute of one principal; 0 = no bound.
        warnings: What a person should know.
    """

    host: str = "127.0.0.1"
    port: int = 0
    allowed_hosts: tuple[str, ...] = ()
    allowed_origins: tuple[str, ...] = ()
    public_url: str | None = None
    auth_file: Path | None = None
    token: str | None = field(default=None, repr=False)
    issuer: str | None = None
    jwks: str | None = None
    audience: str | None = None
    principal_claim: str = "sub"
    projects_claim: str | None = None
    rate: int = 0
    workers: int = 8
    warnings: tuple[str, ...] = ()

    @property
    def needs_token(self) -> bool:
        """Whether clients must say who they are."""
        return self.auth_file is not None or self.token is not None or self.issuer is not None

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        return is_loopback(self.host)

    @property
    def hosts(self) -> tuple[str, ...]:
        """Every name by which clients may call it: this machine's own where it listens there."""
        own = _LOCAL_NAMES if self.is_loopback or not self.host.strip("0.:") else ()
        public = _netloc(self.public_url)
        return tuple(dict.fromkeys((*own, *self.allowed_hosts, *((public,) if public else ()))))

    @property
    def origins(self) -> tuple[str, ...]:
        """Every web origin that may call it; those without a port at any."""
        own = [f"{scheme}://{name}" for scheme in ("http", "https") for name in _LOCAL_NAMES]
        public = urlsplit(self.public_url or "")
        site = [f"{public.scheme}://{public.netloc}"] if public.netloc else []
        return tuple(dict.fromkeys((*own, *self.allowed_origins, *site)))


def is_loopback(host: str) -> bool:
    """Return whether an address, or name, is of this machine alone.

    >>> [is_loopback(host) for host in ("localhost", "127.0.0.2", "::1", "0.0.0.0", "box")]
    [True, True, True, False, False]
    """
    name = host.removeprefix("[").removesuffix("]").lower()
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost"


def http_settings(values: Mapping[str, object]) -> HttpSettings:
    """Return what the settings say of the HTTP server.

    Raises:
        ConfigError: What does not go together, or would leave the memory open to others; every
            problem with the flag and the setting that mend it.
    """
    host, port = cast("tuple[str, int]", values["MEMORY_HTTP"])
    auth_file = cast("str | None", values["MEMORY_HTTP_AUTH_FILE"])
    settings = HttpSettings(
        host=host,
        port=port,
        allowed_hosts=tuple(each.lower() for each in _texts(values, "MEMORY_HTTP_ALLOWED_HOSTS")),
        allowed_origins=tuple(
            each.lower().removesuffix("/") for each in _texts(values, "MEMORY_HTTP_ALLOWED_ORIGINS")
        ),
        public_url=_text(values, "MEMORY_HTTP_PUBLIC_URL"),
        auth_file=Path(auth_file) if auth_file else None,
        token=_text(values, "MEMORY_HTTP_TOKEN"),
        issuer=_text(values, "MEMORY_HTTP_ISSUER"),
        jwks=_text(values, "MEMORY_HTTP_JWKS"),
        audience=_text(values, "MEMORY_HTTP_AUDIENCE"),
        principal_claim=str(values["MEMORY_HTTP_PRINCIPAL_CLAIM"]),
        projects_claim=_text(values, "MEMORY_HTTP_PROJECTS_CLAIM"),
        rate=cast("int", values["MEMORY_HTTP_RATE"]),
        workers=cast("int", values["MEMORY_HTTP_WORKERS"]),
        warnings=tuple(_warnings(_text(values, "MEMORY_HTTP_PUBLIC_URL"))),
    )
    problems = [*_form_problems(settings), *_oauth_problems(settings), *_open_problems(settings)]
    if problems:
        first, count = problems[0].message, len(problems)
        raise ConfigError(
            first if count == 1 else f"{count} settings cannot be used; the first: {first}",
            problems=problems,
        )
    return settings


def _text(values: Mapping[str, object], name: str) -> str | None:
    return str(values[name]).strip() or None


def _texts(values: Mapping[str, object], name: str) -> Sequence[str]:
    return cast("Sequence[str]", values[name])


def _problem(setting: str, message: str, suggestion: str | None = None) -> Problem:
    return Problem(code=ConfigError.code, path=setting, message=message, suggestion=suggestion)


def _form_problems(settings: HttpSettings) -> Iterator[Problem]:
    for host in settings.allowed_hosts:
        if not _HOST.fullmatch(host):
            name = "MEMORY_HTTP_ALLOWED_HOSTS"
            yield _problem(name, f"{name} has {host!r}; allowed: a name, with or without a port")
    for origin in settings.allowed_origins:
        parts = _split(origin)
        if parts is None or f"{parts.scheme}://{parts.netloc}" != origin:
            name = "MEMORY_HTTP_ALLOWED_ORIGINS"
            yield _problem(
                name, f"{name} has {origin!r}; allowed: an origin such as https://app.example.com"
            )
    token = settings.token
    if token is not None and (len(token) < MIN_TOKEN_CHARS or not _TOKEN.fullmatch(token)):
        name = "MEMORY_HTTP_TOKEN"
        yield _problem(
            name,
            f"{name} must have at least {MIN_TOKEN_CHARS} visible ASCII characters",
            'Make one: python3 -c "import secrets; print(secrets.token_urlsafe(32))"',
        )
    for name, url in (
        ("MEMORY_HTTP_PUBLIC_URL", settings.public_url),
        ("MEMORY_HTTP_ISSUER", settings.issuer),
    ):
        parts = _split(url) if url else None
        if url and (parts is None or parts.query or parts.fragment or "@" in parts.netloc):
            yield _problem(name, f"{name} must be an http or https URL without query or fragment")


def _oauth_problems(settings: HttpSettings) -> Iterator[Problem]:
    if settings.issuer is None:
        if settings.jwks or settings.audience or settings.projects_claim:
            name = "MEMORY_HTTP_ISSUER"
            yield _problem(name, f"{name} is missing: OAuth tokens need the server that makes them")
        return
    if settings.jwks is None:
        name = "MEMORY_HTTP_JWKS"
        yield _problem(name, f"{name} is missing: tokens of the issuer are checked with its keys")
    if settings.public_url is None:
        name = "MEMORY_HTTP_PUBLIC_URL"
        yield _problem(
            name, f"{name} is missing: OAuth tokens are made for the URL that clients use"
        )
    for name, text in (
        ("MEMORY_HTTP_ISSUER", settings.issuer),
        ("MEMORY_HTTP_JWKS", settings.jwks),
    ):
        if text and text.startswith("http://") and not is_loopback(urlsplit(text).hostname or ""):
            yield _problem(name, f"{name} must be https: whoever sits between could forge tokens")


def _open_problems(settings: HttpSettings) -> Iterator[Problem]:
    """Yield why the server would stand open to those it should not."""
    foreign = [host for host in (*settings.allowed_hosts,) if not is_loopback(_bare(host))]
    public = _netloc(settings.public_url)
    if public and not is_loopback(_bare(public)):
        foreign.append(public)
    if settings.is_loopback and not foreign:
        return
    where = (
        f"{foreign[0]} is let in"
        if settings.is_loopback
        else f"{settings.host} can be reached by other machines"
    )
    if not settings.needs_token:
        yield _problem(
            "MEMORY_HTTP_AUTH_FILE",
            f"{where}, but no token is asked for: whoever finds the server could read and change "
            "the memory",
            "Pass --http-auth-file FILE, or set MEMORY_HTTP_TOKEN or MEMORY_HTTP_ISSUER; "
            "or listen on 127.0.0.1 alone.",
        )
    if not foreign and not settings.is_loopback:
        yield _problem(
            "MEMORY_HTTP_ALLOWED_HOSTS",
            f"{where}, but no host name is allowed: any web page could have a browser call it",
            "Pass --http-allowed-host NAME, the name by which clients call the server; "
            "or listen on 127.0.0.1 alone.",
        )


def _warnings(public_url: str | None) -> Iterable[str]:
    parts = urlsplit(public_url or "")
    if parts.scheme == "http" and not is_loopback(parts.hostname or ""):
        yield "the public URL is http: tokens and memory travel in the clear; put TLS before it"


def _split(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        has_port = parts.port is not None or not parts.netloc.endswith(":")
    except ValueError:
        return None
    is_web = parts.scheme in {"http", "https"} and bool(parts.hostname)
    return parts if is_web and has_port else None


def _netloc(url: str | None) -> str:
    parts = _split(url) if url else None
    return parts.netloc.lower() if parts else ""


def _bare(host: str) -> str:
    """Return a host without its port."""
    if host.startswith("["):
        return host.partition("]")[0].removeprefix("[")
    return host.partition(":")[0]
