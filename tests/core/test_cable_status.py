"""Cable statuses follow sweeps: only what is sure, and only what changed."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.cable_status import cables_of, changes
from fleet_runner.core.cabling.design import fingerprint
from fleet_runner.core.cabling.links import link
from fleet_runner.core.checks.fabric_cabling import MOST_ABSENT
from fleet_runner.core.fabrics import fabrics
from fleet_runner.core.records import Cable, Device, Fleet, Interface, Termination
from fleet_runner.core.verdicts import Finding, Remedy, Result, Verdict

SUSPECT = Finding("cabling.suspect", "infiniband.hall", "too many", Remedy.RECABLE, "cabling/suspect/x")


def a_cable(number: int, status: str = "connected", **values: Any) -> Cable:
    """The cable from node NUMBER to port NUMBER of the leaf."""
    ends = Termination(f"gpu-{number}", "ib0"), Termination("leaf-1", str(number))
    return Cable(*ends, status=status, id=number, **values)


CABLES = (a_cable(1), a_cable(2, "planned"), a_cable(3))


def sweep(*absent: Cable, cables: tuple[Cable, ...] = CABLES, **values: Any) -> Result:
    """A sweep that missed some cables."""
    observed = {
        "design": fingerprint(link(cable.a, cable.b) for cable in cables),
        "absent": [[*cable.a, *cable.b] for cable in absent],
        "unsure": [],
    }
    return Result("fabric_cabling", Verdict.FAIL if absent else Verdict.PASS, "as seen", observed=observed | values)


def test_a_planned_cable_that_is_seen_is_connected() -> None:
    assert changes(CABLES, sweep(), None) == {2: "connected"}


def test_a_connected_cable_is_planned_once_two_sweeps_missed_it() -> None:
    missed, other = sweep(CABLES[0], CABLES[1]), sweep(CABLES[1])
    assert changes(CABLES, missed, None) == {}
    assert changes(CABLES, missed, other) == {}
    assert changes(CABLES, missed, sweep(CABLES[0])) == {1: "planned"}
    assert changes(CABLES, other, missed) == {}


def test_the_order_of_the_ends_does_not_matter() -> None:
    turned = tuple(replace(cable, a=cable.b, b=cable.a) for cable in CABLES)
    assert changes(turned, sweep(CABLES[0]), sweep(CABLES[0])) == {1: "planned", 2: "connected"}


@pytest.mark.parametrize(
    "newest",
    [
        replace(sweep(), verdict=Verdict.UNKNOWN),
        replace(sweep(), findings=(SUSPECT,), verdict=Verdict.FAIL),
        replace(sweep(), observed={}),
        sweep(design="another"),
        sweep(cables=CABLES[:2]),
        sweep(absent=[["a", "1", "b", "2"]] * MOST_ABSENT),
    ],
    ids=["unknown", "suspect", "nothing observed", "another design", "a cable is new", "too many to name"],
)
def test_a_sweep_that_is_not_sure_changes_nothing(newest: Result) -> None:
    assert changes(CABLES, newest, sweep(CABLES[0])) == {}


@pytest.mark.parametrize("before", [replace(sweep(CABLES[0]), findings=(SUSPECT,)), replace(sweep(), observed={})])
def test_a_suspect_sweep_confirms_nothing(before: Result) -> None:
    assert changes(CABLES, sweep(CABLES[0], CABLES[1]), before) == {}


def test_devices_that_are_unsure_or_excused_keep_their_status() -> None:
    missed = sweep(CABLES[0])
    assert changes(CABLES, sweep(CABLES[0], unsure=["gpu-1", "gpu-2"]), missed) == {}
    assert changes(CABLES, missed, missed, ["gpu-1", "gpu-2"]) == {}
    assert changes(CABLES, missed, missed, ["leaf-1"]) == {}
    assert changes(CABLES, missed, missed, ["gpu-2"]) == {1: "planned"}


def test_what_an_unsure_sweep_is_sure_of_counts() -> None:
    unsure = replace(sweep(unsure=["gpu-1"]), verdict=Verdict.UNKNOWN)
    assert changes(CABLES, unsure, None) == {2: "connected"}


def test_a_cable_with_two_links_follows_both() -> None:
    pair = (a_cable(1), replace(a_cable(2), id=1))
    both, one = sweep(*pair, cables=pair), sweep(pair[0], cables=pair)
    assert changes(pair, both, both) == {1: "planned"}
    assert changes(pair, one, one) == {}
    planned = tuple(replace(cable, status="planned") for cable in pair)
    assert changes(planned, sweep(cables=pair), None) == {1: "connected"}
    assert changes(planned, one, None) == {}


def test_a_missed_link_through_panels_does_not_say_which_cable_it_is() -> None:
    patched = (a_cable(1, carriers=("trunk T", "panel PP-A")), a_cable(2, "planned", carriers=("panel PP-A",)))
    missed = sweep(patched[0], cables=patched)
    assert changes(patched, missed, missed) == {2: "connected"}


def test_cables_without_an_id_are_nobodys() -> None:
    nameless = tuple(replace(cable, id=None) for cable in CABLES)
    assert changes(nameless, sweep(CABLES[0]), sweep(CABLES[0])) == {}


@given(
    statuses=st.lists(st.sampled_from(["connected", "planned"]), min_size=6, max_size=6),
    newest=st.sets(st.integers(0, 5)),
    before=st.sets(st.integers(0, 5)),
    away=st.sets(st.integers(0, 5)),
)
def test_it_is_written_once(statuses: list[str], newest: set[int], before: set[int], away: set[int]) -> None:
    """With what was changed changed, the same sweeps change nothing; and each change is one that the sweeps prove."""
    cables = tuple(a_cable(at, status) for at, status in enumerate(statuses))
    results = [sweep(*(cables[at] for at in missed), cables=cables) for missed in (newest, before)]
    excused = [f"gpu-{at}" for at in away]
    found = changes(cables, results[0], results[1], excused)
    for number, status in found.items():
        assert number not in away
        assert statuses[number] != status
        assert number in newest & before if status == "planned" else number not in newest
    after = tuple(replace(cable, status=found.get(cable.id or 0, cable.status)) for cable in cables)
    assert changes(after, results[0], results[1], excused) == {}


def test_the_cables_of_a_fabric_are_the_infiniband_ones_at_its_switches() -> None:
    ib, eth = Interface("ib0", "infiniband-ndr"), Interface("eth0", "1000base-t")
    ports = (Interface("1", "infiniband-ndr"), eth)
    devices = [
        Device("gpu-1", "t", "gpu-server", "hall", interfaces=(ib, eth)),
        Device("gpu-2", "t", "gpu-server", "away", interfaces=(ib, eth)),
        Device("leaf-1", "q", "leaf", "hall", interfaces=ports),
        Device("leaf-2", "q", "leaf", "away", interfaces=ports),
    ]
    mine = Cable(Termination("leaf-1", "1"), Termination("gpu-1", "ib0"))
    others = (
        Cable(Termination("gpu-2", "ib0"), Termination("leaf-2", "1")),
        Cable(Termination("gpu-1", "eth0"), Termination("leaf-1", "eth0")),
    )
    fleet = Fleet(("away", "hall"), {}, {}, {device.name: device for device in devices}, (mine, *others))
    [fabric] = [each for each in fabrics(fleet) if each.site == "hall"]
    assert cables_of(fleet, fabric) == (mine,)
