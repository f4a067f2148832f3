"""A plain command line means the same whether argparse reads it or the table of flags alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemory.cli.command import make_parser, merge
from schemory.cli.main import find_command
from schemory.cli.options import COMMON_OPTIONS, read_plain
from schemory.cli.serving import SERVE_OPTIONS

OPTIONS = (*SERVE_OPTIONS, *COMMON_OPTIONS)
FLAGS = [option.flag for option in OPTIONS]
WORDS = [*FLAGS, *(f"{flag}=a=b" for flag in FLAGS), *(f"{flag}=" for flag in FLAGS)]
OTHERS = ["a", "", "-", "--", "-x", "--d", "--json", "--help", "-1", "a b", "--no-such", "é"]
SERVE = make_parser(find_command("serve"))
NOTHING = make_parser(find_command("serve")).parse_args([])


@pytest.mark.covers("cli.options.same")
@given(st.lists(st.sampled_from([*WORDS, *OTHERS]), max_size=6))
def test_what_the_table_reads_is_what_argparse_reads(words: list[str]) -> None:
    plain = read_plain(words, OPTIONS)
    if plain is not None:
        assert merge(NOTHING, SERVE.parse_args(words)) == plain


@pytest.mark.covers("cli.options.same")
def test_plain_lines_are_read_without_argparse() -> None:
    assert read_plain(["--db", "m.sqlite", "--pack=rpg", "--pack", "own", "--sdk"], OPTIONS) == {
        "MEMORY_DB_PATH": "m.sqlite",
        "MEMORY_PACKS": ("rpg", "own"),
        "MEMORY_SDK": "1",
    }


@pytest.mark.covers("cli.options.same")
@pytest.mark.parametrize(
    "words",
    [["--db"], ["--db", "--sdk"], ["--no-such"], ["word"], ["--sdk=1"], ["--json"], ["--help"]],
)
def test_mistakes_and_the_rest_are_left_to_argparse(words: list[str]) -> None:
    assert read_plain(words, OPTIONS) is None


@pytest.mark.covers("cli.options.same")
def test_every_flag_of_serve_but_json_and_help_is_in_the_table() -> None:
    told = {word for word in SERVE.format_help().split() if word.startswith("--")}
    assert {word.rstrip(",") for word in told} - set(FLAGS) <= {"--json", "--help"}
