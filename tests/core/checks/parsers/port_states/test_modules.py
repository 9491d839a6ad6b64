"""What modules in switches' ports measure beyond their own limits."""

import json

import pytest

from fleet_runner.core.checks.parsers.port_states import junos, nxos, sonic
from fleet_runner.core.checks.parsers.port_states.modules import (
    MOST,
    RX_POWER,
    TEMPERATURE,
    TX_POWER,
    Measured,
    ModuleAlarm,
    alarms,
    measure,
    read,
    written,
)
from tests.core.checks.switch_answers import JUNOS, NXOS, SONIC


def test_nxos_tells_light_of_each_lane_and_the_modules_temperature_once() -> None:
    """A copper cable measures nothing, nor does an empty port; of a lane whose value is N/A nothing is told."""
    found = nxos.read(NXOS)
    assert found["Ethernet1/2"].alarms == (
        ModuleAlarm(TEMPERATURE, 0, 76.5, 75.0),
        ModuleAlarm(RX_POWER, 2, -11.3, -9.4),
    )
    assert found["Ethernet1/1"].alarms == found["Ethernet1/3"].alarms == ()
    one = json.loads(NXOS["modules"])["TABLE_interface"]["ROW_interface"][1]
    one["TABLE_lane"]["ROW_lane"] = one["TABLE_lane"]["ROW_lane"][1]
    alone = nxos.read(NXOS | {"modules": json.dumps({"TABLE_interface": {"ROW_interface": one}})})
    assert set(alone["Ethernet1/2"].alarms) == set(found["Ethernet1/2"].alarms)


def test_junos_tells_light_of_lanes_and_of_modules_that_have_one() -> None:
    """A limit of 0.00 was not filled in; "- Inf" is a lane without light, which is told elsewhere."""
    found = junos.read(JUNOS)
    assert found["et-0/0/2"].alarms == (ModuleAlarm(RX_POWER, 1, -12.04, -9.4),)
    assert found["et-0/0/4"].alarms == (ModuleAlarm(TEMPERATURE, 0, 79.0, 78.0),)
    assert found["et-0/0/1"].alarms == found["et-0/0/3"].alarms == ()
    dim = JUNOS["modules"].replace('"-3.02"', '"-14.5"')
    assert ModuleAlarm(RX_POWER, 0, -14.5, -13.9) in junos.read(JUNOS | {"modules": dim})["et-0/0/4"].alarms
    assert junos.read(JUNOS | {"modules": "error: command is not valid"})["et-0/0/2"].alarms == ()


def test_sonic_tells_light_of_a_port_that_is_up_and_has_its_module_alone() -> None:
    found = sonic.read(SONIC)
    assert found["Ethernet8"].alarms == (
        ModuleAlarm(TEMPERATURE, 0, 75.6, 75.0),
        ModuleAlarm(RX_POWER, 3, -10.7, -9.399),
        ModuleAlarm(RX_POWER, 8, -12.1, -9.399),
    )
    assert found["Ethernet0"].alarms == found["Ethernet16"].alarms == found["Ethernet24"].alarms == ()
    shared = sonic.read(SONIC | {"modules": SONIC["modules"].replace("A0001", "A0002")})
    assert shared["Ethernet8"].alarms == (ModuleAlarm(TEMPERATURE, 0, 75.6, 75.0),)
    down = SONIC["status"].replace("routed    up     up", "routed  down     up")
    assert sonic.read(SONIC | {"status": down})["Ethernet8"].alarms == ()
    assert sonic.read(SONIC | {"modules": "Usage: show interfaces transceiver\n"})["Ethernet8"].alarms == ()


@pytest.mark.parametrize(
    ("what", "numbers", "limit"),
    [
        (TEMPERATURE, (81.0, 0.0, 80.0), 80.0),
        (TEMPERATURE, (-6.0, -5.0, 80.0), -5.0),
        (TEMPERATURE, (80.0, 0.0, 80.0), None),
        (TEMPERATURE, (81.0, 0.0, 0.0), None),
        (TEMPERATURE, (255.9, 0.0, 80.0), None),
        (TEMPERATURE, (81.0, None, 80.0), None),
        (TEMPERATURE, (81.0, 0.0, None), None),
        (TEMPERATURE, (None, 0.0, 80.0), None),
        (RX_POWER, (3.0, -9.0, 2.5), 2.5),
        (RX_POWER, (3.0, -9.0, 0.0), None),
        (RX_POWER, (-40.0, -9.0, 2.5), None),
        (TX_POWER, (-9.5, -9.0, 2.5), -9.0),
    ],
)
def test_a_value_alarms_only_against_limits_that_make_sense(
    what: str, numbers: tuple[float | None, float | None, float | None], limit: float | None
) -> None:
    value, low, high = numbers
    expected = () if limit is None or value is None else (ModuleAlarm(what, 1, value, limit),)
    assert alarms([Measured(what, 1, value, low, high)]) == expected


def test_what_a_sweep_keeps_is_read_again_and_nothing_else() -> None:
    told = (ModuleAlarm(RX_POWER, 3, -10.7, -9.4), ModuleAlarm(TEMPERATURE, 0, 80.0, 75.0))
    assert read(json.loads(json.dumps(written(told)))) == told
    assert read([["rx_power", 1, -9, -8]]) == (ModuleAlarm(RX_POWER, 1, -9.0, -8.0),)
    for odd in (5, [5], [["volts", 1, 2.0, 1.0]], [["rx_power", "1", 2.0, 1.0]], [["rx_power", 1, 2.0]],
                [["rx_power", 1, float("inf"), 1.0]], [["rx_power", 1, 2.0, float("nan")]]):  # fmt: skip
        assert read(odd) == ()
    assert len(read([["rx_power", 1, -9, -8]] * 99)) == MOST
    assert len(alarms([Measured(TEMPERATURE, 0, 99.0, 0.0, 70.0)] * 99)) == MOST


@pytest.mark.parametrize(
    ("told", "number"),
    [("-1.24", -1.24), ("43.105C", 43.105), ("0.9dBm", 0.9), ("32 degrees C / 90 degrees F", 32.0), ("-5", -5.0),
     ("-infdBm", None), ("- Inf", None), ("N/A", None), ("", None), (5.0, None), ("1e9", None), ("12345", None)],
)  # fmt: skip
def test_numbers_are_read_with_their_units(told: object, number: float | None) -> None:
    assert measure(told) == number
