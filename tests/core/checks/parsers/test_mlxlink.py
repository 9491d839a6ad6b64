"""`mlxlink -m --json`: what a module measures of itself."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.mlxlink import Measured, parse
from tests.core.checks.catalogue.judging import cuts, text_of

OPTICAL = text_of("mlxlink/optical.json")
COPPER = text_of("mlxlink/copper.json")


def saying(**module: Any) -> str:
    """Return the optical module's answer with other values; `_` in a name stands for what JSON names hold."""
    raw = json.loads(OPTICAL)
    names = {"celsius": "Temperature [C]", "rx": "Rx Power Current [dBm]", "tx": "Tx Power Current [dBm]"}
    raw["result"]["output"]["Module Info"] |= {names.get(name, name): value for name, value in module.items()}
    return json.dumps(raw)


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(EvidenceError):
        parse(text)


@given(
    st.sampled_from(["celsius", "rx", "tx"]), st.text(max_size=20) | st.integers() | st.none() | st.lists(st.text())
)
def test_any_value_is_read_or_refused(name: str, value: Any) -> None:
    with suppress(EvidenceError):
        parse(saying(**{name: value}))


def test_no_beginning_of_an_answer_is_an_answer() -> None:
    for cut in cuts(OPTICAL.rstrip()):
        with pytest.raises(EvidenceError):
            parse(cut)


def test_a_module_is_read_with_its_own_ranges() -> None:
    module = parse(OPTICAL)
    assert module is not None
    assert module.active
    assert (module.model, module.serial) == ("MMA4Z00-NS400", "MT2344FT00001")
    assert module.celsius == Measured((61.0,), -10.0, 80.0)
    assert module.rx_dbm == Measured((1.886, 1.989, 2.281, 1.976), -10.41, 6.0)
    assert module.tx_dbm is not None
    assert module.tx_dbm.outside == ()


def test_a_copper_cable_measures_nothing() -> None:
    """It says 0 in a range from 0 to 0, or N/A: neither is a temperature."""
    assert parse(COPPER) is None
    assert parse(saying(celsius="N/A", rx="N/A", tx=" n/a ")) is None


def test_what_one_module_does_not_measure_leaves_the_rest() -> None:
    module = parse(saying(rx="N/A", **{"Vendor Serial Number": "N/A", "Vendor Part Number": 7}))
    assert module is not None
    assert (module.rx_dbm, module.serial, module.model) == (None, "", "")
    assert module.celsius == Measured((61.0,), -10.0, 80.0)


@pytest.mark.parametrize(
    ("value", "measured"),
    [
        ("61 [-10..80]", Measured((61.0,), -10.0, 80.0)),
        ("61", Measured((61.0,))),
        ("-40,-40 [-10.4..6]", Measured((-40.0, -40.0), -10.4, 6.0)),
        ("61 [0..0]", Measured((61.0,))),
        ("61 [80..-10]", Measured((61.0,))),
        ("0 [-10..80]", Measured((0.0,), -10.0, 80.0)),
    ],
)
def test_a_value_is_read_with_or_without_its_range(value: str, measured: Measured) -> None:
    """A range that holds nothing is none: firmware that does not know it fills in zeros."""
    module = parse(saying(celsius=value))
    assert module is not None
    assert module.celsius == measured


def test_values_outside_of_their_range_are_told() -> None:
    assert Measured((1.0, -12.0, 7.0), -10.4, 6.0).outside == (-12.0, 7.0)
    assert Measured((99.0,)).outside == ()


def test_a_port_that_is_down_is_not_active() -> None:
    module = parse(OPTICAL.replace('"Active"', '"Polling"'))
    assert module is not None
    assert not module.active


def test_an_answer_without_the_ports_state_is_of_a_port_that_is_not_active() -> None:
    raw = json.loads(OPTICAL)
    del raw["result"]["output"]["Operational Info"]
    module = parse(json.dumps(raw))
    assert module is not None
    assert not module.active


@pytest.mark.parametrize("message", ["No cable connected", "Cable is unplugged", "Module is not present"])
def test_an_empty_cage_has_nothing_to_judge(message: str) -> None:
    assert parse(json.dumps({"status": {"code": 1, "message": message}})) is None


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is not JSON"),
        ("{}", "no status code"),
        ('{"status": 0}', "no status code"),
        ('{"status": {"code": 1, "message": "ICMD semaphore is taken"}}', "status 1: ICMD semaphore"),
        ('{"status": {"code": 0}}', "'result' is None"),
        ('{"status": {"code": 0}, "result": {"output": {}}}', "'Module Info' is None"),
        (saying(celsius="61 C"), r"Temperature \[C\] is '61 C', expected numbers like"),
        (saying(celsius="15E-255"), "expected numbers like"),
        (saying(rx=["1.9"]), "expected numbers like"),
    ],
)
def test_what_is_no_answer_says_why(text: str, says: str) -> None:
    with pytest.raises(EvidenceError, match=says):
        parse(text)
