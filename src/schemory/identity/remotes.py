"""Turns the many spellings of a git remote into one id that holds no credential (memory.md §2)."""

import re
from functools import cache

from schemory.model.project import GIT_PREFIX

_SCHEMES = frozenset({"ssh", "git+ssh", "ssh+git", "git", "http", "https", "git+http", "git+https"})
_PORTS_OF_WEB = {"http": "80", "git+http": "80", "https": "443", "git+https": "443"}
_CASELESS_HOSTS = frozenset({"github.com", "gitlab.com", "bitbucket.org"})
# Other names under which a host answers ssh, or the web.
_SAME_HOST = {
    "ssh.github.com": "github.com",
    "www.github.com": "github.com",
    "altssh.gitlab.com": "gitlab.com",
    "www.gitlab.com": "gitlab.com",
    "altssh.bitbucket.org": "bitbucket.org",
    "www.bitbucket.org": "bitbucket.org",
    "ssh.dev.azure.com": "dev.azure.com",
    "vs-ssh.visualstudio.com": "dev.azure.com",
}


def canonical_remote(url: str) -> str | None:
    """Return the project id of a remote's address, or None when it names no host.

    Scheme, user, token, query and the ssh port are left out, so that every way to reach one
    repository gives one id. Local paths and `file://` name no host.

    >>> {canonical_remote(u) for u in ("git@GitHub.com:Org/Api.git", "https://u:t@github.com/org/api")}
    {'git:github.com/org/api'}
    >>> canonical_remote("/srv/git/api.git"), canonical_remote("file:///srv/git/api.git")
    (None, None)
    """
    text = url.strip()
    if not text or any(char.isspace() or not char.isprintable() for char in text):
        return None
    found = _with_scheme().fullmatch(text)
    if found is None:
        return None if "://" in text else _scp_like(text)
    scheme = found["scheme"].lower()
    if scheme not in _SCHEMES:
        return None
    host = found["host"]
    port = found["port"] or ""
    if scheme in _PORTS_OF_WEB and port not in {"", _PORTS_OF_WEB[scheme]}:
        host = f"{host}:{port}"
    return _id(host, _percent_decoded(found["path"]))


@cache
def _with_scheme() -> re.Pattern[str]:
    return re.compile(
        r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?:[^/?#]*@)?"
        r"(?P<host>\[[0-9A-Fa-f:.%]+\]|[^/?#@:\[\]]+)(?::(?P<port>\d*))?(?P<path>/[^?#]*)(?:[?#].*)?"
    )


@cache
def _scp() -> re.Pattern[str]:
    """Return `user@host:path`; one letter before the colon would be a Windows drive."""
    return re.compile(
        r"(?:[^/:]*@)?(?P<host>\[[0-9A-Fa-f:.%]+\]|\[[^\[\]/:]+:\d+\]|[^/:@\[\]\\]{2,}):(?P<path>[^:].*)"
    )


def _scp_like(text: str) -> str | None:
    found = _scp().fullmatch(text)
    if found is None or "\\" in text or "@" in found["host"]:
        return None
    host = found["host"]
    if host.startswith("[") and host.count(":") == 1:
        host = host[1:].partition(":")[0]
    return _id(host, found["path"])


def _id(host: str, path: str) -> str | None:
    name, separator, port = host.lower().rpartition(":")
    if not separator or port.endswith("]"):
        name, separator, port = host.lower(), "", ""
    name = name.rstrip(".")
    segments = [segment for segment in path.split("/") if segment]
    if segments and segments[-1].endswith(".git"):
        segments[-1] = segments[-1].removesuffix(".git")
        segments = [segment for segment in segments if segment]
    name, segments = _one_host(name, segments)
    if not name or not segments or any(segment in {".", ".."} for segment in segments):
        return None
    whole = "/".join(segments)
    return (
        f"{GIT_PREFIX}{name}{separator}{port}/{whole.lower() if name in _CASELESS_HOSTS else whole}"
    )


def _one_host(name: str, segments: list[str]) -> tuple[str, list[str]]:
    """Return host and path as the web address has them, where ssh uses another name."""
    host = _SAME_HOST.get(name, name)
    if host == "dev.azure.com" and host != name and segments[:1] == ["v3"]:
        organisation, project, *rest = [*segments[1:], "", ""][:3]
        return host, [part for part in (organisation, project, "_git", *rest) if part]
    return host, segments


def _percent_decoded(path: str) -> str:
    if "%" not in path:
        return path
    from urllib.parse import unquote  # noqa: PLC0415 (few remotes need it)

    decoded = unquote(path, errors="strict") if path.isascii() else path
    return decoded if decoded.isprintable() else path
