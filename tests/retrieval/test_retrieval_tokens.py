"""What a text is turned into for the index, and that any word finds itself again."""

from importlib.metadata import version

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemory.retrieval.folding import fold_word
from schemory.retrieval.tokens import (
    JOINER,
    STEMMER_VERSION,
    TOKENS_VERSION,
    index_terms,
    spaceless_terms,
)
from schemory.retrieval.words import find_runs, split_identifier


def terms(text: str) -> set[str]:
    return {term.replace(JOINER, "_") for term in index_terms(text).split()}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("getUserById", {"getuserbyid", "get", "user", "by", "id"}),
        ("HTTPServer", {"httpserver", "http", "server"}),
        ("user_id", {"user_id", "user", "id"}),
        ("ERR_TOKEN_42", {"err_token_42", "err", "token", "42"}),
        ("v2.3.1", {"v2_3_1", "2_3_1", "v2", "3", "1"}),
        ("src/auth/token.py", {"src_auth_token_py", "src", "auth", "token_py", "token", "py"}),
        ("#1234", {"1234"}),
        ("POL-358", {"pol_358", "pol", "358"}),
        ("init.go:511", {"init_go_511", "init_go", "init", "go", "511"}),
        ("C:\\work\\a.txt", {"c_work_a_txt", "c", "work", "a_txt", "a", "txt"}),
        ("C++", {"c__"}),
        ("C#", {"c_"}),
        ("<<REQUIRED>>", {"required"}),
        ("getUser2FAToken", {"getuser2fatoken", "get", "user2", "user", "2", "fa", "token"}),
        ("HTTPServer2", {"httpserver2", "http", "server", "2"}),
        ("SHA256", {"sha256", "sha", "256"}),
        ("iOS17", {"ios17", "ios", "io", "i", "os", "17"}),
        ("v2", {"v2"}),
        ("a1b2c3", {"a1b2c3"}),
        ("x86_64", {"x86_64", "x86", "64"}),
        (
            "https://host/a?b=1",
            {"https_host_a_b_1", "https", "host", "a_b_1", "a", "b", "1"},
        ),
        ("--no-verify", {"no_verify", "no", "verify"}),
        ("...", set()),
        ("", set()),
    ],
)
@pytest.mark.covers("retrieval.tokens.identifiers")
def test_an_identifier_is_held_whole_and_in_parts(text: str, expected: set[str]) -> None:
    assert expected <= terms(text)
    assert terms(text) - expected <= {"requir", "verifi", "us", "serv"}  # stems


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("già", "gia'"),
        ("perché", "PERCHE"),
        ("Città", "citta"),
        ("código", "codigo"),
        ("sửa lỗi khẩn cấp", "sua loi khan cap"),
        ("Straße", "STRASSE"),
        ("Łódź", "lodz"),
        ("smørrebrød", "smorrebrod"),
        ("Ελλάδα", "ελλαδα"),
        ("ёлка", "елка"),
        ("ﾃﾞﾌﾟﾛｲ", "デプロイ"),
        ("\uff26\uff35\uff2c\uff2c", "full"),
        ("e\u0301te\u0301", "été"),
    ],
)
@pytest.mark.covers("retrieval.tokens.folding")
def test_case_accents_and_width_do_not_count(one: str, other: str) -> None:
    raw = [run.text for run in find_runs(other)]
    assert [fold_word(run.text) for run in find_runs(one)] == [fold_word(text) for text in raw]
    assert terms(other) & terms(one)


@pytest.mark.parametrize(
    ("singular", "plural"),
    [
        ("connessione", "connessioni"),
        ("decisione", "decisioni"),
        ("errore", "errori"),
        ("token", "tokens"),
        ("migration", "migrations"),
        ("retry", "retries"),
        ("index", "indexes"),
    ],
)
@pytest.mark.covers("retrieval.tokens.stems")
def test_singular_and_plural_meet_in_both_languages(singular: str, plural: str) -> None:
    assert terms(singular) & terms(plural)


@pytest.mark.covers("retrieval.tokens.spaceless")
def test_spaceless_scripts_are_held_in_pairs() -> None:
    assert spaceless_terms("连接池") == ("连接", "接池", "池")
    assert spaceless_terms("林") == ("林",)
    assert {"金曜", "曜日"} <= terms("デプロイは金曜日に禁止")
    assert {"멱등", "등성"} <= terms("결제 모듈은 멱등성 키를 사용한다")
    assert {"rwlock", "rw", "lock", "锁"} <= terms("RwLock锁")
    assert {"ภา", "าษ"} <= terms("ภาษาไทย")


@pytest.mark.covers("retrieval.tokens.version")
def test_the_rules_have_a_version_that_names_the_installed_stemmer() -> None:
    assert version("snowballstemmer") == STEMMER_VERSION
    assert STEMMER_VERSION in TOKENS_VERSION


@given(st.text() | st.text("aB1_./-+#: é漢ンก\u0301"))
def test_any_text_can_be_indexed_and_twice_alike(text: str) -> None:
    assert index_terms(text) == index_terms(text)


@given(st.text(min_size=1))
@pytest.mark.covers("retrieval.tokens.engine")
def test_the_engine_keeps_every_term_in_one_piece(text: str) -> None:
    given_terms = set(index_terms(text).split())
    connection = apsw.Connection(":memory:")
    connection.execute(
        "CREATE VIRTUAL TABLE t USING fts5(x, tokenize='unicode61 remove_diacritics 2')"
    )
    connection.execute("INSERT INTO t VALUES (?)", (" ".join(given_terms),))
    connection.execute("CREATE VIRTUAL TABLE v USING fts5vocab(t, 'instance')")
    kept = connection.execute("SELECT count(*) FROM v").fetchone()
    assert kept == (len(given_terms),)


@given(st.text())
def test_runs_stand_where_they_say(text: str) -> None:
    end = 0
    for run in find_runs(text):
        assert end <= run.start < run.end
        assert text[run.start : run.end] == run.text
        end = run.end


@given(st.text("abAB12_./-:#@+", min_size=1))
def test_every_part_of_an_identifier_stands_in_it(text: str) -> None:
    for part in split_identifier(text):
        assert part in text


def test_a_long_blob_is_cut_and_costs_few_terms() -> None:
    blob = "aB3" * 100_000
    assert len(index_terms(blob)) <= 64
    assert max(map(len, index_terms("x/" * 200_000).split())) <= 64
