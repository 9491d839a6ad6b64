"""What programs say of a device's neighbours: gnmic, NAPALM, Ansible, with whatever they put around it."""

import json
from typing import Any

import pytest

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.lldp import Neighbour
from fleet_runner.core.checks.parsers.neighbours.capture import begins, read
from tests.core.checks.healthy import text_of

TWO = tuple(Neighbour(f"Ethernet{at}", f"gpu-0{at}", "eth0", "eth0") for at in (1, 2))
BARE = tuple(each._replace(description="") for each in TWO)
TABLE: dict[str, list[Any]] = {each.interface: [{"host": each.system, "port": each.port}] for each in TWO}
NAPALM: dict[str, list[Any]] = {each.interface: [{"hostname": each.system, "port": each.port}] for each in TWO}


def said(text: str) -> str:
    """Why a text is refused."""
    assert begins(text)
    with pytest.raises(EvidenceError) as caught:
        read(text)
    return str(caught.value)


@pytest.mark.parametrize("name", ["gnmic/events.json", "gnmic/subscribe.json"])
def test_gnmic_says_which_device_it_asked(name: str) -> None:
    assert read(text_of(name)) == ("leaf-01", TWO)
    assert read(text_of(name).replace("leaf-01:6030", "192.0.2.1:6030")) == ("", TWO)
    assert read(text_of(name).replace("leaf-01:6030", "[2001:db8::1]:6030")).device == ""


def test_gnmics_flat_lines_are_read_to_the_last_that_is_whole() -> None:
    text = text_of("gnmic/flat.txt")
    assert read(text) == ("", TWO)
    assert read(text.replace("\n", "\r\n")) == ("", TWO)
    assert read(text.replace("]/state/", "]/state/openconfig-lldp:")) == ("", TWO)
    assert read(f"$ gnmic get --format flat\n{text}$ ") == ("", TWO)
    assert said(text.rstrip()) == "gnmic's last line has no end; was it cut short?"


def test_answers_of_several_devices_are_refused() -> None:
    text = text_of("gnmic/events.json")
    assert "found answers of leaf-01, leaf-02" in said(text.replace("leaf-01", "leaf-02", 1)).replace(
        "leaf-02, leaf-01", "leaf-01, leaf-02"
    )


def test_events_of_something_else_are_refused() -> None:
    assert "events without a neighbour" in said(text_of("gnmic/events.json").replace("/neighbors/", "/x/"))
    assert "events without a neighbour" in said(json.dumps([{"source": "", "tags": [], "values": []}]))


def test_answers_one_after_the_other_are_read_with_prompts_and_refused_where_one_is_cut() -> None:
    text = text_of("gnmic/subscribe.json")
    assert read(f"ops@jump-01:~$ gnmic subscribe --mode once\n{text}ops@jump-01:~$ ") == ("leaf-01", TWO)
    assert "is not JSON" in said(text[:-20])


@pytest.mark.parametrize(
    ("root", "device"),
    [
        (TABLE, ""),
        ({"ansible_net_neighbors": TABLE, "ansible_net_hostname": "leaf-01"}, "leaf-01"),
        ({"ansible_facts": {"ansible_net_neighbors": TABLE}, "changed": False}, ""),
        ({"ansible_facts": {"napalm_lldp_neighbors": NAPALM, "napalm_facts": {"hostname": "leaf-01"}}}, "leaf-01"),
        ({"leaf-01": {"out": NAPALM, "result": True}}, "leaf-01"),
        ({"leaf-01": {"lldp_neighbors": NAPALM}}, "leaf-01"),
        ([{"leaf-01": {"ansible_net_neighbors": TABLE}}], "leaf-01"),
        ({"site": {"leaf-01": NAPALM}}, ""),
    ],
)
def test_a_table_by_interface_is_found_in_what_wraps_it(root: Any, device: str) -> None:
    assert read(json.dumps(root)) == (device, BARE)


def test_detail_counts_where_both_are_told() -> None:
    detail = {
        each.interface: [
            {"remote_system_name": each.system, "remote_port": "eth0", "remote_port_description": "eth0"}
        ]
        for each in TWO
    }
    assert read(json.dumps({"lldp_neighbors": NAPALM, "lldp_neighbors_detail": detail})) == ("", TWO)


def test_neighbours_of_several_devices_are_refused() -> None:
    text = json.dumps({"leaf-01": {"out": NAPALM}, "leaf-02": {"out": NAPALM}})
    assert said(text) == "found neighbours of several devices (leaf-01, leaf-02), expected one's in a file"


def test_facts_without_neighbours_are_of_a_device_that_hears_nobody() -> None:
    assert read('{"ansible_net_neighbors": {}}').neighbours == ()
    assert "found JSON with ansible_net_neighbors" in said('{"ansible_net_neighbors": "x"}')


@pytest.mark.parametrize(
    "head",
    [
        "ok: [leaf-01] => ",
        "TASK [x] ***\nok: [leaf-01] => (item=eos) => ",
        "leaf-01 | SUCCESS => ",
        "leaf-01 | CHANGED | rc=0 => ",
    ],
)
def test_what_ansible_prints_says_which_host_it_is(head: str) -> None:
    text = f"{head}{json.dumps({'ansible_net_neighbors': TABLE}, indent=4)}\n\nPLAY RECAP ***\n"
    assert begins(text)
    assert read(text) == ("leaf-01", BARE)
    assert "found what Ansible says of leaf-01 and of leaf-01, expected one" in said(text + text)
    assert "what Ansible printed is not JSON" in said(text[: len(head) + 60])


def test_several_neighbours_of_a_port_stand_in_lists_in_ansibles_lldp() -> None:
    body = {"chassis": {"name": ["leaf-01", "bf3"]}, "port": {"ifname": ["swp1", "p0"], "descr": "x"}}
    assert read(json.dumps({"lldp": {"eth0": body}, "ansible_hostname": "gpu-01"})) == (
        "gpu-01",
        (Neighbour("eth0", "leaf-01", "swp1", ""), Neighbour("eth0", "bf3", "p0", "")),
    )
    body = {"chassis": {"name": "leaf-01"}, "port": {"mac": "02:00:00:00:00:01"}}
    assert read(json.dumps({"lldp": {"eth0": body}})).neighbours == (
        Neighbour("eth0", "leaf-01", "02:00:00:00:00:01", ""),
    )
    assert read(json.dumps({"lldp": {"eth0": {**body, "port": {"ttl": "1"}}}})).neighbours[0].port == ""
