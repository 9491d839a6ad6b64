"""Fields of a node's page in NetBox: written where they differ, never over what somebody else wrote."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.inventory.netbox.custom_fields import SINCE, STATE
from fleet_runner.core.inventory.netbox.mirror.fields import (
    NEVER,
    Judged,
    MirroredState,
    fields,
    judge,
    missing,
    moment,
)
from fleet_runner.core.inventory.netbox.mirror.standing import Written

AT = 1_763_842_490.7
TRIAGE, READY = MirroredState("triage", AT), MirroredState("production", AT + 60)

STANDS = st.builds(
    MirroredState, st.sampled_from(["triage", "production", "wipe"]), st.floats(0, 4e9, allow_nan=False).map(float)
)
VALUES = st.none() | st.text(max_size=60) | st.integers() | st.lists(st.booleans(), max_size=2) | st.booleans()


def page(state: Any = None, since: Any = None) -> dict[str, Any]:
    """The fields of a page."""
    return {STATE: state, SINCE: since, "other": 1}


def test_a_moment_is_whole_seconds_in_utc() -> None:
    assert moment(AT) == "2025-11-22T20:14:50Z"


@pytest.mark.parametrize("since", ["2025-11-22T20:14:50Z", "2025-11-22T21:14:50+01:00", "2025-11-22 20:14:50+00:00"])
def test_what_is_as_it_should_be_is_not_written_in_whichever_words(since: str) -> None:
    assert judge(page("triage", since), TRIAGE, ()) == Judged(due=False)


def test_empty_fields_are_written_and_so_is_what_was_written_or_sent_before() -> None:
    assert judge(page(), TRIAGE, ()).due
    assert judge(page("", ""), TRIAGE, (NEVER,)).due
    assert judge(page(*fields(TRIAGE).values()), READY, (TRIAGE,)).due
    assert judge(page(*fields(TRIAGE).values()), READY, (NEVER, MirroredState("wipe", 1.0), TRIAGE)).due


def test_what_somebody_else_wrote_is_in_the_way_and_named() -> None:
    """In either field; then neither is written."""
    there = judge(page("production", fields(TRIAGE)[SINCE]), TRIAGE, (NEVER,))
    assert there == Judged(due=False, conflict="fleet_state is 'production'")
    both = judge(page("production", "yesterday"), TRIAGE, (MirroredState("wipe", AT),))
    assert both.conflict == "fleet_state is 'production', fleet_since is 'yesterday'"
    assert judge(page("triage", 5), TRIAGE, ()).conflict == "fleet_since is 5"


def test_what_is_shown_of_it_is_short_and_safe() -> None:
    shown = judge(page("\x1b[31m" + "x" * 900, None), TRIAGE, ()).conflict
    assert len(shown) < 80
    assert "\x1b" not in shown


def test_a_page_that_somebody_empties_is_written_again() -> None:
    assert judge(page(None, fields(TRIAGE)[SINCE]), TRIAGE, ()).due


def test_fields_that_a_netbox_lacks_are_named() -> None:
    assert missing({STATE: None}) == [SINCE]
    assert missing(page()) == []


@given(VALUES, VALUES, STANDS, st.lists(STANDS, max_size=3))
def test_nothing_that_is_not_ours_is_ever_written_over(
    state: Any, since: Any, wanted: MirroredState, ours: list[MirroredState]
) -> None:
    """What is due holds nothing, or what is wanted, or what was ours; and what is in conflict is not due."""
    judged = judge(page(state, since), wanted, ours)
    known = [fields(stand) for stand in (wanted, *ours)]
    if judged.due:
        assert not judged.conflict
        assert state in {None, ""} or state in {each[STATE] for each in known}


@given(STANDS, STANDS, st.lists(STANDS, max_size=4))
def test_what_was_written_from_here_is_never_a_conflict(
    wanted: MirroredState, there: MirroredState, more: list[MirroredState]
) -> None:
    judged = judge(page(*fields(there).values()), wanted, [*more, there])
    assert judged == Judged(due=fields(there) != fields(wanted))


def test_what_may_stand_there_from_here_is_what_was_written_and_what_was_sent() -> None:
    assert Written("gpu-01", READY, TRIAGE, asked=(READY,)).ours == (TRIAGE, READY)
