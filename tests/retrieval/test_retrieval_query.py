"""Any text is a query and means its words; checked against the real full-text engine."""

import itertools
import random
import string
from collections.abc import Sequence
from datetime import UTC, datetime
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemory.memory.ranked import parse, rank_project
from schemory.model.entry import Entry, SourceType
from schemory.retrieval.query import (
    MAX_TERMS,
    SearchQuery,
    holds_literal,
    is_held,
    parse_query,
    phrase_key,
)
from schemory.retrieval.ranking import Held
from schemory.retrieval.snippets import make_snippet
from schemory.retrieval.tokens import TOKENS_VERSION, index_terms, whole_terms
from schemory.storage.memory_protocols import EntryFilter, IndexTerms
from schemory.storage.protocols import WriteContext
from schemory.storage.sqlite.store import SqliteStore


class Index:
    """Texts as entries of a store, searched as the product searches."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = texts
        ids = itertools.count()
        self._store = SqliteStore.open(
            ":memory:",
            now=lambda: datetime(2026, 1, 1, tzinfo=UTC),
            ids=lambda: f"id-{next(ids)}",
            terms=IndexTerms(TOKENS_VERSION, index_terms),
        )
        with self._store.memory_transaction("p", WriteContext(operation="test")) as tx:
            tx.insert_entries([_entry(number, text) for number, text in enumerate(texts)])

    def found(self, text: str) -> list[tuple[str, Held]]:
        """Return the texts that are found, each with how much of the query it holds."""
        with self._store.read_memory("p") as reader:
            query = parse(reader, text)
            if query.is_empty:
                return []
            places = rank_project(reader, query, EntryFilter(), depth=10).places
        return [(self.texts[int(p.entry_id)], p.ranked.candidate.held) for p in places]

    def search(self, text: str) -> list[str]:
        return [found for found, _ in self.found(text)]


_LETTERS = str.maketrans("0123456789", "qxzwvkjyph")


def _entry(number: int, text: str) -> Entry:
    moment = "2026-01-01T00:00:00.000Z"
    return Entry(
        id=f"{number:06}",
        project_id="p",
        scope="zz",
        topic="zz" + str(number).translate(_LETTERS),  # one of its own, found by no query here
        content=text,
        content_sha256=sha256(text.encode()).hexdigest(),
        source_type=SourceType.AGENT_NOTE,
        created_at=moment,
        updated_at=moment,
    )


PUNCTUATED = Index(
    [
        "POL-358 blocks the release",
        "see src/auth/token.py",
        "don't retry on 429",
        "NEAR the OR gate",
    ]
)


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("POL-358", "POL-358 blocks the release"),
        ("pol-358", "POL-358 blocks the release"),
        ("src/auth/token.py", "see src/auth/token.py"),
        ("token.py", "see src/auth/token.py"),
        ("don't", "don't retry on 429"),
        ("NEAR/2", "NEAR the OR gate"),
        ("-release", "POL-358 blocks the release"),
    ],
)
@pytest.mark.covers("retrieval.query.plain")
def test_punctuation_and_operators_are_plain_text(text: str, first: str) -> None:
    assert PUNCTUATED.search(text)[:1] == [first]


@pytest.mark.parametrize(
    "text",
    [
        *('"', "*", "a AND", "title:x", "(", ")", "^", "NOT", "", "  ", '""'),
        "\U0001f600 \U0001f469\u200d\U0001f4bb",  # emoji, one joined of two
        # right to left
        "\u202erelease\u202c \u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627",
        "a\u0301\u0301\u0301" * 100,
        "".join(f"w{n} " for n in range(3_000)),
        "-" * 5_000,
        "x" * 20_000,
        "\u9023\u63a5" * 500 + "POL-358\u91cd\u555f",
    ],
)
@pytest.mark.covers("retrieval.query.plain")
def test_lone_operators_are_no_error(text: str) -> None:
    PUNCTUATED.search(text)


@given(st.text() | st.text("\"'*^():-+/ANDORTE ab1漢é\u0301\ue000"))
@pytest.mark.covers("retrieval.query.plain")
def test_any_text_is_a_valid_query(text: str) -> None:
    PUNCTUATED.search(text)


@given(st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=30))
@pytest.mark.covers("retrieval.query.plain")
def test_every_word_finds_the_text_it_stands_in(word: str) -> None:
    text = f"before {word} behind"
    index = Index([text, "something else"])
    if not parse_query(word).is_empty:
        assert text in [found for found, held in index.found(word) if held >= Held.ALL]


CJK = [
    "数据库连接池耗尽，需要重启服务",  # noqa: RUF001 (Chinese punctuation)
    "デプロイは金曜日に禁止",
    "결제 모듈은 멱등성 키를 사용한다",
]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("连接池", 0),
        ("重启", 0),
        ("金曜日", 1),
        ("멱등성", 2),
        ("禁止", 1),
        ("务", 0),
        ("池", 0),
        ("키", 2),
    ],
)
@pytest.mark.covers("retrieval.tokens.spaceless")
def test_words_of_spaceless_scripts_find_their_entry_and_no_other(text: str, place: int) -> None:
    assert Index(CJK).search(text) == [CJK[place]]


@pytest.mark.covers("retrieval.query.identifier-first")
def test_a_bare_identifier_is_first_among_ten_thousand() -> None:
    chance = random.Random(3)
    words = ["".join(chance.choices(string.ascii_lowercase, k=6)) for _ in range(400)]
    texts = [
        f"{' '.join(chance.choices(words, k=30))} TCK-{number} 42 {number % 977} src/a/f{number}.py"
        for number in range(10_000)
    ]
    texts[77] += " getUserById ERR_TOKEN_42 v2.3.1 #555123"
    # What only holds the parts, often and close together, must not win.
    texts[78] = "TCK 4321 tck 4321 tck 4321; err token 42 42 42 token err; get user by id get user"
    index = Index(texts)
    for number in chance.sample(range(100, 10_000), 60):
        assert index.search(f"TCK-{number}")[0] == texts[number]
        assert index.search(f"f{number}.py")[0] == texts[number]
    assert index.search("TCK-4321")[0] == texts[4321]
    for identifier in ("getUserById", "ERR_TOKEN_42", "err_token_42", "v2.3.1", "2.3.1", "#555123"):
        assert index.search(identifier)[0] == texts[77], identifier
    assert texts[77] in index.search("token 42 user")[:2]


@pytest.mark.covers("retrieval.query.spellings")
@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("server", "HTTPServer2 does not start"),
        ("http server 2", "HTTPServer2 does not start"),
        ("ios 17", "crash since iOS17"),
        ("iOS17", "crash since ios 17"),
        ("iOS17", "crash since iOS 17"),
        ("nodejs", "built with Node.js"),
        ("node.js", "built with nodejs"),
        ("Node.js", "built with NodeJS"),
        ("socket.io", "built with SocketIO"),
        ("utf-8", "read as utf8"),
        ("utf8", "read as UTF-8"),
        ("sha 256", "its SHA256"),
        ("bpf", "traced by eBPF"),
    ],
)
def test_a_names_other_spelling_finds_it_with_every_word(query: str, text: str) -> None:
    index = Index([text, "neither 3 nor this"])
    parsed = parse_query(query)
    held = [found for found, held in index.found(query) if held >= Held.ALL]
    assert held == [text]
    terms = index_terms(text).split()
    assert all(is_held(word, terms) for word in parsed.words)
    assert ">>>" in make_snippet(text, parsed)


@pytest.mark.covers("retrieval.query.spellings")
def test_a_file_name_is_no_product_name() -> None:
    assert parse_query("token.py").words[0].whole == whole_terms("token.py")
    assert parse_query("io").words[0].whole == ("io",)


@pytest.mark.covers("retrieval.query.stop-words")
def test_function_words_go_only_in_the_querys_own_language() -> None:
    assert parse_query("perché abbiamo scelto SQLite?").dropped == ("perché", "abbiamo")
    assert set(parse_query("why do we retry the webhook").dropped) == {"why", "do", "we", "the"}
    assert parse_query("ai come sei").dropped == ()
    assert parse_query("AI features").dropped == ()
    assert parse_query("the who").dropped == ()
    assert [word.text for word in parse_query("the who").words] == ["the", "who"]
    assert "who" in {w.text for w in parse_query('what did "the who" record in their time').words}


@pytest.mark.covers("retrieval.query.phrase")
def test_a_quoted_phrase_stands_word_for_word() -> None:
    texts = [
        "the dead letter table",
        "a letter about the dead",
        "a dead-letter queue",
        "dead letters",
    ]
    index = Index(texts)
    assert index.search('"dead letter"') == ["the dead letter table", "a dead-letter queue"]
    assert index.search("“Dead  LETTER” table")[0] == "the dead letter table"
    assert len(index.search("dead letter")) == 4
    assert index.search('"letter dead"') == []
    assert index.search('"dead letter" "queue"') == ["a dead-letter queue"]
    assert index.search('an unpaired " quote, letter') != []
    assert Index(CJK).search('"接池耗"') == [CJK[0]]
    assert Index(CJK).search('"池接"') == []


@pytest.mark.covers("retrieval.query.literal")
def test_signs_that_were_typed_put_the_text_that_holds_them_first() -> None:
    texts = ["required required required", "fill in << REQUIRED >> here", "Name: <<REQUIRED>>"]
    assert Index(texts).search("<<required>>")[0] == texts[2]
    versions = ["python 3 11 3.11", "python 3/11, python 3/11", "see python-3.11"]
    assert Index(versions).search("python-3.11")[0] == versions[2]
    for plain in ("why does it fail?", "don't", "l'albero", "retry, then stop", "¿por qué?"):
        assert parse_query(plain).literal == ""


def test_an_empty_phrase_asks_for_nothing() -> None:
    assert parse_query('""').is_empty
    assert parse_query('"..."').phrases == ()


@pytest.mark.covers("retrieval.query.bounded")
def test_a_query_asks_for_few_terms_and_keeps_the_rarest() -> None:
    words = [f"w{number}x" for number in range(5_000)]
    counts = {word: number for number, word in enumerate(reversed(words), start=1)}
    query = parse_query(" ".join(words), frequency=lambda term: counts[term])
    assert len(query.terms) <= MAX_TERMS
    assert [word.text for word in query.words] == words[-MAX_TERMS:]
    assert len(parse_query("/".join(words)).terms) <= MAX_TERMS


@pytest.mark.covers("retrieval.query.bounded")
def test_words_that_stand_nowhere_take_no_others_room() -> None:
    nowhere = " ".join(f"abc{number}def" for number in range(200))
    assert PUNCTUATED.search(f"{nowhere} releases {nowhere}") == ["POL-358 blocks the release"]


@given(st.text(), st.text())
def test_a_phrase_cut_from_a_text_is_found_in_it(before: str, behind: str) -> None:
    key = phrase_key("alpha beta")
    assert key in phrase_key(f"{before} alpha beta {behind}")


def test_held_words_are_counted_for_the_search_without_an_index() -> None:
    terms = set(index_terms("retries of src/auth/token.py, 连接池").split())

    def held(text: str) -> tuple[int, int]:
        query: SearchQuery = parse_query(text)
        return sum(is_held(word, terms) for word in query.words), len(query.words)

    assert held("retry token") == (2, 2)
    assert held("token.py missing") == (1, 2)
    assert held("token_py") == (1, 1)
    assert held("池 连接") == (2, 2)
    assert held("auth-token") == (1, 1)
    assert held("auth-cookie") == (0, 1)


@pytest.mark.covers("retrieval.query.literal")
@pytest.mark.parametrize(
    ("query", "text", "is_held"),
    [
        ("merge_signal", "see merge_signal7", False),
        ("merge_signal", "merge_signal7, then (merge_signal)", True),
        ("x=1", "x=10", False),
        ("src/a.py", "lib/src/a.py:12", True),
        ("<<REQUIRED>>", "a<<REQUIRED>>b", True),
        ("接-続", "直接-続行", True),
    ],
)
def test_signs_are_not_held_by_longer_words_that_hold_them(
    query: str, text: str, *, is_held: bool
) -> None:
    assert holds_literal(parse_query(query), text) is is_held
