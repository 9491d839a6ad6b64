"""Whose store it is, by what it says of itself and what a runner remembers of the one before."""

from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.access.store_identity import Identity, Remembered, refusal

IDS = st.text("ab", min_size=1, max_size=2)
MOMENTS = st.sampled_from([1.0, 2.0])
OURS = Identity("a", "https://netbox.example")
SEEN = Remembered("a", 41, 1000.0)


@given(st.one_of(st.none(), st.builds(Identity, IDS, IDS)), IDS)
def test_a_store_that_nobody_remembers_is_taken_if_it_is_of_this_source(store: Identity | None, source: str) -> None:
    """A new runner beside others; and a new store of a new fleet."""
    assert (refusal(store, None, source, None) == "") is (store is None or store.source == source)


@given(st.builds(Identity, IDS, IDS), st.builds(Remembered, IDS, st.integers(0, 9), MOMENTS), IDS, MOMENTS)
def test_only_the_same_store_with_all_of_its_history_is_taken(
    store: Identity, remembered: Remembered, source: str, line_at: float
) -> None:
    same = store.id == remembered.id and store.source == source
    whole = not remembered.line or line_at == remembered.at
    assert (refusal(store, remembered, source, line_at) == "") is (same and whole)


def test_each_refusal_says_what_it_is_and_the_next_step() -> None:
    for store, source, line_at, words in (
        (None, OURS.source, None, "the store is new, or was emptied"),
        (Identity("b", OURS.source), OURS.source, 1000.0, "the store is another one than was served before"),
        (OURS, "/site", 1000.0, "the store is of https://netbox.example, and the settings' source is /site"),
        (OURS, OURS.source, None, "the store is older than the one served before: line 41 of its history is lost"),
        (OURS, OURS.source, 999.0, "the store is older than the one served before: line 41 of its history is lost"),
    ):
        why = refusal(store, SEEN, source, line_at)
        assert why.startswith(words)
        assert why.endswith("fleet-runner db accept --reason …")
