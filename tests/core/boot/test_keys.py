"""Keys name their boot, and nobody else can make them."""

from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.boot.keys import SECRET_BYTES, boot_of, key_of

SECRETS = st.binary(min_size=SECRET_BYTES, max_size=SECRET_BYTES)
BOOTS = st.integers(1, 10**17)
MOMENTS = st.floats(0.0, 1e10)


@given(SECRETS, BOOTS, MOMENTS)
def test_a_key_leads_back_to_its_boot(secret: bytes, boot: int, armed_at: float) -> None:
    assert boot_of(secret, key_of(secret, boot, armed_at)) == boot


@given(SECRETS, BOOTS, BOOTS, MOMENTS)
def test_a_key_of_one_boot_opens_no_other(secret: bytes, one: int, other: int, armed_at: float) -> None:
    moved = f"{other}-{key_of(secret, one, armed_at).partition('-')[2]}"
    assert boot_of(secret, moved) == (one if one == other else None)


def test_boots_of_one_number_have_different_keys() -> None:
    assert key_of(b"k" * 32, 17, 1_000.0) != key_of(b"k" * 32, 17, 1_000.001)


@given(SECRETS, SECRETS, BOOTS)
def test_a_key_made_with_another_secret_is_none_of_ours(ours: bytes, theirs: bytes, boot: int) -> None:
    assert (boot_of(ours, key_of(theirs, boot, 1.0)) == boot) == (ours == theirs)


@given(SECRETS, BOOTS, MOMENTS, st.integers(0, 1000), st.characters())
def test_a_key_with_one_character_changed_is_no_key(
    secret: bytes, boot: int, armed_at: float, at: int, other: str
) -> None:
    key = key_of(secret, boot, armed_at)
    at %= len(key)
    changed = key[:at] + other + key[at + 1 :]
    assert (boot_of(secret, changed) is None) == (changed != key)


@given(SECRETS, st.text())
def test_no_text_makes_reading_a_key_fail(secret: bytes, text: str) -> None:
    assert boot_of(secret, text) is None


def test_keys_stay_as_they_are_between_versions() -> None:
    assert key_of(b"k" * 32, 17, 1_767_225_600.5) == "17-19b76daa9f4-b552bf543fc95b53f0f81f519d6890bf"
