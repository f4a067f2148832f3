"""Names of projects that are taken for harmless without asking the rules of credentials."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemory.safety.names import find_secrets_in_name
from schemory.safety.secrets import find_secrets

_PIECES = st.sampled_from(
    ["password", "pwd", "secret", "token", "api_key", "ghp_", "sk-", "AKIA", "xoxb-", "npm_", "eyJ"]
)
_NAMES = st.lists(_PIECES | st.text("abcXYZ019-._é", max_size=12), max_size=4).map("".join)


@pytest.mark.covers("memory.place.plain_names")
@given(name=_NAMES)
def test_no_short_name_of_letters_digits_and_joiners_is_taken_for_a_credential(name: str) -> None:
    assert find_secrets(name[:19], precise_only=False) == ()
    for each in (name, name[:19], f"{name[:10]}={name[10:19]}"):
        assert find_secrets_in_name(each) == find_secrets(each, precise_only=False)
