"""What switches with Dell's OS10 say of their own ports."""

import pytest

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.port_states import os10
from fleet_runner.core.checks.parsers.port_states.port import (
    SwitchPort,
)
from tests.core.checks.switch_answers import OS10


def test_os10_tells_what_its_ports_do_and_not_for_which_priorities_pfc_is_on() -> None:
    """Of "not-supported" and of a port that is down, no FEC follows."""
    found = os10.read(OS10)
    assert found == {
        "ethernet1/1/1": SwitchPort(100_000, 9216, "rs"),
        "ethernet1/1/2": SwitchPort(40_000, 9216),
        "ethernet1/1/3": SwitchPort(None, 9216),
    }
    odd = {
        "": "names no port",
        "<?xml?><a/>": "names no port",
        "<?xml?><a>": "cannot be read",
        '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>': "defines entities",
    }
    for text, why in odd.items():
        with pytest.raises(EvidenceError, match=why):
            os10.read({"interfaces": text})
    other = OS10["interfaces"].replace("<name>ethernet1/1/1</name>", "<name>mgmt1/1/1</name>")
    assert "mgmt1/1/1" not in os10.read({"interfaces": other})
