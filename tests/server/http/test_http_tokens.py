"""Where tokens come from: a file read whole or refused, the environment, an OAuth server."""

import asyncio
import base64
import datetime as dt
import hmac
import http.server
import json
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from hypothesis import given
from hypothesis import strategies as st

from schemory.config.http import HttpSettings
from schemory.errors import ConfigError
from schemory.server.auth_file import one_token, read_tokens
from schemory.server.auth_jwt import KeySet, OAuthTokens
from schemory.server.principals import KeysUnavailableError, Scope

if TYPE_CHECKING:
    from tests.server.http.conftest import Served, Servers

GOOD = "a-good-token-of-at-least-32-characters"
URL = "https://memory.example.com/mcp"
ISSUER = "https://login.example.com"


def written(folder: Path, content: object, mode: int = 0o600) -> Path:
    path = folder / "tokens.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    path.chmod(mode)
    return path


def faults(path: Path) -> list[str]:
    with pytest.raises(ConfigError) as refused:
        read_tokens(path)
    return [problem.message.removeprefix(f"{path}: ") for problem in refused.value.problems]


@pytest.mark.covers("http.tokens.file")
def test_a_token_stands_for_its_principal_with_scopes_and_projects(tmp_path: Path) -> None:
    limited = {"token": GOOD + "2", "principal": "ana", "scopes": ["memory:read"]}
    tokens = read_tokens(
        written(
            tmp_path,
            [
                {"token": GOOD, "principal": "root", "scopes": ["memory:admin"]},
                {**limited, "projects": ["alpha", "beta"]},
            ],
        )
    )
    root, ana = tokens.find(GOOD), tokens.find(GOOD + "2")
    assert root
    assert ana
    assert (root.name, root.projects, root.scopes) == ("root", None, frozenset(Scope))
    assert (ana.name, ana.projects) == ("ana", ("alpha", "beta"))
    assert ana.scopes == {Scope.READ}
    assert tokens.find(GOOD[:-1]) is None
    assert tokens.find("") is None


@pytest.mark.covers("http.tokens.file")
@pytest.mark.skipif(os.name != "posix", reason="file modes are those of POSIX systems")
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o620, 0o601, 0o777])
def test_a_file_that_others_can_use_is_refused_with_the_command_that_mends_it(
    tmp_path: Path, mode: int
) -> None:
    path = written(tmp_path, [{"token": GOOD, "principal": "a", "scopes": []}], mode)
    with pytest.raises(ConfigError) as refused:
        read_tokens(path)
    assert f"mode {mode:04o}" in refused.value.message
    assert refused.value.problems[0].suggestion == f"Run: chmod 600 {path}"


@pytest.mark.covers("http.tokens.file")
def test_every_fault_of_the_file_is_told_at_once_with_its_place(tmp_path: Path) -> None:
    found = faults(
        written(
            tmp_path,
            [
                {"token": "short", "principal": "", "scopes": ["memory:all"]},
                {"token": GOOD, "principal": "a", "scopes": "memory:read", "projects": []},
                {"token": GOOD, "principal": "b", "scopes": [], "project": ["x"]},
                "text",
                {},
            ],
        )
    )
    places = [fault.partition(" ")[0] for fault in found]
    assert places == [
        *("$[0].token", "$[0].principal", "$[0].scopes[0]"),
        *("$[1].scopes", "$[1].projects"),
        "$[2]",
        "$[3]",
        *("$[4].token", "$[4].principal", "$[4].scopes"),
        "$[2].token",
    ]
    assert "did you mean projects?" in found[5]


@pytest.mark.covers("http.tokens.file")
@pytest.mark.parametrize(
    "content", ["", "{}", "[]", "[1,]", "null", '[{"token": "' + GOOD, "[" * 100_000]
)
def test_what_is_no_list_of_tokens_is_refused(tmp_path: Path, content: str) -> None:
    assert len(faults(written(tmp_path, content))) == 1


@pytest.mark.covers("http.tokens.file")
def test_a_missing_file_a_folder_and_a_pipe_are_refused(tmp_path: Path) -> None:
    assert "No such file" in faults(tmp_path / "none.json")[0]
    assert faults(tmp_path)
    if hasattr(os, "mkfifo"):
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe, 0o600)
        assert faults(pipe) == ["is no file"]


@pytest.mark.covers("http.auth.silence")
@given(
    st.recursive(
        st.none() | st.integers() | st.just(GOOD) | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["token", "principal", "scopes", "projects", GOOD, "tokne"]), inner
            )
        ),
        max_leaves=10,
    )
)
def test_no_fault_ever_shows_a_token(
    tmp_path_factory: pytest.TempPathFactory, content: object
) -> None:
    path = written(tmp_path_factory.getbasetemp(), content)
    try:
        read_tokens(path)
    except ConfigError as error:
        told = [error.message, *(str(problem) for problem in error.problems)]
        assert not any(GOOD in text for text in told)


@pytest.mark.covers("http.tokens.file")
def test_a_token_taken_out_of_the_file_stops_working_at_once(
    servers: "Servers", save_tokens: Callable[..., Path], tmp_path: Path
) -> None:
    path = save_tokens(tmp_path / "t.json", [("reader", "read"), ("writer", "write")])
    served = servers.start("--http-auth-file", str(path))
    assert served.ask("tools/list", who="writer").status == 200
    save_tokens(path, [("reader", "read")])
    assert served.ask("tools/list", who="writer").status == 401
    assert served.ask("tools/list", who="reader").status == 200
    path.write_text("[")
    assert served.ask("tools/list", who="reader").status == 401
    assert "no static token is accepted" in served.stderr()
    save_tokens(path, [("writer", "write")])
    assert served.ask("tools/list", who="writer").status == 200


@pytest.mark.covers("http.tokens.file")
def test_a_stream_ends_when_its_token_is_taken_out_of_the_file(
    servers: "Servers", save_tokens: Callable[..., Path], tmp_path: Path
) -> None:
    path = save_tokens(tmp_path / "t.json", [("reader", "read"), ("writer", "write")])
    served = servers.start("--http-auth-file", str(path))
    name = served.shake_hands(who="reader")
    with served.connect() as stream:
        stream.sendall(
            b"GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n"
            + f"Authorization: Bearer {served.token('reader')}\r\n".encode()
            + f"Mcp-Session-Id: {name}\r\nConnection: close\r\n\r\n".encode()
        )
        assert stream.recv(4096).startswith(b"HTTP/1.1 200")
        save_tokens(path, [("writer", "write")])
        stream.settimeout(40)
        while stream.recv(4096):
            pass  # a sign of life now and then, and then the end


@pytest.mark.covers("http.tokens.environment")
def test_the_one_token_of_the_environment_opens_everything(servers: "Servers") -> None:
    served = servers.start(MEMORY_HTTP_TOKEN=GOOD)
    assert served.ask("tools/list").status == 401
    assert served.ask("tools/list", who=GOOD).status == 200
    new = {"project_id": "p", "scope": "s", "topic": "t", "source_type": "decision"}
    added = served.result("memory_add_entry", {**new, "content": "x"}, who=GOOD)
    gone = {"project_id": "p", "entry_id": added["entry_id"], "confirm": True}
    assert served.result("memory_delete_entry", gone, who=GOOD)["ok"]
    assert GOOD not in served.stderr()


@pytest.mark.covers("http.tokens.environment")
def test_the_one_token_is_compared_whole() -> None:
    tokens = one_token(GOOD)
    assert tokens.find(GOOD)
    for wrong in ("", GOOD[:-1], GOOD + "x", GOOD.upper(), "\ud800" + GOOD):
        assert tokens.find(wrong) is None


# Tokens of an OAuth server.

RSA = rsa.generate_private_key(public_exponent=65537, key_size=2048)
OTHER_RSA = rsa.generate_private_key(public_exponent=65537, key_size=2048)
EC = ec.generate_private_key(ec.SECP256R1())


def key_set() -> dict[str, Any]:
    rsa_key = jwt.algorithms.RSAAlgorithm.to_jwk(RSA.public_key(), as_dict=True)
    ec_key = jwt.algorithms.ECAlgorithm.to_jwk(EC.public_key(), as_dict=True)
    return {
        "keys": [
            {**rsa_key, "kid": "one", "use": "sig"},
            {**ec_key, "kid": "two"},
            {"kty": "oct", "kid": "secret", "k": "AAAA"},
            {"kty": "RSA", "kid": "broken"},
        ]
    }


def signed(
    key: Any = RSA, *, kid: str | None = "one", algorithm: str = "RS256", **claims: Any
) -> str:
    now = dt.datetime.now(dt.UTC)
    base = {
        "iss": ISSUER,
        "aud": URL,
        "sub": "ana",
        "scope": "openid memory:write",
        "iat": now,
        "exp": now + dt.timedelta(minutes=5),
    }
    full = {name: value for name, value in {**base, **claims}.items() if value is not None}
    return jwt.encode(full, key, algorithm, headers={"kid": kid} if kid else {})


def encoded(head: Mapping[str, str]) -> str:
    return base64.urlsafe_b64encode(json.dumps(head).encode()).rstrip(b"=").decode()


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    path = tmp_path / "keys.json"
    path.write_text(json.dumps(key_set()))
    return path


@pytest.fixture
def oauth(key_file: Path) -> OAuthTokens:
    return OAuthTokens(
        HttpSettings(public_url=URL, issuer=ISSUER, jwks=str(key_file), projects_claim="projects"),
        KeySet(str(key_file)),
    )


@pytest.mark.covers("http.tokens.oauth")
def test_a_good_token_gives_principal_scopes_and_projects(oauth: OAuthTokens) -> None:
    found = oauth.find(signed(projects=["alpha"]))
    assert found
    assert (found.name, found.projects, found.can_step_up) == ("ana", ("alpha",), True)
    assert found.scopes == {Scope.READ, Scope.WRITE}
    by_list = oauth.find(signed(scope=None, scp=["memory:read"]))
    assert by_list
    assert by_list.scopes == {Scope.READ}
    assert oauth.find(signed(EC, kid="two", algorithm="ES256"))
    assert oauth.find(signed(aud=["https://else.example.com", URL + "/"]))


@pytest.mark.covers("http.tokens.oauth")
def test_a_token_without_the_claim_of_projects_may_use_none(oauth: OAuthTokens) -> None:
    for claims in ({}, {"projects": 7}, {"projects": [1, ""]}):
        found = oauth.find(signed(**claims))
        assert found
        assert found.projects == ()


@pytest.mark.covers("http.tokens.oauth")
@pytest.mark.parametrize(
    "claims",
    [
        {"aud": "https://else.example.com/mcp"},
        {"aud": "https://memory.example.com"},
        {"aud": None},
        {"aud": []},
        {"iss": "https://evil.example.com"},
        {"iss": ISSUER + "/"},
        {"iss": None},
        {"exp": None},
        {"exp": dt.datetime(2020, 1, 1, tzinfo=dt.UTC)},
        {"nbf": dt.datetime(2099, 1, 1, tzinfo=dt.UTC)},
        {"sub": None},
        {"sub": " "},
        {"sub": "a\nb"},
        {"sub": "x" * 300},
    ],
)
def test_a_token_for_another_server_or_time_is_refused(
    oauth: OAuthTokens, claims: Mapping[str, Any]
) -> None:
    assert oauth.find(signed(**claims)) is None


@pytest.mark.covers("http.tokens.oauth")
def test_a_token_that_is_not_signed_by_the_issuer_is_refused(oauth: OAuthTokens) -> None:
    good = signed()
    head, body, signature = good.split(".")
    public = jwt.algorithms.RSAAlgorithm.to_jwk(RSA.public_key())
    confused = encoded({"alg": "HS256", "kid": "one"}) + "." + body
    mac = hmac.digest(public.encode(), confused.encode(), "sha256")
    forged = [
        signed(OTHER_RSA),
        signed(kid="none such"),
        signed(kid="secret"),
        signed(kid=None),  # the set has several keys, so which is meant is not clear
        f"{head}.{body}.",
        f"{head}.{body}.{signature[:-4]}AAAA",
        encoded({"alg": "none", "kid": "one"}) + f".{body}.",
        f"{confused}.{base64.urlsafe_b64encode(mac).rstrip(b'=').decode()}",
        "a.b.c",
        "",
        "x" * 100_000,
    ]
    assert oauth.find(good)
    assert [token for token in forged if oauth.find(token)] == []


class Clock:
    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def issuer() -> Iterator[tuple[str, list[int], dict[str, Any]]]:
    """A web server that publishes keys: its URL, how often it was asked, and what it says."""
    asked, said = [0], {"keys": key_set()["keys"][1:2], "status": 200}

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked[0] += 1
            self.send_response(said["status"])
            self.send_header("Location", "/elsewhere")
            self.end_headers()
            self.wfile.write(json.dumps({"keys": said["keys"]}).encode())

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/jwks", asked, said
    server.shutdown()
    server.server_close()


@pytest.mark.covers("http.tokens.keys")
def test_keys_are_asked_for_again_when_one_is_unknown_but_not_for_each_forged_token(
    issuer: tuple[str, list[int], dict[str, Any]],
) -> None:
    url, asked, said = issuer
    now = Clock()
    keys = KeySet(url, now)
    assert keys.key("two")
    for number in range(100):
        assert keys.key(f"forged {number}") is None
    assert asked[0] == 1
    said["keys"] = key_set()["keys"]  # the issuer has a new key
    now.seconds += 31
    assert keys.key("one")
    assert asked[0] == 2
    now.seconds += 601
    said["status"] = 500
    assert keys.key("one")  # what is known goes on while the issuer is away
    assert asked[0] == 3


@pytest.mark.covers("http.tokens.keys")
@pytest.mark.parametrize("status", [302, 404, 500])
def test_without_any_key_nobody_can_tell(
    issuer: tuple[str, list[int], dict[str, Any]], status: int
) -> None:
    url, _, said = issuer
    said["status"] = status
    with pytest.raises(KeysUnavailableError):
        KeySet(url).key("two")


@pytest.mark.covers("http.tokens.keys")
@pytest.mark.parametrize("content", ["", "{}", "[]", '{"keys": []}', '{"keys": [{"kty": "oct"}]}'])
def test_a_key_file_that_holds_none_is_told_at_the_start(tmp_path: Path, content: str) -> None:
    path = tmp_path / "keys.json"
    path.write_text(content)
    with pytest.raises(ConfigError, match="MEMORY_HTTP_JWKS"):
        KeySet(str(path)).load()


@pytest.mark.covers("http.tokens.oauth", "http.auth.list", "http.tokens.stepup")
def test_a_real_server_takes_the_issuers_tokens_and_asks_for_more_scope(
    servers: "Servers", key_file: Path
) -> None:
    served = servers.start(
        *("--http-public-url", URL, "--http-issuer", ISSUER, "--http-jwks", str(key_file))
    )
    metadata = json.loads(served.send("GET", "/.well-known/oauth-protected-resource").text)
    assert metadata["resource"] == URL
    assert metadata["authorization_servers"] == [ISSUER]
    refused = served.ask("tools/list").headers["www-authenticate"]
    place = "https://memory.example.com/.well-known/oauth-protected-resource/mcp"
    assert f'resource_metadata="{place}"' in refused

    reader = signed(scope="memory:read", sub="rea")
    assert served.ask("tools/list", who=signed(aud="https://else.example.com/mcp")).status == 401

    async def names() -> set[str]:
        async with served.client("auto", reader) as client:
            return {tool.name for tool in (await client.list_tools()).tools}

    # It can get more scope, so it sees what that would open.
    assert "memory_delete_entry" in asyncio.run(names())
    new = {"project_id": "p", "scope": "s", "topic": "t", "source_type": "decision"}
    asked = {**new, "content": "x"}
    answer = served.call("memory_add_entry", asked, who=reader)
    assert answer.status == 403
    assert 'scope="memory:read memory:write"' in answer.headers["www-authenticate"]
    added = served.result("memory_add_entry", asked, who=signed(sub="rea"))
    read = {"project_id": "p", "entry_id": added["entry_id"]}
    assert served.result("memory_read_entry", read, who=reader)["entry"]["created_by"] == "rea"
    assert reader not in served.stderr()


@pytest.mark.covers("http.tokens.issuers")
def test_the_name_of_a_static_token_is_not_that_of_the_issuers(
    servers: "Servers", save_tokens: Callable[..., Path], key_file: Path
) -> None:
    served = servers.start(
        *("--http-public-url", URL, "--http-issuer", ISSUER, "--http-jwks", str(key_file)),
        *("--http-auth-file", str(save_tokens(key_file.with_name("t.json"), [("ana", "write")]))),
    )
    theirs, ours = signed(sub="ana"), "ana"
    session = served.shake_hands(who=ours)
    assert served.ask("tools/list", who=ours, Mcp_Session_Id=session).status == 200
    assert served.ask("tools/list", who=theirs, Mcp_Session_Id=session).status == 404


@pytest.mark.covers("http.tokens.keys")
def test_while_keys_cannot_be_had_the_server_says_so(servers: "Servers") -> None:
    served: Served = servers.start(
        *("--http-public-url", URL, "--http-issuer", ISSUER),
        *("--http-jwks", "http://127.0.0.1:9/jwks"),
    )
    answer = served.ask("tools/list", who=signed())
    assert answer.status == 503
    assert answer.headers["retry-after"]
    assert served.send("GET", "/healthz").status == 200
