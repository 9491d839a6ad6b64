"""What Dell OS10 and Cisco IOS XR print of their neighbours, which is no JSON."""

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.lldp import Neighbour
from fleet_runner.core.checks.parsers.neighbours.capture import begins, read
from tests.core.checks.catalogue.judging import cuts, text_of
from tests.examples import examples

OS10, XR = text_of("os10/lldp_detail.txt"), text_of("iosxr/lldp_detail.txt")
BOTH = pytest.mark.parametrize("text", [OS10, XR], ids=["os10", "iosxr"])

ROWS = {
    OS10: (
        Neighbour("ethernet1/1/1", "gpu-01", "02:00:00:00:02:01", "eth0"),
        Neighbour("ethernet1/1/2:1", "", "02:00:00:00:02:99", "NIC 25Gb QSFP"),
        Neighbour("ethernet1/1/49", "spine-01", "ethernet1/1/1", "ethernet1/1/1"),
        Neighbour("ethernet1/1/50", "spine-02", "", "et-0/0/7"),
    ),
    XR: (
        Neighbour("HundredGigE0/0/0/1", "gpu-01", "02:00:00:00:02:01", "eth0"),
        Neighbour("FourHundredGigE0/0/0/30", "spine-01", "FourHundredGigE0/0/0/3", ""),
    ),
}


@BOTH
def test_each_record_is_a_neighbour(text: str) -> None:
    assert begins(text)
    assert read(text).neighbours == ROWS[text]
    assert read(text.replace("\n", "\r\n")).neighbours == ROWS[text]


def test_the_prompt_says_which_switch_it_is() -> None:
    assert read(f"leaf-1# show lldp neighbors detail\n{OS10}leaf-1#") == ("leaf-1", ROWS[OS10])
    router = f"RP/0/RP0/CPU0:leaf-2#show lldp neighbors detail\n{XR}RP/0/RP0/CPU0:leaf-2#"
    assert read(router).neighbours == ROWS[XR]


def test_a_router_that_hears_nobody_says_so() -> None:
    assert read("Capability codes:\n        (R) Router\n\nTotal entries displayed: 0\n").neighbours == ()


def test_a_text_of_ios_xr_that_is_cut_is_refused() -> None:
    for cut in cuts(XR.rstrip()):
        with pytest.raises(EvidenceError):
            read(cut)


def test_a_record_of_os10_that_is_cut_is_refused_and_whole_ones_before_it_are_not_enough() -> None:
    """Between two records nothing tells that more was there: those links are not known."""
    for cut in cuts(OS10.rstrip()):
        with suppress(EvidenceError):
            found = read(cut).neighbours
            assert cut.rstrip().endswith("-" * 60)
            assert found == ROWS[OS10][: len(found)]
    with pytest.raises(EvidenceError, match="no line of dashes"):
        read(OS10[: OS10.index("Remote Max")])


def test_nobody_writes_a_record_of_another_port_into_a_description() -> None:
    """As long as LLDP allows; a control character is a part of a name as any other."""
    forged = (
        f"x\n{'-' * 75}\nRemote Chassis ID Subtype: Mac address (4)\nRemote Chassis ID: 0\nRemote Port Subtype: 5\n"
        "Remote Port ID: eth9\nLocal Port ID: ethernet1/1/9\nRemote System Name: gpu-09\n"
    )[:255]
    for old in ("eth0", "gpu-01", "Debian GNU/Linux 12", "NIC 25Gb QSFP"):
        found = read(OS10.replace(old, forged)).neighbours
        assert all(row.interface != "ethernet1/1/9" for row in found)
        assert {row for row in found if old not in row} <= {
            *ROWS[OS10],
            Neighbour("ethernet1/1/1", "x", *ROWS[OS10][0][2:]),
        }
    record = "x\nSystem Name: y\nLocal Interface: Te0/0/0/9\nChassis id: 1\nPort id: eth9\nPort Description: z"
    for old in ("eth0", "gpu-01", "Debian GNU/Linux 12"):
        with pytest.raises(EvidenceError, match="expected 2 as the switch counts"):
            read(XR.replace(old, record))
    with pytest.raises(EvidenceError, match="was it cut short"):
        read(XR.replace("Debian GNU/Linux 12", "x\nTotal entries displayed: 1\n").replace("displayed: 2", "shown: 2"))
    assert read(XR.replace("gpu-01", "\x1b[2Jgpu")).neighbours[0].system == "\x1b[2Jgpu"


@BOTH
@settings(max_examples=examples(100))
@given(data=st.data())
def test_any_bent_text_is_read_or_refused(text: str, data: st.DataObject) -> None:
    begin = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(begin, min(len(text), begin + 400)))
    bent = text[:begin] + data.draw(st.text(max_size=20)) + text[end:]
    with suppress(EvidenceError):
        for row in read(bent).neighbours:
            assert all(isinstance(cell, str) for cell in row)


def test_a_neighbour_with_a_name_of_4_kb_is_not_read_and_the_others_are() -> None:
    assert read(OS10.replace("gpu-01", "x" * 4096)).neighbours[1:] == ROWS[OS10][1:]
