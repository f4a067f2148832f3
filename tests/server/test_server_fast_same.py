"""The fast adapter and the SDK's answer alike: golden conversations and bad input, on both.

Where they may differ is written down in `docs/explanation/deviations.md` ("Two adapters").
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

if TYPE_CHECKING:
    from tests.server.conftest import Pair, PairMaker

GOLDEN = Path(__file__).parent.parent / "golden"
TALKS = sorted(file.stem for file in GOLDEN.glob("talk-*.json"))
LISTS: dict[str, list[str]] = {
    "all-toolsets": ["--toolset", "graph,memory,graph_query,admin", "--allow-cross-project"],
    "rpg-compact": ["--pack", "rpg", "--tools", "compact"],
}
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "pytest", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
ERAS = ["2024-11-05", "2025-11-25", "2026-07-28"]
MODERN = "2026-07-28"


def flags(settings: dict[str, Any]) -> Iterator[str]:
    for pack in settings.get("packs", ()):
        yield from ("--pack", pack)
    if "toolsets" in settings:
        yield from ("--toolset", ",".join(settings["toolsets"]))
    if "profile" in settings:
        yield from ("--tools", settings["profile"])
    if "response_budget" in settings:
        yield from ("--response-budget", str(settings["response_budget"]))


@pytest.mark.covers("server.fast.same")
@pytest.mark.parametrize(
    ("name", "era"),
    [(name, era) for i, name in enumerate(TALKS) for era in (ERAS[i % 2], MODERN)],
    ids=str,
)
def test_golden_conversations_go_alike_on_both_adapters(
    pair_of: "PairMaker", name: str, era: str
) -> None:
    talk = json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))
    pair = pair_of(era, *flags(talk["settings"]))
    for step in talk["steps"]:
        result = pair.call(step)
        # Either form alone is enough: the graph's text is the same object.
        assert json.loads(result["content"][0]["text"]) == result["structuredContent"]


@pytest.mark.covers("server.fast.same")
@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("name", LISTS)
def test_what_a_server_says_of_itself_is_the_same_on_both_adapters(
    pair_of: "PairMaker", name: str, era: str
) -> None:
    pair = pair_of(era, *LISTS[name])
    if era == MODERN:
        pair.ask("server/discover")
    else:
        hello = {"protocolVersion": era, "capabilities": {}}
        pair.ask("initialize", **hello, clientInfo={"name": "again", "version": "2"})
    for method in (
        "tools/list",
        "resources/list",
        "resources/templates/list",
        "prompts/list",
        "no/such",
        "subscriptions/listen",
        "server/discover",
        "logging/setLevel",
        "completion/complete",
        "resources/read",
        "prompts/get",
    ):
        if method != "subscriptions/listen":
            told = pair.send(pair.line(7, method))
            assert (method, told["fast"]) == (method, told["sdk"])


def bad_lines(pair: "Pair") -> Iterator[bytes]:
    """Malformed, unusual and huge lines, all of which both adapters must treat alike."""
    yield from RAW
    for params in BAD_PARAMS:
        for method in ("tools/call", "tools/list", "ping", "subscriptions/listen"):
            yield pair.line(7, method, **params)
    for meta in BAD_META:
        yield json.dumps(
            {"jsonrpc": "2.0", "id": 8, "method": "tools/list", "params": {"_meta": meta}}
        ).encode()
    nodes = [{"name": "huge", "nodeType": "t", "metadata": ["k: " + "v" * 3_000_000]}]
    yield pair.line(9, "tools/call", name="add_nodes", arguments={"nodes": nodes})
    deep = b"[" * 185 + b"]" * 185
    yield pair.line(10, "tools/call", name="add_nodes", arguments={"nodes": "D"}).replace(
        b'"D"', deep
    )


BESIDE_TOOLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("resources/list", {"cursor": "x"}),
    ("resources/list", {"cursor": 7}),
    ("resources/templates/list", {"cursor": "x"}),
    ("resources/read", {"uri": "memory://graph/node/Gandalf"}),
    ("resources/read", {"uri": "memory://graph/node/nobody"}),
    ("resources/read", {"uri": "memory://graph/schema/npc"}),
    ("resources/read", {"uri": "memory://nowhere"}),
    ("resources/read", {"uri": "file:///etc/passwd"}),
    ("resources/read", {"uri": ""}),
    ("resources/read", {"uri": 7}),
    ("resources/subscribe", {"uri": "memory://graph/node/Gandalf"}),
    ("resources/subscribe", {"uri": "memory://nowhere"}),
    ("resources/subscribe", {}),
    ("resources/unsubscribe", {"uri": "memory://graph/node/Gandalf"}),
    ("resources/unsubscribe", {"uri": "memory://graph/node/never"}),
    ("prompts/list", {"cursor": "x"}),
    ("prompts/get", {"name": "memory_handoff"}),
    ("prompts/get", {"name": "memory_handoff", "arguments": {"since": "24h"}}),
    ("prompts/get", {"name": "memory_handoff", "arguments": {"since": 1}}),
    ("prompts/get", {"name": "memory_handoff", "arguments": {"no_such": "x"}}),
    ("prompts/get", {"name": "no_such"}),
    ("prompts/get", {"name": 7}),
    (
        "completion/complete",
        {
            "ref": {"type": "ref/resource", "uri": "memory://graph/node/{name}"},
            "argument": {"name": "name", "value": "Gan"},
        },
    ),
    (
        "completion/complete",
        {
            "ref": {"type": "ref/prompt", "name": "memory_handoff"},
            "argument": {"name": "since", "value": ""},
        },
    ),
    ("completion/complete", {"ref": {}, "argument": {"name": "x", "value": ""}}),
    ("completion/complete", {"ref": {"type": "ref/no"}, "argument": {"name": "x", "value": ""}}),
    ("completion/complete", {"ref": {"type": "ref/prompt", "name": "x"}, "argument": {}}),
    ("completion/complete", {"ref": 1, "argument": 2}),
    ("logging/setLevel", {"level": "debug"}),
    ("logging/setLevel", {"level": "loud"}),
    ("sampling/createMessage", {}),
    ("tasks/list", {}),
)


@pytest.mark.covers("server.fast.same")
@pytest.mark.parametrize("era", ERAS)
def test_what_is_served_beside_tools_is_the_same_on_both_adapters(
    pair_of: "PairMaker", era: str
) -> None:
    pair = pair_of(era, "--pack", "rpg")
    gandalf = {"name": "Gandalf", "role": "Wizard", "status": "Active"}
    pair.ask("tools/call", name="add_npc", arguments={"npc": gandalf})
    differing: list[tuple[str, dict[str, Any], dict[str, list[str]]]] = []
    for method, params in BESIDE_TOOLS:
        told = pair.send(pair.line(7, method, **params))
        if told["fast"] != told["sdk"]:
            differing.append((method, params, told))
    assert differing == []


RAW = (
    b"{not json",
    b"\xff\xfe",
    b"\xef\xbb\xbf{}",
    "é".encode("utf-16"),
    b'{"jsonrpc":"2.0","id":1,"method":"ping"} trailing',
    b"   ",
    b"\x0b",
    b"17",
    b"null",
    b'"text"',
    b"[]",
    b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]',
    b"{}",
    b'{"jsonrpc":"2.0"}',
    b'{"jsonrpc":"2.0","id":9}',
    b'{"jsonrpc":"2.0","id":9,"method":7}',
    b'{"jsonrpc":"1.0","id":"x","method":"ping"}',
    b'{"jsonrpc":2.0,"id":"x","method":"ping"}',
    b'{"jsonrpc":"2.0","id":null,"method":"ping"}',
    b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}',
    b'{"jsonrpc":"2.0","id":true,"method":"ping"}',
    b'{"jsonrpc":"2.0","id":[],"method":"ping"}',
    b'{"jsonrpc":"2.0","id":9,"method":"ping","params":[1]}',
    b'{"jsonrpc":"2.0","id":9,"method":"ping","params":null}',
    b'{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}',
    b'{"jsonrpc":"2.0","id":9,"method":"pi\\ud800ng"}',
    b'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"\\udc00"}}',
    b'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"read_graph","x":NaN}}',
    b'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"read_graph","x":-Infinity}}',
    b'{"jsonrpc":"2.0","id":9,"method":"' + b"x" * 100_000 + b'"}',
    b'{"jsonrpc":"2.0","id":9,"id":10,"method":"no/such"}',
    b'{"jsonrpc":"2.0","id":-1,"method":"no/such"}',
    b'{"jsonrpc":"2.0","id":123456789012345678901234567890,"method":"no/such"}',
    b'{"jsonrpc":"2.0","id":"","method":""}',
    b'{"jsonrpc":"2.0","id":"9","method":"rpc.discover","extra":1}',
    b'{"jsonrpc":"2.0","id":9,"result":{}}',
    b'{"jsonrpc":"2.0","id":9,"result":7}',
    b'{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m"}}',
    b'{"jsonrpc":"2.0","id":9,"error":{}}',
    b'{"jsonrpc":"2.0","method":"notifications/cancelled"}',
    b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":[]}}',
    b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":12345}}',
    b'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1}}',
    b'{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}',
    b'{"jsonrpc":"2.0","method":"no/such/notification","params":{}}',
    b"[" * 100_000,
    b'{"a":' * 100_000,
    b"9" * 5_000,
)
BAD_PARAMS: tuple[dict[str, Any], ...] = (
    {},
    {"name": 7},
    {"name": None},
    {"name": []},
    {"name": "add_nodes", "arguments": None},
    {"name": "add_nodes", "arguments": [1]},
    {"name": "add_nodes", "arguments": "{}"},
    {"name": "add_nodes", "arguments": 1e300},
    {"name": "add_nodes", "task": 7},
    {"name": "", "arguments": {}},
    {"cursor": "x"},
    {"cursor": 7},
    {"cursor": None},
    {"notifications": 7},
)
BAD_META: tuple[Any, ...] = (
    7,
    None,
    [],
    {},
    {"progressToken": []},
    {"progressToken": {}},
    {"progressToken": "t"},
    {"io.modelcontextprotocol/protocolVersion": "2026-07-28"},
    {"io.modelcontextprotocol/clientCapabilities": {}},
    {**ENVELOPE, "io.modelcontextprotocol/protocolVersion": 7},
    {**ENVELOPE, "io.modelcontextprotocol/protocolVersion": None},
    {**ENVELOPE, "io.modelcontextprotocol/protocolVersion": "2031-01-01"},
    {**ENVELOPE, "io.modelcontextprotocol/protocolVersion": "2025-11-25"},
    {**ENVELOPE, "io.modelcontextprotocol/clientCapabilities": 7},
    {**ENVELOPE, "io.modelcontextprotocol/clientCapabilities": None},
    {**ENVELOPE, "io.modelcontextprotocol/clientCapabilities": {"sampling": 7}},
    {**ENVELOPE, "io.modelcontextprotocol/clientInfo": 7},
    {**ENVELOPE, "io.modelcontextprotocol/clientInfo": None},
    {**ENVELOPE, "io.modelcontextprotocol/clientInfo": {"name": "only"}},
    {**ENVELOPE, "progressToken": []},
    {**ENVELOPE, "progressToken": 5},
)


@pytest.mark.covers("server.fast.same")
@pytest.mark.parametrize("era", ["2025-11-25", MODERN])
def test_bad_lines_are_judged_alike_by_both_adapters(pair_of: "PairMaker", era: str) -> None:
    pair = pair_of(era)
    if era == MODERN:
        pair.ask("server/discover")
    differing: list[tuple[bytes, dict[str, list[str]]]] = []
    for line in bad_lines(pair):
        told = pair.send(line)
        if told["fast"] != told["sdk"]:
            differing.append((line[:300], told))
    assert differing == []


@pytest.mark.covers("server.fast.same")
@pytest.mark.parametrize(
    "line",
    [
        RAW[0],
        RAW[12],
        *(
            json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
            for method, params in (
                ("ping", {}),
                ("tools/list", {}),
                ("tools/call", {"name": "read_graph"}),
                ("server/discover", {}),
                ("no/such", {}),
                ("no/such", {"_meta": ENVELOPE}),
                ("initialize", {}),
                ("initialize", {"protocolVersion": 7, "capabilities": {}, "clientInfo": {}}),
                (
                    "initialize",
                    {"protocolVersion": "x", "capabilities": [], "clientInfo": {"name": "a"}},
                ),
                ("initialize", {"_meta": ENVELOPE}),
            )
        ),
    ],
    ids=lambda line: line.decode()[:90],
)
def test_a_first_line_decides_alike_on_both_adapters(pair_of: "PairMaker", line: bytes) -> None:
    told: dict[str, list[Any]] = {}
    second = b'{"jsonrpc":"2.0","id":2,"method":"tools/list"}\n'
    pair = pair_of("")
    for name, peer in pair.peers.items():
        peer.send_raw(line + b"\n")
        first = peer.receive()
        peer.send_raw(second)
        told[name] = [pair.judged(first), pair.judged(peer.answer(2))]
    assert told["fast"] == told["sdk"]


SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)
TOOLS = st.sampled_from(["add_nodes", "add_edges", "search_nodes", "open_nodes", "add_npc", "x"])
ARGUMENTS = st.fixed_dictionaries(
    {}, optional=dict.fromkeys(("nodes", "edges", "npc", "query", "names", "limit"), VALUES)
)
CALLS = st.fixed_dictionaries(
    {
        "jsonrpc": st.just("2.0"),
        "id": st.integers(10**6, 10**7) | st.text(min_size=1, max_size=5),
        "method": st.sampled_from(["tools/call", "tools/list", "ping", "resources/list"]),
        "params": st.fixed_dictionaries({"name": TOOLS, "arguments": ARGUMENTS | VALUES}),
    }
)
MESSAGES = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0") | VALUES,
        "id": VALUES,
        "method": st.sampled_from(["ping", "tools/list", "notifications/cancelled"]) | VALUES,
        "params": VALUES,
    },
)
LINES = (
    st.binary(max_size=60).map(lambda data: data.replace(b"\n", b" "))
    | VALUES.map(lambda value: json.dumps(value).encode())
    | MESSAGES.map(lambda value: json.dumps(value).encode())
    | CALLS.map(lambda value: json.dumps(value).encode())
    | st.lists(CALLS | MESSAGES | VALUES, max_size=5).map(lambda many: json.dumps(many).encode())
)


@pytest.mark.covers("server.fast.same")
@pytest.mark.parametrize("era", ["2025-03-26", "2025-06-18", MODERN])
def test_any_lines_are_judged_alike_by_both_adapters(pair_of: "PairMaker", era: str) -> None:
    pair = pair_of(era, "--pack", "rpg")
    if era == MODERN:
        pair.ask("server/discover")

    @given(st.lists(LINES, min_size=1, max_size=6))
    def send(lines: list[bytes]) -> None:
        told = pair.send(b"\n".join(lines))
        assert told["fast"] == told["sdk"]

    send()


@pytest.mark.covers("server.fast.same")
def test_an_id_used_again_before_its_answer_is_answered_twice(
    pair_of: "PairMaker",
) -> None:
    pair = pair_of("2025-06-18")
    call = {"name": "add_nodes", "arguments": {}}
    line = json.dumps({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": call}).encode()
    told = pair.send(line + b"\n" + line)
    assert told["fast"] == told["sdk"]
    assert [json.loads(each)["id"] for each in told["fast"]] == [7, 7]


@pytest.mark.covers("server.fast.same")
def test_an_id_used_again_in_a_batch_is_answered_alone_and_in_the_batch(
    pair_of: "PairMaker",
) -> None:
    pair = pair_of("2025-03-26")
    alone = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "add_nodes"}}
    both = [
        {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "search_nodes"}},
        {"jsonrpc": "2.0", "id": 7, "method": "ping"},
    ]
    lines = (alone, both, {**alone, "method": "ping"})
    told = pair.send(b"\n".join(json.dumps(each).encode() for each in lines))
    assert told["fast"] == told["sdk"]
    answers = [json.loads(each) for each in told["fast"]]
    assert [len(each) for each in answers if isinstance(each, list)] == [2]
    of_batch = next(each for each in answers if isinstance(each, list))
    assert [each["id"] for each in of_batch] == [7, 7]
    # What the batch asked for, and not the nodes that the call before it lacked.
    assert "query" in json.dumps(of_batch)
    assert "nodes is missing" not in json.dumps(of_batch)
    assert [each["id"] for each in answers if isinstance(each, dict)] == [7, 7]
