"""What the settings say of the HTTP server; nothing unsafe can be started by mistake."""

from pathlib import Path

import pytest

from schemory.config import load_settings
from schemory.config.http import HttpSettings, http_settings
from schemory.errors import ConfigError

TOKEN = "t" * 40
EVERYWHERE = "0.0.0.0"  # noqa: S104 (asked for, not bound)
HOSTS, ORIGINS = "MEMORY_HTTP_ALLOWED_HOSTS", "MEMORY_HTTP_ALLOWED_ORIGINS"
AUTH, URL = "MEMORY_HTTP_AUTH_FILE", "MEMORY_HTTP_PUBLIC_URL"


def settings(folder: Path, **environ: str) -> HttpSettings:
    found = load_settings({}, environ=environ, cwd=folder, home=folder)
    return http_settings(found.http)


def problems(folder: Path, **environ: str) -> list[str]:
    with pytest.raises(ConfigError) as refused:
        settings(folder, **environ)
    return [problem.path for problem in refused.value.problems]


@pytest.mark.covers("config.http.listen")
@pytest.mark.parametrize(
    ("given", "host", "port"),
    [
        ("127.0.0.1:8848", "127.0.0.1", 8848),
        ("8848", "127.0.0.1", 8848),
        (":0", "127.0.0.1", 0),
        ("localhost:1", "localhost", 1),
        ("[::1]:65535", "::1", 65535),
    ],
)
def test_an_address_is_a_host_and_a_port(tmp_path: Path, given: str, host: str, port: int) -> None:
    found = settings(tmp_path, MEMORY_HTTP=given)
    assert (found.host, found.port) == (host, port)


@pytest.mark.covers("config.http.listen")
@pytest.mark.parametrize("given", ["localhost", "a:b", "1.2.3.4:65536", "::1:80", "[::1]", "a:-1"])
def test_what_is_no_address_is_refused(tmp_path: Path, given: str) -> None:
    with pytest.raises(ConfigError, match="HOST:PORT, for example"):
        load_settings({}, environ={"MEMORY_HTTP": given}, cwd=tmp_path, home=tmp_path)


@pytest.mark.covers("config.http.open")
@pytest.mark.parametrize("host", [EVERYWHERE, "[::]", "192.168.1.5", "myhost"])
def test_a_bind_beyond_this_machine_needs_tokens_and_names(tmp_path: Path, host: str) -> None:
    bind = {"MEMORY_HTTP": f"{host}:8848"}
    token = {"MEMORY_HTTP_TOKEN": TOKEN}
    names = {HOSTS: "memory.example.com"}
    assert problems(tmp_path, **bind) == [AUTH, HOSTS]
    assert problems(tmp_path, **bind, **token) == [HOSTS]
    assert problems(tmp_path, **bind, **names) == [AUTH]
    assert settings(tmp_path, **bind, **token, **names).needs_token
    named = settings(tmp_path, **bind, **token, MEMORY_HTTP_PUBLIC_URL="https://m.example.com/mcp")
    assert named.needs_token
    # Allowing only this machine's own names says nothing about who else may come in.
    assert problems(tmp_path, **bind, **token, **{HOSTS: "localhost"}) == [HOSTS]


@pytest.mark.covers("config.http.open")
@pytest.mark.parametrize(
    "more", [{HOSTS: "memory.example.com"}, {URL: "https://memory.example.com/mcp"}]
)
def test_a_proxy_on_this_machine_must_not_publish_a_server_without_tokens(
    tmp_path: Path, more: dict[str, str]
) -> None:
    assert problems(tmp_path, MEMORY_HTTP="127.0.0.1:8848", **more) == [AUTH]
    guarded = settings(tmp_path, MEMORY_HTTP="127.0.0.1:8848", MEMORY_HTTP_TOKEN=TOKEN, **more)
    assert guarded.needs_token


@pytest.mark.covers("config.http.open")
def test_the_refusal_names_reason_flag_and_way_out(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as refused:
        settings(tmp_path, MEMORY_HTTP=f"{EVERYWHERE}:8848")
    first, second = refused.value.problems
    assert "can be reached by other machines, but no token is asked for" in first.message
    assert "--http-auth-file" in str(first.suggestion)
    assert "any web page could have a browser call it" in second.message
    assert "--http-allowed-host" in str(second.suggestion)


@pytest.mark.covers("config.http.hosts")
def test_this_machines_names_count_only_where_it_listens(tmp_path: Path) -> None:
    own = ("127.0.0.1", "localhost", "[::1]")
    assert settings(tmp_path, MEMORY_HTTP="8848").hosts == own
    more = {"MEMORY_HTTP_TOKEN": TOKEN, HOSTS: "Memory.Example.com:443, b.example.com"}
    everywhere = settings(tmp_path, MEMORY_HTTP=f"{EVERYWHERE}:8848", **more)
    assert everywhere.hosts == (*own, "memory.example.com:443", "b.example.com")
    one = settings(tmp_path, MEMORY_HTTP="10.0.0.1:8848", **more)
    assert one.hosts == ("memory.example.com:443", "b.example.com")


@pytest.mark.covers("config.http.hosts")
@pytest.mark.parametrize("host", ["*", "https://a.example.com", "a b", "a:port", "*.example.com"])
def test_a_host_is_a_plain_name(tmp_path: Path, host: str) -> None:
    found = problems(tmp_path, MEMORY_HTTP="1", MEMORY_HTTP_TOKEN=TOKEN, **{HOSTS: host})
    assert HOSTS in found


@pytest.mark.covers("config.http.hosts")
@pytest.mark.parametrize("origin", ["*", "a.example.com", "https://a.example.com/page", "null"])
def test_an_origin_is_scheme_and_host(tmp_path: Path, origin: str) -> None:
    assert problems(tmp_path, MEMORY_HTTP="1", **{ORIGINS: origin}) == [ORIGINS]
    assert settings(tmp_path, MEMORY_HTTP="1", **{ORIGINS: "https://A.example.com/"}).origins[
        -1:
    ] == ("https://a.example.com",)


@pytest.mark.covers("config.http.token")
def test_the_token_stands_in_the_environment_alone_and_is_never_shown(tmp_path: Path) -> None:
    config = tmp_path / "memory.config.json"
    config.write_text(f'{{"MEMORY_HTTP_TOKEN": "{TOKEN}", "MEMORY_HTTP": "8848"}}')
    with pytest.raises(ConfigError) as refused:
        load_settings({}, environ={"MEMORY_CONFIG": str(config)}, cwd=tmp_path, home=tmp_path)
    assert "set it in the environment" in refused.value.message
    assert TOKEN not in str(refused.value.problems)
    for bad in ("short-one", "has a blank in the middle of its length", "ü" * 40):
        with pytest.raises(ConfigError) as refused:
            settings(tmp_path, MEMORY_HTTP="8848", MEMORY_HTTP_TOKEN=bad)
        assert bad not in str(refused.value.problems)
    assert TOKEN not in repr(settings(tmp_path, MEMORY_HTTP="8848", MEMORY_HTTP_TOKEN=TOKEN))


@pytest.mark.covers("config.http.oauth")
def test_oauth_needs_issuer_keys_and_address_together(tmp_path: Path) -> None:
    issuer = {"MEMORY_HTTP_ISSUER": "https://login.example.com"}
    keys = {"MEMORY_HTTP_JWKS": "https://login.example.com/jwks"}
    url = {URL: "https://memory.example.com/mcp"}
    assert problems(tmp_path, MEMORY_HTTP="1", **issuer) == ["MEMORY_HTTP_JWKS", URL]
    assert problems(tmp_path, MEMORY_HTTP="1", **keys) == ["MEMORY_HTTP_ISSUER"]
    found = settings(tmp_path, MEMORY_HTTP="1", **issuer, **keys, **url)
    assert found.needs_token
    plain = {"MEMORY_HTTP_JWKS": "http://login.example.com/jwks"}
    assert problems(tmp_path, MEMORY_HTTP="1", **issuer, **plain, **url) == ["MEMORY_HTTP_JWKS"]


@pytest.mark.covers("config.http.oauth")
@pytest.mark.parametrize(
    "url", ["memory.example.com", "ftp://a/b", "https://a/#x", "https://a?b=c"]
)
def test_a_public_address_is_a_plain_web_address(tmp_path: Path, url: str) -> None:
    assert URL in problems(tmp_path, MEMORY_HTTP="1", MEMORY_HTTP_TOKEN=TOKEN, **{URL: url})


@pytest.mark.covers("config.http.open")
def test_a_public_address_without_tls_is_warned_of(tmp_path: Path) -> None:
    more = {"MEMORY_HTTP": "1", "MEMORY_HTTP_TOKEN": TOKEN}
    assert settings(tmp_path, **more, **{URL: "http://memory.example.com/mcp"}).warnings
    assert not settings(tmp_path, **more, **{URL: "https://memory.example.com/mcp"}).warnings


@pytest.mark.covers("config.http.listen")
def test_without_an_address_nothing_of_http_is_read(tmp_path: Path) -> None:
    environ = {"MEMORY_HTTP_RATE": "many", "MEMORY_HTTP_TOKEN": "short"}
    assert load_settings({}, environ=environ, cwd=tmp_path, home=tmp_path).http == {}
