"""The two adapters side by side: notes, batches, interleaving, cancelling, their differences."""

import json
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from schemory.server.wire import MAX_MESSAGE_BYTES

if TYPE_CHECKING:
    from tests.server.conftest import PairMaker

HERE = Path(__file__).parent
GOLDEN = HERE.parent / "golden"
NOTES = sorted(file.stem for file in GOLDEN.glob("notes-*.json"))
ERAS = ["2024-11-05", "2025-11-25", "2026-07-28"]
MODERN = "2026-07-28"
BATCHES = "2025-03-26"
DIFFERENCES: list[dict[str, Any]] = tomllib.loads(
    (HERE / "adapter_differences.toml").read_text(encoding="utf-8")
)["difference"]
PAGE = HERE.parent.parent / "docs" / "explanation" / "deviations.md"


@pytest.mark.covers("server.fast.same")
@pytest.mark.parametrize(
    ("name", "era"),
    [(name, era) for i, name in enumerate(NOTES) for era in (ERAS[i % 2], MODERN)],
    ids=str,
)
def test_conversations_with_the_memory_go_alike_on_both_adapters(
    pair_of: "PairMaker", name: str, era: str
) -> None:
    talk = json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))
    pair = pair_of(era, MEMORY_PROJECT_ID="team/app")
    for step in talk["steps"]:
        pair.call(step)


def request(number: Any, method: str, **params: Any) -> dict[str, Any]:
    message = {"jsonrpc": "2.0", "id": number, "method": method}
    return {**message, "params": params} if params else message


def add(number: Any, *names: str) -> dict[str, Any]:
    nodes = [{"name": name, "nodeType": "t", "metadata": []} for name in names]
    return request(number, "tools/call", name="add_nodes", arguments={"nodes": nodes})


def cancel(number: Any) -> dict[str, Any]:
    params = {"requestId": number}
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}


HELLO = {
    "protocolVersion": BATCHES,
    "capabilities": {},
    "clientInfo": {"name": "again", "version": "1"},
}
BATCH_CORPUS: tuple[Any, ...] = (
    [],
    [[]],
    [1, "a", None, True, {}, {"id": 3}],
    [request(1, "ping")],
    [request(1, "ping"), request(1, "ping"), request("1", "ping")],
    [request(1, "ping"), request(2, "no/such"), request(3, "tools/call"), add(4, "a"), add(5, "a")],
    [add(1, "b"), request(2, "tools/call", name="open_nodes", arguments={"names": ["b"]})],
    [request(1, "initialize", **HELLO), request(2, "ping")],
    [request(1, "initialize"), {"jsonrpc": "2.0", "method": "notifications/initialized"}],
    [{"jsonrpc": "2.0", "method": "no/such"}, {"jsonrpc": "2.0", "id": 9, "result": {}}],
    [{"jsonrpc": "2.0", "id": 9, "error": {"code": 1, "message": "m"}}, request(1, "ping")],
    [request(None, "ping"), request(1.5, "ping"), request([], "ping")],
    [request(1, "server/discover"), request(2, "subscriptions/listen")],
    [cancel(1), request(1, "ping"), cancel("x"), cancel([]), cancel(None)],
    [add(1, *(f"n{i}" for i in range(2_000))), add(2, "late"), cancel(2), request(3, "ping")],
    [request(i, "ping") for i in range(1_001)],
    {"not": "a batch"},
)


@pytest.mark.covers("server.fast.same")
@pytest.mark.parametrize("era", [BATCHES, "2025-11-25", MODERN, ""])
def test_batches_are_judged_alike_by_both_adapters(pair_of: "PairMaker", era: str) -> None:
    pair = pair_of(era)
    if era == MODERN:
        pair.ask("server/discover")
    differing: list[tuple[Any, dict[str, list[str]]]] = []
    for batch in BATCH_CORPUS:
        told = pair.send(json.dumps(batch).encode())
        if told["fast"] != told["sdk"]:
            differing.append((str(batch)[:200], told))
    assert differing == []


@pytest.mark.covers("server.fast.same")
@pytest.mark.parametrize("era", ERAS)
def test_interleaved_requests_get_the_same_answers_from_both_adapters(
    pair_of: "PairMaker", era: str
) -> None:
    pair = pair_of(era)
    lines: list[bytes] = []
    for i in range(60):
        node = {"name": f"n{i % 7}", "nodeType": "t", "metadata": [f"k: {i}"]}
        asked: tuple[tuple[str, dict[str, Any]], ...] = (
            ("tools/call", {"name": "add_nodes", "arguments": {"nodes": [node]}}),
            ("tools/call", {"name": "open_nodes", "arguments": {"names": [f"n{i % 7}"]}}),
            ("ping", {}),
            ("tools/call", {"name": "no_such"}),
            ("resources/read", {"uri": f"memory://graph/node/n{i % 7}"}),
            ("no/such", {}),
        )
        method, params = asked[i % len(asked)]
        lines.append(pair.line(100 + i, method, **params))
    told = pair.send(b"\n".join(lines))
    assert told["fast"] == told["sdk"]
    assert len(told["fast"]) == 60


@pytest.mark.covers("server.fast.same")
@pytest.mark.parametrize("era", ERAS)
def test_a_call_cancelled_in_line_is_unanswered_by_both_adapters(
    pair_of: "PairMaker", era: str
) -> None:
    pair = pair_of(era)
    nodes = [{"name": f"n{i}", "nodeType": "t", "metadata": [f"k: {i}"]} for i in range(4_000)]
    late = [{"name": "late", "nodeType": "t", "metadata": []}]
    lines = [
        pair.line(1, "tools/call", name="add_nodes", arguments={"nodes": nodes}),
        pair.line(2, "tools/call", name="add_nodes", arguments={"nodes": late}),
        json.dumps(cancel(2)).encode(),
        json.dumps(cancel(2)).encode(),
        json.dumps(cancel(77)).encode(),
        pair.line(3, "tools/call", name="open_nodes", arguments={"names": ["late"]}),
    ]
    told = pair.send(b"\n".join(lines))
    assert told["fast"] == told["sdk"]
    assert [json.loads(each)["id"] for each in told["fast"]] == [1, 3]
    assert '"notFound": ["late"]' in told["fast"][1]


@pytest.mark.covers("server.fast.same")
def test_a_line_beyond_all_bounds_is_refused_by_both_adapters(pair_of: "PairMaker") -> None:
    pair = pair_of("2025-11-25")
    told = pair.send(b'{"jsonrpc":"2.0","id":1,"x":"' + b"x" * MAX_MESSAGE_BYTES + b'"}')
    assert told["fast"] == told["sdk"] == ['{"code": -32600, "id": null}']


@pytest.mark.covers("server.fast.same")
@pytest.mark.parametrize("era", ["2025-06-18", MODERN])
def test_a_person_is_asked_the_same_by_both_adapters(pair_of: "PairMaker", era: str) -> None:
    pair = pair_of(era, capabilities={"elicitation": {}}, MEMORY_PROJECT_ID="team/app")
    note = {"scope": "s", "topic": "t", "content": "c", "source_type": "decision", "title": "T"}
    asked: dict[str, Any] = {}
    for name, peer in pair.peers.items():
        told = peer.ask("tools/call", 1, **pair.params(name="memory_add_entry", arguments=note))
        entry = told["result"]["structuredContent"]["entry_id"]
        delete = pair.params(name="memory_delete_entry", arguments={"entry_id": entry})
        peer.send("tools/call", 2, **delete)
        message = peer.receive()
        question = message.get("params") or message["result"]["inputRequests"]
        asked[name] = json.loads(json.dumps(question).replace(entry, "<id>"))
        text = asked[name].get("message") or asked[name]["confirm"]["params"]["message"]
        assert "Title: T" in text
    assert without_times(asked["fast"]) == without_times(asked["sdk"])


def without_times(question: Any) -> str:
    text = json.dumps(question, sort_keys=True)
    before, _, after = text.partition("Last changed: ")
    return before + after.partition("Z")[2]


@pytest.mark.covers("server.fast.differences")
def test_the_page_lists_exactly_the_known_differences() -> None:
    section = PAGE.read_text(encoding="utf-8").partition("## Two adapters")[2].partition("\n## ")[0]
    rows = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("|")]
    written = [tuple(cell.strip() for cell in row) for row in rows[2:]]
    known = [tuple(each[key] for key in ("asked", "ours", "theirs", "why")) for each in DIFFERENCES]
    assert written == known


@pytest.mark.covers("server.fast.differences")
@pytest.mark.parametrize(
    "difference", [each for each in DIFFERENCES if "lines" in each], ids=lambda each: each["asked"]
)
def test_each_difference_is_as_it_is_written(
    pair_of: "PairMaker", difference: dict[str, Any]
) -> None:
    pair = pair_of(difference["era"])
    told: dict[str, str] = {}
    for name, peer in pair.peers.items():
        for line in difference["lines"]:
            message = json.loads(line)
            meta = message.get("params", {}).get("_meta", {})
            message["params"] = pair.params(**message.get("params", {}))
            if meta:
                message["params"]["_meta"] = {**message["params"].get("_meta", {}), **meta}
            peer.send_raw(json.dumps(message).encode() + b"\n")
        told[name] = json.dumps(peer.receive())
    assert difference["ours_told"] in told["fast"]
    assert difference["theirs_told"] in told["sdk"]
    assert (
        difference["theirs_told"] not in told["fast"] or difference["ours_told"] not in told["sdk"]
    )


def test_what_no_line_shows_says_why() -> None:
    for each in DIFFERENCES:
        assert ("lines" in each) is not ("not_shown" in each)
