"""Keys name their boot, and nobody else can make them."""

from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.boot.keys import SECRET_BYTES, boot_of, key_of

SECRETS = st.binary(min_size=SECRET_BYTES, max_size=SECRET_BYTES)
BOOTS = st.integers(1, 10**17)


@given(SECRETS, BOOTS)
def test_a_key_leads_back_to_its_boot(secret: bytes, boot: int) -> None:
    assert boot_of(secret, key_of(secret, boot)) == boot


@given(SECRETS, BOOTS, BOOTS)
def test_a_key_of_one_boot_opens_no_other(secret: bytes, one: int, other: int) -> None:
    moved = f"{other}-{key_of(secret, one).partition('-')[2]}"
    assert boot_of(secret, moved) == (one if one == other else None)


@given(SECRETS, SECRETS, BOOTS)
def test_a_key_made_with_another_secret_is_none_of_ours(ours: bytes, theirs: bytes, boot: int) -> None:
    assert (boot_of(ours, key_of(theirs, boot)) == boot) == (ours == theirs)


@given(SECRETS, BOOTS, st.integers(0, 1000), st.characters())
def test_a_key_with_one_character_changed_is_no_key(secret: bytes, boot: int, at: int, other: str) -> None:
    key = key_of(secret, boot)
    at %= len(key)
    changed = key[:at] + other + key[at + 1 :]
    assert (boot_of(secret, changed) is None) == (changed != key)


@given(SECRETS, st.text())
def test_no_text_makes_reading_a_key_fail(secret: bytes, text: str) -> None:
    assert boot_of(secret, text) is None


def test_keys_stay_as_they_are_between_versions() -> None:
    assert key_of(b"k" * 32, 17) == "17-f740509121c4f5426f1e01abd7120b5c"
