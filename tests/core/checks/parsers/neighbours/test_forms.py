"""What only one maker's form has."""

import json
from typing import Any

import pytest

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.lldp import Neighbour
from fleet_runner.core.checks.parsers.neighbours.capture import read
from tests.core.checks.catalogue.judging import text_of

SONIC = text_of("sonic/lldp_table.txt")


def heard(name: str) -> list[Neighbour]:
    return list(read(text_of(name)).neighbours)


def of(root: Any) -> tuple[Neighbour, ...]:
    return read(json.dumps(root)).neighbours


def test_eos_writes_addresses_with_dots_and_names_in_quotes() -> None:
    """An address is what other makers write with colons; a port that hears nobody is none."""
    assert heard("eos/lldp_detail.json") == [
        Neighbour("Ethernet1", "gpu-01", "02:00:00:00:02:01", "eth0"),
        Neighbour("Ethernet2", "gpu-02", "02:00:00:00:02:02", "eth0"),
        Neighbour("Ethernet2", "bf3-02", "p0", "p0"),
        Neighbour("Ethernet4", "", "02:00:00:00:02:99", ""),
        Neighbour("Ethernet49/1", "spine-01", "Ethernet1/1", "P2P_LINK_TO_LEAF-01_Ethernet49/1"),
    ]
    old = json.loads(text_of("eos/lldp_detail.json"))
    for port in old["lldpNeighbors"].values():
        for each in port["lldpNeighborInfo"]:
            del each["neighborInterfaceInfo"]["interfaceId_v2"]
    assert list(of(old)) == heard("eos/lldp_detail.json")


def test_eos_without_detail_and_in_an_answer_of_its_api_is_read() -> None:
    expected = (
        Neighbour("Ethernet49/1", "spine-01", "Ethernet1/1", ""),
        Neighbour("Ethernet50/1", "spine-02", "Ethernet1/1", ""),
    )
    bare = json.loads(text_of("eos/lldp.json"))
    assert of(bare) == of([bare]) == of({"jsonrpc": "2.0", "id": "1", "result": [bare]}) == expected


def test_junos_tells_a_neighbours_own_index_which_is_no_port() -> None:
    """Here 588 is "et-0/0/7", and 590 nobody knows; a logical unit is no part of a port."""
    assert heard("junos/lldp.json") == [
        Neighbour("et-0/0/1", "gpu-01", "02:00:00:00:02:01", "eth0"),
        Neighbour("et-0/0/2", "spine-01", "", "et-0/0/7"),
        Neighbour("et-0/0/3", "spine-02", "", ""),
        Neighbour("et-0/0/4", "", "02:00:00:00:02:99", ""),
    ]


def test_junos_of_older_versions_and_without_lists_is_read() -> None:
    old = {
        "lldp-local-interface": [{"data": "xe-0/0/1.0"}],
        "lldp-remote-system-name": "spine-01",
        "lldp-remote-port-id": "swp1",
    }
    assert of({"lldp-neighbors-information": {"lldp-neighbor-information": old}}) == (
        Neighbour("xe-0/0/1", "spine-01", "swp1", ""),
    )


def test_nxos_writes_one_neighbour_without_a_list_and_words_for_nothing() -> None:
    expected = [
        Neighbour("Eth1/1", "gpu-01", "02:00:00:00:02:01", "eth0"),
        Neighbour("Eth1/49", "spine-01.hall.example.org", "Ethernet1/1", ""),
        Neighbour("Eth1/50", "", "02:00:00:00:02:99", ""),
    ]
    assert heard("nxos/lldp_detail.json") == expected
    assert heard("nxos/lldp_detail_one.json") == expected[:1]
    bare = json.loads(text_of("nxos/lldp_detail.json"))
    assert list(of({"ins_api": {"outputs": {"output": {"code": "200", "body": bare}}}})) == expected


def test_nxos_has_a_list_of_tables_too_and_a_local_index_as_7() -> None:
    row = {"l_port_id": "Eth1/1", "sys_name": "spine-01", "port_id": "12", "port_type": "7", "port_desc": "swp3"}
    assert of({"TABLE_nbor_detail": [{"ROW_nbor_detail": row}]}) == (Neighbour("Eth1/1", "spine-01", "", "swp3"),)


def test_nvue_tells_neighbours_by_interface() -> None:
    """Also below the interface itself, as a version may; a neighbour that says no name has none."""
    expected = [
        Neighbour("eth0", "oob-1", "swp10", "swp10"),
        Neighbour("swp1", "gpu-01", "02:00:00:00:02:01", "eth0"),
        Neighbour("swp2", "gpu-02", "02:00:00:00:02:02", "eth0"),
        Neighbour("swp2", "bf3-02", "p0", "p0"),
        Neighbour("swp4", "", "02:00:00:00:02:99", ""),
        Neighbour("swp49", "spine-01", "swp1", "swp1"),
    ]
    assert heard("nvue/lldp.json") == expected
    bare = json.loads(text_of("nvue/lldp.json"))
    assert list(of({port: told["lldp"] for port, told in bare.items()})) == expected


def test_openconfig_tells_the_devices_own_name() -> None:
    assert read(text_of("openconfig/lldp.json")).device == "leaf-01"
    bare = json.loads(text_of("openconfig/lldp.json"))["openconfig-lldp:lldp"]
    assert read(json.dumps({"lldp": bare})) == read(text_of("openconfig/lldp.json"))


def test_openconfig_may_have_words_beside_the_state_and_local_identifiers() -> None:
    """So SONiC's management framework writes them."""
    told = {
        "id": "1",
        "state": {"age": 5},
        "system-name": "sonic1",
        "port-id": "3",
        "port-id-type": "LOCAL",
        "port-description": "Ethernet8",
    }
    listed = [{"name": "Ethernet0", "neighbors": {"neighbor": [told]}}]
    expected = (Neighbour("Ethernet0", "sonic1", "", "Ethernet8"),)
    assert of({"openconfig-lldp:interfaces": {"interface": listed}}) == expected
    path = "/openconfig-lldp:lldp/interfaces/interface[name=Ethernet0]"
    for rest, value in (("", listed[0]), ("/neighbors", listed[0]["neighbors"])):
        assert of({"notification": [{"update": [{"path": path + rest, "val": value}]}]}) == expected
    assert (
        of({"update": [{"path": f"{path}/state", "val": {}}, {"path": {"elem": []}, "val": 1}]} | {"lldp": {}}) == ()
    )


def test_sonic_columns_are_where_its_dashes_are() -> None:
    """A neighbour without a name has an empty cell."""
    assert heard("sonic/lldp_table.txt") == [
        Neighbour("Ethernet0", "gpu-01", "02:00:00:00:02:01", "eth0"),
        Neighbour("Ethernet8", "spine-01", "etp1", "to leaf-01 Ethernet8"),
        Neighbour("Ethernet16", "", "02:00:00:00:02:99", ""),
        Neighbour("eth0", "oob-1", "swp10", "swp10"),
    ]


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("displayed:  4", "displayed:  5", "line 9: found 4 rows, expected 5"),
        ("Total entries displayed:  4", "", "has no line Total entries displayed at its end; was it cut short?"),
        ("-----------  -----", "Ethernet0    gpu-0", "line 3: expected dashes below the titles"),
        ("Ethernet8    spine-01", "Ethernet8    a-name-that-is-too-long", "line 5: found 'Ethernet8    a-name"),
        ("Ethernet16", "          ", "line 6: found '02:00"),
        ("RemotePortID  ", "RemotePortID X", "line 2: found the titles"),
    ],
)
def test_a_table_of_sonic_that_cannot_be_read_is_named_by_its_line(old: str, new: str, why: str) -> None:
    with pytest.raises(EvidenceError, match=r".*") as caught:
        read(SONIC.replace(old, new))
    assert why in str(caught.value)


def test_a_table_of_sonic_that_ends_with_its_titles_is_cut() -> None:
    with pytest.raises(EvidenceError, match="was it cut short"):
        read(SONIC[: SONIC.index("\n-----")])
