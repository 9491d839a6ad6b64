"""What switches with Arista's EOS say of their own ports."""

import json

import pytest

from fleet_runner.core.checks.parsers.port_states import eos
from fleet_runner.core.checks.parsers.port_states.port import (
    DOWNS,
    STORMS,
    UNCORRECTED,
    SwitchPort,
)
from tests.core.checks.switch_answers import EOS


def test_eos_tells_settings_what_the_last_chip_did_not_correct_and_storms() -> None:
    """Of a port with a retimer, what faces the cable counts."""
    found = eos.read(EOS)
    assert found["Ethernet1/1"] == SwitchPort(400_000, 9214, "rs", None, {UNCORRECTED: 7, STORMS: 0, DOWNS: 1})
    assert found["Ethernet2/1"] == SwitchPort(400_000, 9214, "rs", None, {UNCORRECTED: 11, STORMS: 5, DOWNS: 1})
    assert found["Management1"] == SwitchPort(1000, 1500)
    alone = eos.read({"interfaces": EOS["interfaces"], "phy": "", "watchdog": "% Invalid input"})
    assert alone["Ethernet2/1"] == SwitchPort(400_000, 9214, "", None, {DOWNS: 1})
    odd = eos.read({"interfaces": json.dumps({"interfaces": {"Et1": {"interfaceCounters": {}}, "Et2": 5}})})
    assert odd == {"Et1": SwitchPort()}


LINE = {"description": {"location": "line"}}


@pytest.mark.parametrize(
    ("chips", "fec", "lost"),
    [
        ([{"fec": {"encoding": "reedSolomon", "uncorrectedCodewords": {"value": 4}}}], "rs", 4),
        ([LINE | {"fec": {"encoding": "fireCode", "perLaneUncorrectedFecBlocks": [{"value": 2}, {"value": 3}]}}],
         "baser", 5),
        ([LINE | {"fec": {"encoding": "fireCode", "perLaneUncorrectedFecBlocks": [{"value": 2}, 5]}}], "baser", None),
        ([LINE | {"fec": {"encoding": "reedSolomon", "uncorrectedCodewords": {"value": 4}}}, LINE], "", None),
        ([LINE | {"fec": {"encoding": "disabled"}}], "", None),
        ([{"fec": {"encoding": "reedSolomon"}}, {"fec": {"encoding": "reedSolomon"}}], "", None),
        ([], "", None),
        ([5], "", None),
        ("linkUp", "", None),
    ],
)  # fmt: skip
def test_eos_tells_fec_only_of_a_chip_that_surely_faces_the_cable(chips: object, fec: str, lost: int | None) -> None:
    phy = json.dumps({"interfacePhyStatuses": {"Ethernet1/1": {"phyStatuses": chips}}})
    found = eos.read({"interfaces": EOS["interfaces"], "phy": phy})["Ethernet1/1"]
    assert (found.fec, found.counts.get(UNCORRECTED)) == (fec, lost)
    down = EOS["interfaces"].replace('"connected"', '"notconnect"')
    assert eos.read({"interfaces": down, "phy": phy})["Ethernet1/1"].fec == ""
