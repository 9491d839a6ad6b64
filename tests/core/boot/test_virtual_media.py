"""Which slot of a BMC takes our medium, whose is in it, and what a refused request is missing."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.boot.virtual_media import (
    Choice,
    choose,
    connected,
    ejection,
    insertion,
    more,
    ours,
    switched_off,
    taken,
    unlicensed,
)

ADDRESS = "http://10.0.0.1:8480/loader/ipxe.iso"
ACTIONS = {
    "#VirtualMedia.InsertMedia": {"target": "/vm/Actions/VirtualMedia.InsertMedia"},
    "#VirtualMedia.EjectMedia": {"target": "/vm/Actions/VirtualMedia.EjectMedia"},
}
FREE: dict[str, Any] = {"MediaTypes": ["CD", "DVD"], "Inserted": False, "Image": None, "Actions": ACTIONS}
OURS = {**FREE, "Inserted": True, "Image": ADDRESS, "ConnectedVia": "URI"}
THEIRS = {**FREE, "Inserted": True, "Image": "http://user:secret@10.0.0.9/rescue.iso?key=secret"}
STICK = {**THEIRS, "MediaTypes": ["USBStick", "Floppy"]}


@pytest.mark.parametrize(
    ("slots", "slot"),
    [
        ({"/1": FREE}, "/1"),
        ({"/1": FREE, "/2": OURS}, "/2"),
        ({"/1": STICK, "/2": FREE}, "/2"),
        ({"/1": {**FREE, "Actions": {}}, "/2": FREE}, "/2"),
    ],
)
def test_our_own_slot_comes_first_then_one_that_is_free(slots: Any, slot: str) -> None:
    assert choose(slots, ADDRESS) == Choice(slot)


def test_somebody_elses_medium_stays_and_ours_does_not_go_beside_it() -> None:
    found = choose({"/1": OURS, "/2": THEIRS}, ADDRESS)
    assert found.slot == ""
    assert found.why.startswith("/2 has a medium in it that is not ours ('rescue.iso'), and it stays there")
    assert "secret" not in found.why


def test_one_without_a_name_is_somebody_elses_too() -> None:
    nameless = {**FREE, "Inserted": True, "ConnectedVia": "Applet"}
    assert "(without a name)" in choose({"/1": nameless}, ADDRESS).why


@pytest.mark.parametrize(
    "slots", [{}, {"/1": STICK}, {"/1": {**FREE, "Actions": None}}, {"/1": {**FREE, "MediaTypes": "CD"}}]
)
def test_where_there_is_no_slot_that_is_said(slots: Any) -> None:
    assert choose(slots, ADDRESS).why == (
        f"of its {len(slots)} slots for virtual media none takes an image by its address"
    )


def test_a_lenovo_without_actions_is_changed_where_no_upload_goes() -> None:
    plain = {name: value for name, value in FREE.items() if name != "Actions"}
    slots = {"/r": {**plain, "Id": "RDOC1"}, "/s": {**plain, "Id": "Remote1"}, "/e": {**plain, "Id": "EXT1"}}
    assert choose(slots, ADDRESS, patched=True) == Choice("/e")
    assert choose(slots, ADDRESS).slot == ""
    assert choose({**slots, "/a": FREE}, ADDRESS, patched=True) == Choice("/a")


@pytest.mark.parametrize(
    ("said", "mine"),
    [
        ({"Image": ADDRESS}, True),
        ({"Image": "http://10.0.0.9/loader/ipxe.iso"}, False),  # another fleet's
        ({"Image": "ipxe.iso"}, True),
        ({"Image": None, "ImageName": "ipxe.iso"}, True),
        ({"Image": "\\share\\ipxe.iso"}, True),
        ({"ImageName": "other.iso"}, False),
        ({}, False),
    ],
)
def test_a_medium_is_ours_by_its_address_or_by_its_name_alone(said: Any, mine: object) -> None:
    assert ours(said, ADDRESS) is mine


def test_what_is_in_a_slot_and_connected() -> None:
    assert taken({"Inserted": True})
    assert not taken({"Inserted": False, "Image": ADDRESS})
    assert taken({"Image": ADDRESS})
    assert not taken({"Inserted": None, "Image": ""})
    assert connected({"Inserted": True})
    assert connected({"Inserted": True, "ConnectedVia": "URI"})
    assert not connected({"Inserted": True, "ConnectedVia": "NotConnected"})
    assert not connected({"Inserted": False, "ConnectedVia": "URI"})


def test_actions_are_read_as_they_are_offered() -> None:
    assert insertion(FREE) == "/vm/Actions/VirtualMedia.InsertMedia"
    assert ejection(FREE) == "/vm/Actions/VirtualMedia.EjectMedia"
    assert ejection({"Actions": {"#VirtualMedia.EjectMedia": {"target": 7}}}) == ""


def test_what_a_bmc_misses_goes_along_the_next_time() -> None:
    first = {"Image": ADDRESS}
    second = more(first, "the parameter TransferProtocolType is missing")
    assert second == {**first, "TransferProtocolType": "HTTP"}
    assert more(second, "TransferProtocolType and TransferMethod") == {**second, "TransferMethod": "Stream"}
    assert more(second, "TransferProtocolType is wrong") is None
    assert more(first, "the slot is in use") is None
    assert more({"Image": "https://x/a.iso"}, "TransferProtocolType") == {
        "Image": "https://x/a.iso",
        "TransferProtocolType": "HTTPS",
    }


@given(words=st.text())
def test_a_request_grows_to_an_end(words: str) -> None:
    said = f"{words} Inserted WriteProtected TransferMethod TransferProtocolType"
    body: Any = {"Image": ADDRESS}
    for _ in range(4):
        body = more(body, said)
    assert more(body, said) is None


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("iLO.2.14.LicenseKeyRequired", True),
        ("Not licensed to perform this request. The following licenses SFT-DCMS-SINGLE were needed", True),
        ("ResourceInUse", False),
    ],
)
def test_a_missing_licence_is_known_by_its_words(words: str, found: object) -> None:
    assert unlicensed(words) is found


@pytest.mark.parametrize(
    ("manager", "system", "why"),
    [
        ({"Oem": {"Ami": {"VirtualMedia": {"RMediaStatus": "Disabled"}}}}, {}, "its Oem.Ami.VirtualMedia.RMedia"),
        ({"Oem": {"Ami": {"VirtualMedia": {"RMediaStatus": "Enabled"}}}}, {}, ""),
        ({}, {"VirtualMediaConfig": {"ServiceEnabled": False}}, "its system's VirtualMediaConfig"),
        ({}, {"VirtualMediaConfig": {"ServiceEnabled": True}}, ""),
        ({"Oem": None}, {}, ""),
    ],
)
def test_a_setting_without_which_there_is_none_is_named(manager: Any, system: Any, why: str) -> None:
    found = switched_off(manager, system)
    assert found.startswith(why)
    assert bool(found) is bool(why)
