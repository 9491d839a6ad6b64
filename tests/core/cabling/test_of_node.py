"""A node's own links: as designed, different, or not known, and in which words."""

from typing import Any

import pytest

from fleet_runner.core.cabling.of_node import ETHERNET, INFINIBAND, LinkStatus, wires
from fleet_runner.core.checks.verdicts import UNSURE, Finding, Remedy, Result, Verdict
from fleet_runner.core.inventory.records import Cable, Device, Fleet, Interface, Termination
from fleet_runner.core.lifecycle.runs import Stored
from fleet_runner.core.lifecycle.states import Stage

PORTS = (
    Interface("bmc", "1000base-t", mgmt_only=True),
    Interface("eth0", "100gbase-x-qsfp28"),
    Interface("ib0", "infiniband-ndr"),
    Interface("ib10", "infiniband-ndr"),
    Interface("ib2", "infiniband-ndr"),
)
DEVICES = {
    "gpu-01": Device("gpu-01", "t", "gpu-server", "hall", "R1", 1.0, interfaces=PORTS),
    "leaf-1": Device("leaf-1", "s", "leaf", "hall", "R9", 40.0),
}


def cabled(port: str, far: str = "p1", device: str = "leaf-1", status: str = "connected") -> Cable:
    """A cable of the node; its ends may stand in any order."""
    return Cable(Termination(device, far), Termination("gpu-01", port), status=status)


def fleet(*cables: Cable) -> Fleet:
    """A source of truth with these cables."""
    return Fleet(("hall",), {}, {}, DEVICES, cables)


def answered(check: str, verdict: Verdict, *findings: Finding, **observed: Any) -> Stored:
    """A check's newest answer."""
    return Stored(5, 1, "gpu-01", Stage.CABLING, 9.0, Result(check, verdict, "it said so", findings, observed))


def found(component: str, *devices: str) -> Finding:
    """A fault of cabling."""
    return Finding("cabling.swap", component, "ib0 and ib2 are swapped", Remedy.RECABLE, "f", devices=devices)


def test_links_stand_in_the_order_of_their_ports_with_where_they_lead() -> None:
    rows = wires(
        fleet(cabled("ib10"), cabled("ib2", "p2"), Cable(Termination("x", "1"), Termination("y", "1"))), "gpu-01", ()
    )
    assert [(row.port, row.far.interface, row.place) for row in rows] == [
        ("ib2", "p2", "hall rack R9 U40"),
        ("ib10", "p1", "hall rack R9 U40"),
    ]  # fmt: skip


def test_a_link_that_a_check_saw_is_as_designed() -> None:
    (row,) = wires(fleet(cabled("ib0")), "gpu-01", (answered(INFINIBAND, Verdict.PASS, designed=8),))
    assert (row.stand, row.said, row.at, row.result) == (
        LinkStatus.AS_DESIGNED, "gpu-01 ib0 is connected to leaf-1 p1.", 9.0, 5,
    )  # fmt: skip


def test_the_other_end_of_a_cable_may_be_named_first() -> None:
    cable = Cable(Termination("gpu-01", "ib0"), Termination("leaf-1", "p1"))
    assert wires(fleet(cable), "gpu-01", ())[0].far == Termination("leaf-1", "p1")


@pytest.mark.parametrize("component", ["gpu-01 ib0, gpu-01 ib2", "leaf-1 p1, leaf-1 p2"])
def test_a_link_that_a_finding_names_differs(component: str) -> None:
    seen = (answered(INFINIBAND, Verdict.FAIL, found(component), designed=8),)
    rows = {row.port: row for row in wires(fleet(cabled("ib0"), cabled("ib10", "p10")), "gpu-01", seen)}
    assert (rows["ib0"].stand, rows["ib0"].said) == (LinkStatus.DIFFERS, "ib0 and ib2 are swapped")
    assert rows["ib10"].stand is LinkStatus.AS_DESIGNED


def test_a_finding_about_whole_devices_names_not_all_of_their_ports() -> None:
    dark = found("a 1, b 2, c 3, d 4", "gpu-01", "leaf-1")
    (row,) = wires(fleet(cabled("ib0")), "gpu-01", (answered(INFINIBAND, Verdict.FAIL, dark, designed=8),))
    assert row.stand is LinkStatus.DIFFERS


@pytest.mark.parametrize(
    ("cable", "latest", "said"),
    [
        (cabled("ib0", status="planned"), (), "The cable is planned."),
        (cabled("bmc"), (), "It is not checked: the node's own system does not see this port."),
        (cabled("gone"), (), "It is not checked: the node's own system does not see this port."),
        (cabled("ib0"), (), "No check of its cabling has been answered yet."),
        (cabled("eth0"), (answered(INFINIBAND, Verdict.PASS),), "No check of its cabling has been answered yet."),
        (cabled("eth0"), (answered(ETHERNET, Verdict.UNKNOWN, designed=1, silent=["eth0"]),), "it said so"),
        (cabled("ib0"), (answered(INFINIBAND, Verdict.UNKNOWN),), "it said so"),
        (cabled("ib0"), (answered(INFINIBAND, Verdict.SKIPPED, designed=8),), "it said so"),
        (
            cabled("ib0"),
            (answered(INFINIBAND, Verdict.FAIL, designed=8, **{UNSURE: [["gpu-01", "leaf-1"]]}),),
            "No answer from it.",
        ),
        (
            cabled("ib0"),
            (answered(INFINIBAND, Verdict.PASS, designed=8, **{UNSURE: ["leaf-1"]}),),
            "No answer from it.",
        ),
    ],
)  # fmt: skip
def test_what_nobody_can_tell_is_not_known(cable: Cable, latest: tuple[Stored, ...], said: str) -> None:
    (row,) = wires(fleet(cable), "gpu-01", latest)
    assert (row.stand, row.said) == (LinkStatus.NOT_KNOWN, said)


@pytest.mark.parametrize("unsure", ["leaf-1", 7, [7, None, [["gpu-01"]], ["gpu-01", "x"]]])
def test_odd_facts_say_nothing_of_a_link(unsure: object) -> None:
    seen = answered(INFINIBAND, Verdict.PASS, designed=8, silent="ib0", **{UNSURE: unsure})
    assert wires(fleet(cabled("ib0")), "gpu-01", (seen,))[0].stand is LinkStatus.AS_DESIGNED


def test_a_node_that_the_source_does_not_know_has_no_links() -> None:
    assert wires(fleet(cabled("ib0")), "gpu-99", ()) == ()
    (row,) = wires(fleet(Cable(Termination("gpu-99", "ib0"), Termination("leaf-1", "p1"))), "gpu-99", ())
    assert row.stand is LinkStatus.NOT_KNOWN
