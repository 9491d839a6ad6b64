"""A NetBox that is half filled, wrong, slow, or no NetBox at all."""

import json
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from fleet_runner.adapters import netbox
from fleet_runner.adapters.netbox import client
from fleet_runner.core.base.errors import SourceError
from fleet_runner.core.inventory.records import Cable, Device, DeviceType, Fleet, Interface, Part, Rack, Termination
from tests.adapters.netbox.standin import TOKEN, Row, Standin, as_netbox, serving, termination

QUICK = netbox.Timeouts(connect_seconds=30, read_seconds=60, retries=2, backoff_seconds=0.01)
PORTS = (Interface("ib0", "infiniband-ndr"), Interface("ib1", "infiniband-ndr"))
NODE = Device("gpu-1", "hgx", "gpu-server", "hall", interfaces=PORTS)
LEAF = Device("leaf-1", "hgx", "leaf", "hall", interfaces=PORTS)
FLEET = Fleet(
    sites=("hall",),
    racks={"hall/A1": Rack("A1", "hall", 20)},
    device_types={"hgx": DeviceType("hgx", "Maker", "HGX", 8.0, PORTS)},
    devices={"gpu-1": NODE, "leaf-1": LEAF},
    cables=(Cable(Termination("gpu-1", "ib0"), Termination("leaf-1", "ib0")),),
)
GPU_1, LEAF_1 = 1, 2  # their ids
IB0, IB1, LEAF_IB0, LEAF_IB1 = 1, 2, 3, 4  # the interfaces' ids


@pytest.fixture
def standin() -> Iterator[Standin]:
    """A NetBox with one node and one leaf."""
    with serving(as_netbox(FLEET)) as serves:
        yield serves


def load(standin: Standin, token: str = TOKEN) -> Fleet:
    """Read the stand-in."""
    return netbox.load(standin.url, token, QUICK)


def refusal(standin: Standin, token: str = TOKEN) -> str:
    """Why the stand-in cannot be read."""
    with pytest.raises(SourceError) as caught:
        load(standin, token)
    assert token not in str(caught.value)
    return str(caught.value)


def test_only_the_fields_that_are_needed_are_asked_for_in_large_pages(standin: Standin) -> None:
    load(standin)
    assert len(standin.asked) == 10
    assert all("fields=" in asked and "limit=1000" in asked for asked in standin.asked)
    assert standin.authorizations == {f"Token {TOKEN}"}


def test_a_token_of_netbox_4_5_is_sent_as_a_bearer(standin: Standin) -> None:
    with pytest.raises(SourceError, match="HTTP 403"):
        load(standin, "nbt_abc.def")
    assert standin.authorizations == {"Bearer nbt_abc.def"}


@pytest.mark.parametrize("end", ["", "/", "/api", "/api/"])
def test_the_address_may_be_written_as_people_do(standin: Standin, end: str) -> None:
    assert netbox.load(standin.url + end, TOKEN, QUICK).devices


def test_every_page_is_read(standin: Standin) -> None:
    standin.lists["sites"] = [{"id": number, "name": f"site {number}"} for number in range(2500)]
    standin.lists["sites"].append({"id": 3000, "name": "hall"})
    assert len(load(standin).sites) == 2501


def test_a_refused_token_says_so_and_is_not_shown(standin: Standin) -> None:
    assert "does not accept the token (HTTP 403); put a valid one into its file" in refusal(standin, "another-token")
    standin.before.append((401, "application/json", b"{}"))
    assert "HTTP 401" in refusal(standin)


@pytest.mark.parametrize("token", ["", "a b", "a\nb", "é"])
def test_a_token_that_no_header_can_carry_is_refused(standin: Standin, token: str) -> None:
    with pytest.raises(SourceError, match="token is empty or holds spaces") as caught:
        load(standin, token)
    assert not token or token not in str(caught.value)
    assert standin.asked == []


@pytest.mark.parametrize(
    "url", ["ftp://x", "netbox.example", "https://", "https://user:secret@x", "https://x/?a=b", "//x"]
)
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(SourceError, match="not the address of a NetBox") as caught:
        netbox.load(url, TOKEN)
    assert "secret" not in str(caught.value)


def test_a_page_that_is_no_json_is_no_netbox(standin: Standin) -> None:
    standin.before.append((200, "text/html", b"<html>Log in</html>"))
    assert "gave 'text/html', expected JSON; check that source is the address of a NetBox" in refusal(standin)


def test_another_address_of_the_same_server_is_no_netbox(standin: Standin) -> None:
    with pytest.raises(SourceError, match="HTTP 404"):
        netbox.load(f"{standin.url}/elsewhere", TOKEN, QUICK)


@pytest.mark.parametrize("status", [0, 500, 502, 503, 504, 429])
def test_what_passes_is_tried_again(standin: Standin, status: int) -> None:
    standin.before.extend([(status, "text/plain", b"")] * 2)
    assert load(standin).devices


@pytest.mark.parametrize(
    ("status", "said"), [(0, "cannot be reached for"), (503, "gave HTTP 503; check NetBox's log")]
)
def test_what_does_not_pass_is_an_error_after_a_while(standin: Standin, status: int, said: str) -> None:
    standin.before.extend([(status, "text/plain", b"")] * 10)
    assert said in refusal(standin)
    assert len(standin.asked) == 1 + QUICK.retries


def test_a_netbox_that_hangs_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as hangs:
        url = f"http://127.0.0.1:{hangs.getsockname()[1]}"
        with pytest.raises(SourceError, match="no answer for dcim/sites in time"):
            netbox.load(url, TOKEN, netbox.Timeouts(0.2, 0.2, 0, 0))


def test_nobody_there_is_said() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
    with pytest.raises(SourceError, match="cannot be reached for dcim/sites"):
        netbox.load(url, TOKEN, QUICK)


def test_a_certificate_that_nobody_trusts_is_said(standin: Standin) -> None:
    with pytest.raises(SourceError, match="cannot trust its certificate"):
        netbox.load(standin.url.replace("http:", "https:"), TOKEN, QUICK)


def test_a_file_of_certificates_that_is_not_there_is_said(standin: Standin, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing but an error of the source of truth: with that the fleet goes on."""
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", "/nowhere/ca.pem")
    with pytest.raises(SourceError, match="check whether REQUESTS_CA_BUNDLE names a file"):
        netbox.load(standin.url.replace("http:", "https:"), TOKEN, QUICK)


def test_a_netrc_does_not_replace_the_token(
    standin: Standin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password mine\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    load(standin)
    assert standin.authorizations == {f"Token {TOKEN}"}


def test_the_token_goes_to_no_other_server(standin: Standin) -> None:
    with serving(as_netbox(FLEET)) as other:
        standin.before.append((302, "text/plain", f"{other.url}/api/dcim/sites/".encode()))
        assert "it points to another server" in refusal(standin)
        standin.before.clear()
        many = {"count": 9, "next": f"{other.url}/api/dcim/sites/", "results": [{"id": 1, "name": "x"}]}
        standin.before.extend([(200, "application/json", json.dumps(many).encode())] * 2)
        assert "it points to another server" in refusal(standin)
        assert other.asked == []


@pytest.mark.parametrize(
    "change",
    [
        lambda answer: answer | {"results": [1, 2]},
        lambda answer: answer | {"results": "abc"},
        lambda answer: answer | {"count": None},
        lambda answer: answer | {"results": None},
        lambda answer: {"results": answer["results"]},
        lambda answer: answer | {"results": [{}] * answer["count"]},
        lambda answer: answer | {"results": [dict.fromkeys(row) for row in answer["results"]]},
        lambda answer: answer | {"results": [dict.fromkeys(row, "x") for row in answer["results"]]},
        lambda answer: answer | {"results": [{key: {} for key in row} for row in answer["results"]]},
        lambda answer: answer | {"results": [dict.fromkeys(row, 1) for row in answer["results"]]},
    ],
)
def test_an_answer_of_another_form_is_an_error_and_nothing_else(
    standin: Standin, change: Callable[[Row], Row]
) -> None:
    standin.change = change
    assert "NetBox" in refusal(standin)


@pytest.mark.parametrize("results", [[], [{"id": 1, "name": "hall"}]])
def test_pages_without_an_end_are_given_up(
    standin: Standin, results: list[Row], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "PAGES", 5)
    standin.change = lambda _: {"count": 1, "next": f"{standin.url}/api/dcim/sites/?fields=id", "results": results}
    assert "its list has more than 5 pages" in refusal(standin)


@pytest.mark.parametrize(("bound", "said"), [("BYTES", "than 9 bytes"), ("BODY_SECONDS", "than -1 seconds")])
def test_an_answer_without_an_end_is_given_up(
    standin: Standin, monkeypatch: pytest.MonkeyPatch, bound: str, said: str
) -> None:
    """One that never ends, or comes by a byte a minute, holds neither memory nor the runner."""
    monkeypatch.setattr(client, bound, 9 if bound == "BYTES" else -1.0)
    assert f"its list takes more {said}" in refusal(standin)


def test_a_list_that_changes_while_it_is_read_is_read_again(standin: Standin) -> None:
    short = {"count": 2, "next": None, "results": [{"id": 1, "name": "hall"}]}
    standin.before.append((200, "application/json", json.dumps(short).encode()))
    assert load(standin).devices
    standin.before.extend([(200, "application/json", json.dumps(short).encode())] * 3)
    assert "dcim/sites gave 1 rows, expected the 2 that NetBox counts, 3 times" in refusal(standin)


def test_a_device_that_is_half_filled_is_fine(standin: Standin) -> None:
    empty: dict[str, Any] = dict.fromkeys(
        ("rack", "position", "face", "oob_ip", "primary_ip", "tenant", "config_context")
    )
    standin.lists["devices"][0].update(empty | {"serial": "", "custom_fields": {}})
    standin.lists["inventory-items"].append(
        {"id": 1, "device": {"id": GPU_1}, "name": "GPU 0", "role": None, "part_id": "", "serial": ""}
    )
    module_type = {"model": "H100"}
    standin.lists["modules"].append(
        {"id": 1, "device": {"id": GPU_1}, "module_bay": {"name": "SXM"}, "module_type": module_type, "serial": ""}
    )
    assert load(standin).devices["gpu-1"] == Device(
        "gpu-1", "hgx", "gpu-server", "hall", interfaces=PORTS, parts=(Part("GPU 0", "", ""), Part("SXM", "", "H100"))
    )


def test_what_has_no_name_is_left_out_with_its_cables(standin: Standin) -> None:
    standin.lists["devices"][1]["name"] = None
    for row in standin.lists["interfaces"]:
        if row["device"]["id"] == LEAF_1:
            row["device"] = row["device"] | {"name": None}
    found = load(standin)
    assert list(found.devices) == ["gpu-1"]
    assert found.cables == ()


def test_a_node_without_a_name_is_left_out_and_said(standin: Standin) -> None:
    standin.lists["devices"][0]["name"] = None
    found = load(standin)
    assert list(found.devices) == ["leaf-1"]
    (note,) = found.notes
    assert note == f"{standin.url}/dcim/devices/1/: found a gpu-server without a name; name it; it is left out"


def test_device_types_that_no_device_has_are_left_out(standin: Standin) -> None:
    standin.lists["device-types"].append(standin.lists["device-types"][0] | {"id": 9, "slug": "unused"})
    standin.lists["interface-templates"].append(
        {"id": 9, "device_type": None, "name": "of a module", "type": {"value": "other"}}
    )
    assert list(load(standin).device_types) == ["hgx"]


def test_a_device_with_a_value_that_means_nothing_is_left_out_with_its_page(standin: Standin) -> None:
    standin.lists["devices"][1]["custom_fields"] = {"fleet_management": "nobody"}
    found = load(standin)
    assert list(found.devices) == ["gpu-1"]
    assert found.unread["leaf-1"].startswith(f"{standin.url}/dcim/devices/2/: found a record")
    assert "'nobody' is not a valid Management" in found.unread["leaf-1"]
    assert found.uncompared == (Termination("gpu-1", "ib0"),)


def test_a_cable_with_one_end_is_left_out_with_its_page(standin: Standin) -> None:
    standin.lists["cable-terminations"].pop()
    found = load(standin)
    assert (found.cables, found.uncompared) == ((), (Termination("gpu-1", "ib0"),))
    assert "dcim/cables/1/: the cable has 1 interfaces at end A and 0 at end B" in found.notes[0]


def test_a_cable_to_an_interface_that_was_not_read_is_left_out_with_its_page(standin: Standin) -> None:
    standin.lists["cable-terminations"][1]["termination_id"] = 99
    found = load(standin)
    assert (found.cables, found.uncompared) == ((), (Termination("gpu-1", "ib0"),))
    assert "the cable ends at interface 99, which was not found; read NetBox again" in found.notes[0]


def test_cables_to_other_things_and_designed_no_more_are_left_out(standin: Standin) -> None:
    cable = standin.lists["cables"][0]
    standin.lists["cables"] += [cable | {"id": 2}, cable | {"id": 3, "status": {"value": "decommissioning"}}]
    standin.lists["cable-terminations"] += [
        termination(2, "A", IB1),
        termination(2, "B", 7, "dcim.frontport"),
        termination(3, "A", IB1),
        termination(3, "B", LEAF_IB1),
    ]
    assert len(load(standin).cables) == 1


def test_a_breakout_is_several_cables(standin: Standin) -> None:
    standin.lists["cable-terminations"].append(termination(1, "B", LEAF_IB1))
    assert [str(cable.b) for cable in load(standin).cables] == ["leaf-1 ib0", "leaf-1 ib1"]


def test_a_port_used_twice_loses_both_cables_and_names_both_pages(standin: Standin) -> None:
    """Nobody knows which of them is right."""
    standin.lists["cables"].append(standin.lists["cables"][0] | {"id": 2})
    standin.lists["cable-terminations"] += [termination(2, "A", IB0), termination(2, "B", LEAF_IB1)]
    found = load(standin)
    ends = [("gpu-1", "ib0"), ("leaf-1", "ib0"), ("leaf-1", "ib1")]
    assert (found.cables, found.uncompared) == ((), tuple(Termination(*end) for end in ends))
    one, other = (f"{standin.url}/dcim/cables/{number}/" for number in (1, 2))
    said = "\n".join(found.notes)
    assert f"{other}: 'gpu-1 ib0' already has the cable of {one}" in said
    assert f"{one}: 'gpu-1 ib0' already has the cable of {other}" in said


def second(standin: Standin, number: int, **values: Any) -> None:
    """Add a device as the first one is, without interfaces."""
    standin.lists["devices"].append(standin.lists["devices"][0] | {"id": number, "serial": f"S{number}"} | values)


def test_nodes_with_one_name_are_all_left_out_and_nothing_else_is(standin: Standin) -> None:
    second(standin, 3, position=None, rack=None)
    second(standin, 4, name="gpu-4", position=None, rack=None)
    found = load(standin)
    assert set(found.devices) == {"leaf-1", "gpu-4"}
    assert "2 devices are called 'gpu-1'" in found.unread["gpu-1"]
    assert f"{standin.url}/dcim/devices/3/" in found.unread["gpu-1"]
    assert found.uncompared == (Termination("leaf-1", "ib0"),)


def test_a_namesake_without_cables_takes_nothing_from_the_one_that_has_them(standin: Standin) -> None:
    role = {"id": 9, "slug": "pdu", "name": "pdu"}
    second(standin, 3, name="leaf-1", role=role, position=None, rack=None)
    found = load(standin)
    assert found.devices["leaf-1"].role == "leaf"
    assert len(found.cables) == 1
    assert "dcim/devices/3/: device 'leaf-1' has the name of the one at" in found.notes[0]


def test_most_devices_unusable_is_no_fleet(standin: Standin) -> None:
    """Then it is no record that is wrong: the fleet that is known stays."""
    standin.lists["device-types"].clear()
    assert "is of unknown device type 'hgx'" in refusal(standin)


def test_racks_of_one_name_in_two_locations_are_two_racks(standin: Standin) -> None:
    rack = standin.lists["racks"][0]
    rooms = [{"id": number, "name": f"room {number}"} for number in (1, 2)]
    standin.lists["racks"] = [rack | {"location": rooms[0]}, rack | {"id": 77, "location": rooms[1]}]
    standin.lists["devices"][0].update(rack={"id": 77, "name": "A1"}, position=None)
    found = load(standin)
    assert set(found.racks) == {"hall/room 1 A1", "hall/room 2 A1"}
    assert found.devices["gpu-1"].rack == "room 2 A1"
    assert found.notes == ()
