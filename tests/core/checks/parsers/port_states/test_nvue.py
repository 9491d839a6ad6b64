"""What switches with Cumulus' NVUE say of their own ports."""

import json

import pytest

from fleet_runner.core.checks.parsers.port_states import nvue
from fleet_runner.core.checks.parsers.port_states.port import (
    DOWNS,
    SwitchPort,
)
from tests.core.checks.switch_answers import NVUE


def test_nvue_tells_settings_and_the_pfc_of_the_whole_switch() -> None:
    found = nvue.read(NVUE)
    assert found == dict.fromkeys(
        ("swp1", "swp2"), SwitchPort(400_000, 9216, "rs", frozenset({3}), ecn=frozenset({3}))
    )
    assert nvue.read(NVUE | {"roce": ""})["swp1"].pfc is None
    assert nvue.read(NVUE | {"roce": "{}"})["swp1"].pfc is None
    assert nvue.read({"interfaces": '{"swp1": {"type": "swp"}}'}) == {}
    words = {"rs": "rs", "baser": "baser", "off": "none", "auto": "", "driver-auto": ""}
    told = {f"swp{at}": {"type": "swp", "link": {"fec": word}} for at, word in enumerate(words)}
    assert [port.fec for port in nvue.read({"interfaces": json.dumps(told)}).values()] == [*words.values()]


@pytest.mark.parametrize(
    ("change", "pfc", "ecn"),
    [
        ({"congestion-control": {"congestion-mode": "ecn", "enabled-tc": "0"}}, {3}, set()),
        ({"congestion-control": {"congestion-mode": "ecn", "enabled-tc": "0,6"}}, {3}, None),
        (
            {"pfc": {"pfc-priority": "5"}, "congestion-control": {"congestion-mode": "ECN", "enabled-tc": "0"}},
            {5},
            None,
        ),
        ({"pfc": {"pfc-priority": "3,4"}}, {3, 4}, None),
        ({"mode": "lossless-single-ipool", "enable": None, "state": "enabled"}, {3}, {3}),
        ({"mode": "lossy", "enable": {}, "pfc": {"pfc-priority": "-"}}, set(), None),
        ({"mode": "lossy", "enable": None, "state": "disabled", "pfc": {"pfc-priority": "-"}}, None, None),
        ({"mode": "lossy", "enable": "off", "pfc": {"pfc-priority": "-"}}, None, None),
        ({"congestion-control": {"congestion-mode": "ECN", "enabled-tc": "-"}}, {3}, None),
        ({"congestion-control": {"congestion-mode": "RED", "enabled-tc": "0,3"}}, {3}, None),
        ({"congestion-control": None}, {3}, None),
        ({"mode": "lossy-multi-tc", "pfc": {"pfc-priority": "-"}}, set(), None),
        ({"mode": "lossy", "pfc": {"pfc-priority": "-"}}, set(), None),
        ({"pfc": {"pfc-priority": "-"}}, None, None),
    ],
)
def test_nvue_tells_ecn_of_priorities_with_pfc_and_that_a_lossy_mode_has_none(
    change: dict[str, object], pfc: set[int] | None, ecn: set[int] | None
) -> None:
    found = nvue.read(NVUE | {"roce": json.dumps(json.loads(NVUE["roce"]) | change)})["swp1"]
    assert (found.pfc, found.ecn) == (pfc, ecn)


@pytest.mark.parametrize(
    ("link", "downs"),
    [
        ({"stats": {"carrier-transitions": 7, "carrier-up-count": 4}}, 3),
        ({"stats": {"carrier-transitions": "7"}}, None),
        ({"stats": {}}, None),
        ({"stats": 5}, None),
        ({}, None),
    ],
)
def test_nvue_counts_each_change_of_the_carrier(link: dict[str, object], downs: int | None) -> None:
    told = json.dumps({"swp1": {"type": "swp", "link": link}})
    assert nvue.read({"interfaces": told})["swp1"].counts.get(DOWNS) == downs
