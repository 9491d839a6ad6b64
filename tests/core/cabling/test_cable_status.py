"""Cable statuses follow sweeps: a planned cable that is seen is connected, and nothing else changes."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.cabling.cable_status import connected
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result, Verdict
from fleet_runner.core.inventory.records import Cable, Termination

SUSPECT = Finding("cabling.suspect", "infiniband.hall", "too many", Remedy.RECABLE, "cabling/suspect/x")


def a_cable(number: int, status: str = "planned") -> Cable:
    """The cable from node NUMBER to port NUMBER of the leaf."""
    ends = Termination(f"gpu-{number}", "ib0"), Termination("leaf-1", str(number))
    return Cable(*ends, status=status, id=number)


def sweep(*placed: Cable, verdict: Verdict = Verdict.PASS) -> Result:
    """A sweep that saw some planned cables as designed."""
    observed = {"placed": [[*cable.a, *cable.b] for cable in placed]}
    return Result("fabric_cabling", verdict, "as seen", observed=observed)


@given(
    statuses=st.lists(st.sampled_from(["connected", "planned"]), min_size=6, max_size=6),
    seen=st.sets(st.integers(0, 5)),
    verdict=st.sampled_from(Verdict),
)
def test_a_planned_cable_that_is_seen_is_connected_once(
    statuses: list[str], seen: set[int], verdict: Verdict
) -> None:
    """Whatever else the sweep says; with what was changed changed, the same sweep changes nothing."""
    cables = [a_cable(at, status) for at, status in enumerate(statuses)]
    told = sweep(*(cables[at] for at in seen), verdict=verdict)
    found = connected(cables, told)
    assert found == {at for at in seen if statuses[at] == "planned"}
    assert (
        connected([replace(each, status="connected") if each.id in found else each for each in cables], told) == set()
    )


def test_the_order_of_the_ends_does_not_matter() -> None:
    cable = a_cable(1)
    assert connected([replace(cable, a=cable.b, b=cable.a)], sweep(cable)) == {1}


@pytest.mark.parametrize(
    "told", [replace(sweep(a_cable(1)), findings=(SUSPECT,)), Result("fabric_cabling", Verdict.UNKNOWN, "cut")]
)
def test_a_sweep_that_is_not_believed_changes_nothing(told: Result) -> None:
    assert connected([a_cable(1)], told) == set()


def test_a_cable_that_somebody_joined_elsewhere_meanwhile_stays_planned() -> None:
    assert connected([replace(a_cable(1), b=Termination("leaf-1", "9"))], sweep(a_cable(1))) == set()


def test_a_cable_with_two_links_follows_both() -> None:
    pair = [a_cable(1), replace(a_cable(2), id=1)]
    assert connected(pair, sweep(pair[0])) == set()
    assert connected(pair, sweep(*pair)) == {1}


def test_cables_without_an_id_are_nobodys() -> None:
    assert connected([replace(a_cable(1), id=None)], sweep(a_cable(1))) == set()
