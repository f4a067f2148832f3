"""The price of every configuration, as the command that CI runs prints it."""

import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from schemory.tools.lint import lint_tools
from schemory.tools.profiles import Profile

if TYPE_CHECKING:
    from tests.tools.conftest import DeskMaker

ROOT = Path(__file__).parent.parent.parent
COMMAND = [sys.executable, "-m", "benchmarks.price"]
PROFILES = {"full", "compact", "auto"}


@cache
def configurations() -> tuple[dict[str, Any], ...]:
    done = subprocess.run([*COMMAND, "--json"], cwd=ROOT, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return tuple(json.loads(done.stdout))


def one(toolsets: str, packs: str = "", profile: str = "full", flags: str = "") -> dict[str, Any]:
    wanted = {"toolsets": toolsets, "packs": packs, "profile": profile, "flags": flags}
    (found,) = [each for each in configurations() if wanted.items() <= each.items()]
    return found


@pytest.mark.covers("tools.price.every_configuration")
def test_every_configuration_passes_the_lint_of_strict_hosts() -> None:
    assert [each for each in configurations() if each["problems"]] == []
    chosen = {(each["toolsets"], each["packs"], each["profile"]) for each in configurations()}
    for packs in ("", "rpg", "software", "rpg,software"):
        for profile in PROFILES:
            assert ("graph,memory", packs, profile) in chosen
            assert ("graph", packs, profile) in chosen
            assert ("graph,memory,graph_query,admin", packs, profile) in chosen
    assert {("memory", "", profile) for profile in PROFILES} <= chosen
    assert one("graph,memory", "rpg", flags="--allow-cross-project")


@pytest.mark.covers("tools.price.default")
def test_the_default_list_stays_within_forty_tools_and_six_thousand_tokens() -> None:
    (default,) = [each for each in configurations() if each["is_default"]]
    assert default == one("graph,memory")
    assert default["tools"] <= 40
    assert default["tokens"] <= 6_000


@pytest.mark.covers("tools.price.instructions")
def test_the_instructions_stay_short_in_every_configuration() -> None:
    assert max(each["instruction_bytes"] for each in configurations()) <= 1_600


@pytest.mark.covers("tools.price.default")
def test_packs_cost_nothing_more_in_the_compact_profile() -> None:
    prices = {one("graph,memory", packs, "compact")["tokens"] for packs in ("", "rpg", "software")}
    assert len(prices) == 1


@pytest.mark.covers("tools.price.auto")
@pytest.mark.parametrize("toolsets", ["graph,memory", "graph,memory,graph_query,admin"])
@pytest.mark.parametrize("packs", ["", "rpg", "software", "rpg,software"])
def test_auto_is_never_longer_than_full_or_compact(toolsets: str, packs: str) -> None:
    count = {name: one(toolsets, packs, name)["tools"] for name in PROFILES}
    shortest = min(count["full"], count["compact"])
    assert count["auto"] == shortest or count["auto"] <= 40


@pytest.mark.covers("tools.price.every_configuration")
@pytest.mark.parametrize("profile", list(Profile))
def test_schemas_of_other_servers_pass_the_lint_in_each_profile(
    open_desk: "DeskMaker", profile: Profile
) -> None:
    toolbox = open_desk(folders=("memorymesh",), profile=profile).toolbox
    assert toolbox.faults() == ()
    assert lint_tools(toolbox.list_tools()) == ()


@pytest.mark.covers("tools.price.printed")
def test_the_command_prints_a_row_for_each_configuration() -> None:
    done = subprocess.run(COMMAND, cwd=ROOT, capture_output=True, check=True, text=True)
    head, rule, *rows = done.stdout.splitlines()
    assert "tokens" in head
    assert set(rule) == {"|", "-"}
    assert len(rows) == len(configurations())
    assert rows[0].startswith("| graph,memory (default)")
    assert all(" fit " in row for row in rows)
