"""Addresses in the one form that records keep."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.inventory import addresses


@pytest.mark.parametrize("text", ["02:AB:00:00:00:01", "02-ab-00-00-00-01", "02ab.0000.0001", " 02ab00000001 "])
def test_a_mac_address_in_any_usual_form(text: str) -> None:
    assert addresses.mac(text) == "02:ab:00:00:00:01"


@pytest.mark.parametrize("text", ["0xB83FD20300000100", "b8:3f:d2:03:00:00:01:00", "b83f.d203.0000.0100"])
def test_a_guid_in_any_usual_form(text: str) -> None:
    assert addresses.guid(text) == "b83fd20300000100"


def test_an_address_without_its_mask() -> None:
    assert addresses.ip("10.0.0.1/24") == "10.0.0.1"
    assert addresses.ip("FD00::0:1/64") == "fd00::1"


@given(st.text())
def test_other_text_is_none(text: str) -> None:
    for form in (addresses.mac, addresses.guid, addresses.ip):
        found = form(text)
        assert found is None or form(found) == found
    assert addresses.mac(f"{text}g") is addresses.guid(f"{text}g") is None
