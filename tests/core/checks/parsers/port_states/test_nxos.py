"""What switches with NX-OS say of their own ports."""

import json

import pytest

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.port_states import nxos
from fleet_runner.core.checks.parsers.port_states.port import (
    LOSSLESS_DROPS,
    STORM_DROPS,
    STORMS,
    SwitchPort,
)
from tests.core.checks.switch_answers import NXOS


def test_nxos_tells_settings_and_queues_that_its_watchdog_shut() -> None:
    """Its PFC bits are hexadecimal: 28 are priorities 3 and 5. A port that is down tells none."""
    found = nxos.read(NXOS | {"modules": ""})
    told = {STORMS: 0, STORM_DROPS: 5, LOSSLESS_DROPS: 121}
    assert found["Ethernet1/1"] == SwitchPort(400_000, 9216, "rs", frozenset({3}), told)
    told = {STORMS: 2, STORM_DROPS: 905, LOSSLESS_DROPS: 40}
    assert found["Ethernet1/2"] == SwitchPort(400_000, 9216, "", frozenset({3, 5}), told, dcbx=True)
    assert found["Ethernet1/3"] == SwitchPort(None, 1500, "", None, {})
    assert set(found) == {"Ethernet1/1", "Ethernet1/2", "Ethernet1/3"}
    alone = nxos.read({"interfaces": NXOS["interfaces"], "pfc": ""})
    assert alone["Ethernet1/2"] == SwitchPort(400_000, 9216)
    assert alone["Ethernet1/1"] == SwitchPort(400_000, 9216, "rs")
    with pytest.raises(EvidenceError, match="names no port"):
        nxos.read({"interfaces": '{"TABLE_interface": {"ROW_interface": {"interface": 5}}}'})


def test_nxos_tells_drops_of_queues_that_should_lose_nothing_where_it_says_which_these_are() -> None:
    """Two releases call them differently; a group that has no number, or no PFC, is left out."""
    for gone, first, second in (("watchdog", 121, 40), ("pfc", None, None), ("queues", None, None)):
        found = nxos.read({name: text for name, text in NXOS.items() if name != gone})
        told = [found[name].counts.get(LOSSLESS_DROPS) for name in ("Ethernet1/1", "Ethernet1/2", "Ethernet1/3")]
        assert told == [first, second, None], gone
    unsaid = nxos.read(NXOS | {"queues": NXOS["queues"].replace('"pfc-qosgrp": "3"', '"pfc-qosgrp": "-"')})
    assert (LOSSLESS_DROPS in unsaid["Ethernet1/1"].counts, unsaid["Ethernet1/2"].counts[LOSSLESS_DROPS]) == (
        False,
        30,
    )


@pytest.mark.parametrize(
    ("told", "pfc"),
    [
        ("On   Off    ", frozenset[int]()),
        ("Auto Off    ", frozenset[int]()),
        ("Off  Off    ", frozenset[int]()),
        ("On   On (8) ", frozenset({3})),
        ("On   On (0) ", None),
        ("On   On     ", None),
        ("On   On (sobm) ", None),
        ("On   Maybe (8) ", None),
    ],
)
def test_nxos_pfc_that_is_on_for_nobody_knows_what_is_not_known(told: str, pfc: frozenset[int] | None) -> None:
    found = nxos.read(NXOS | {"pfc": f"Ethernet1/1        {told}  0          0\r\n"})
    assert (found["Ethernet1/1"].pfc, found["Ethernet1/1"].dcbx) == (pfc, told.startswith("Auto"))


def test_nxos_may_write_one_row_without_a_list() -> None:
    row = {"interface": "Ethernet1/1", "state": "up", "eth_mtu": 9216, "eth_speed": "100 Gb/s"}
    one = {"interfaces": json.dumps({"TABLE_interface": {"ROW_interface": row}})}
    assert nxos.read(one) == {"Ethernet1/1": SwitchPort(100_000, 9216)}
