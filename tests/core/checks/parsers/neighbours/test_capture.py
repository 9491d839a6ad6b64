"""What devices say of their LLDP neighbours: every maker's form, as it is and as it arrives."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.lldp import Neighbour
from fleet_runner.core.checks.parsers.neighbours.capture import begins, read
from tests.core.checks.catalogue.judging import cuts, text_of
from tests.examples import examples

NAMES = (
    "ansible/lldp.json",
    "ansible/net_neighbors.json",
    "eos/lldp.json",
    "eos/lldp_detail.json",
    "gnmic/events.json",
    "junos/lldp.json",
    "napalm/getters.json",
    "napalm/lldp_detail.json",
    "lldp/two_ports.json",
    "lldp/two_ports.json0",
    "nvue/lldp.json",
    "nxos/lldp_detail.json",
    "nxos/lldp_detail_one.json",
    "openconfig/gnmi.json",
    "openconfig/gnmi_states.json",
    "openconfig/gnmi_words.json",
    "openconfig/interfaces.json",
    "openconfig/lldp.json",
    "sonic/lldp_table.txt",
)
TEXTS = {name: text_of(name) for name in NAMES}
FORMS = pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)

KEYS = [
    "lldp", "interface", "interfaces", "neighbor", "neighbors", "chassis", "port", "state", "name", "id", "Path",
    "path", "values", "val", "updates", "lldpNeighbors", "lldpNeighborInfo", "neighborInterfaceInfo", "systemName",
    "data", "lldp-neighbors-information", "lldp-neighbor-information", "lldp-local-port-id",
    "TABLE_nbor_detail", "ROW_nbor_detail", "TABLE_nbor", "openconfig-lldp:lldp", "openconfig-lldp:interface", "swp1",
]  # fmt: skip
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=10)
    | st.just("interface[name=e1]/neighbors/neighbor[id=1]/state"),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=25,
)


def said(text: str) -> str:
    """Why a text is refused."""
    with pytest.raises(EvidenceError) as caught:
        read(text)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    for reader in (begins, read):
        with suppress(EvidenceError):
            reader(text)


@settings(max_examples=examples(300))
@given(JSON)
def test_any_json_is_read_and_every_word_of_it_is_text(root: Any) -> None:
    with suppress(EvidenceError):
        found = read(json.dumps(root))
        assert all(isinstance(word, str) for neighbour in found.neighbours for word in neighbour)


@FORMS
@settings(max_examples=examples(100))
@given(data=st.data())
def test_any_bent_capture_is_read_or_refused(text: str, data: st.DataObject) -> None:
    begin = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(begin, min(len(text), begin + 80)))
    bent = text[:begin] + data.draw(st.text(max_size=20) | st.sampled_from('",:\n\t[]{}-#>\x00\ud800')) + text[end:]
    with suppress(EvidenceError):
        read(bent)


@FORMS
def test_a_form_is_told_by_its_content(text: str) -> None:
    assert begins(text)
    assert read(text).neighbours


@pytest.mark.parametrize(
    "name", ["ibnetdiscover/plain.txt", "ibdiagnet/lst.txt", "ufm/links.json", "ufm/links.csv", "ufm/ports.json"]
)
def test_captures_of_a_fabric_are_none_of_neighbours(name: str) -> None:
    assert not begins(text_of(name))
    assert not begins("")
    assert not begins("{ CA Ports:01 SystemGUID:b8599f0300cc0001 NodeGUID:b8599f0300cc0001")
    for prompt in ("[sudo] password for ops: ", "[root@ufm ~]# ibnetdiscover", "[ops@ufm ~]$ iblinkinfo -l"):
        assert not begins(f"{prompt}\n{text_of('ibnetdiscover/plain.txt')}")


@FORMS
def test_a_capture_that_was_cut_is_refused(text: str) -> None:
    """Its last character but one, too: half of what a device hears looks like cables that are gone."""
    expected = read(text)
    for cut in cuts(text.rstrip()):
        with suppress(EvidenceError):
            assert read(cut) == expected


PROMPTS = {
    "EOS, NX-OS": ("leaf-01#show lldp neighbors detail | json\n", "leaf-01#"),
    "EOS in a mode": ("leaf-01(config-if-Et1)# show lldp neighbors detail | json \n", "\nleaf-01(config)# exit\n\n"),
    "Junos": ("{master:0}\nops@leaf-01> show lldp neighbors | display json\n", "\n{master:0}\nops@leaf-01> \n"),
    "NVUE": ("cumulus@leaf-01:mgmt:~$ nv show interface lldp -o json\n", "cumulus@leaf-01:mgmt:~$ \n"),
    "SONiC": ("admin@leaf-01:~$ show lldp table\n\n", "admin@leaf-01:~$ logout\n"),
    "a host": ("Welcome!\n[root@leaf-01 ~]# lldpctl -f json\n", "[root@leaf-01 ~]# \n"),
}


@FORMS
@pytest.mark.parametrize("prompt", PROMPTS.values(), ids=PROMPTS)
def test_a_prompt_says_which_device_it_is(text: str, prompt: tuple[str, str]) -> None:
    """What stands before the command and after the next prompt is none of it."""
    before, after = prompt
    assert read(f"{before}{text}\n{after}") == ("leaf-01", read(text).neighbours)
    assert begins(f"{before}{text}{after}")


@FORMS
@pytest.mark.parametrize("command", ["ssh leaf-01 lldpctl -f json", "cat lldp/leaf-01.json", "show clock"])
def test_a_prompt_before_another_command_says_nothing_of_the_device(text: str, command: str) -> None:
    """A jump host may carry the command to the device."""
    assert read(f"ops@jump-01:~$ {command}\n{text}ops@jump-01:~$ \n") == read(text)


@FORMS
def test_what_happens_to_captures_on_their_way_changes_nothing(text: str) -> None:
    expected = read(text)
    for bent in (
        text.replace("\n", "\r\n"),
        f"\ufeff{text}",
        f"\n\n{text}\n\n",
        text.rstrip("\n"),
        f"{text}leaf-01#\n",
    ):
        assert read(bent) == expected


def test_what_two_commands_printed_is_refused() -> None:
    one = "leaf-01#show lldp neighbors detail | json\n" + TEXTS["eos/lldp_detail.json"]
    assert begins(one + one)
    assert said(one + one.replace("leaf-01", "leaf-02")) == (
        "found what leaf-01 and what leaf-02 printed after it, expected one command's in a file"
    )


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "it is empty, expected what lldpctl -f json prints"),
        (" \n", "it is empty"),
        ("call the vendor", "found 'call the vendor', expected what"),
        ("{}", "found JSON with nothing of LLDP"),
        ("[1]", "found JSON with nothing of LLDP"),
        ('{"b": 1, "a": {}}', "found JSON with a, b, expected what"),
        ('{"lldpNeighbors": NaN}', "is not JSON"),
        ("{" * 100_000, "is not JSON"),
        (text_of("nxos/lldp.json"), "expected show lldp neighbors detail | json"),
        (text_of("nvue/arp.json"), "expected nv show interface lldp -o json"),
    ],
)
def test_what_is_no_capture_is_refused_with_what_was_found_and_expected(text: str, why: str) -> None:
    assert why in said(text)


@pytest.mark.parametrize(
    "text",
    [
        "Port       Neighbor Device ID    Neighbor Port ID\nEt1        gpu-01    eth0\n",
        "Device ID      Local Intf    Hold-time  Capability  Port ID\ngpu-01   Eth1/1   120   S   eth0\n",
        "Loc PortID     Rem Host Name    Rem Port Id\nethernet1/1/1    gpu-01     eth0\n",
        "Local Interface    Parent Interface    Chassis Id     Port info\net-0/0/0   -   02:00   eth0\n",
        "LocalPort  Speed  Mode     RemoteHost  RemotePort\nswp1       100G   Default  gpu-01      eth0\n",
        "Chassis id: 0200.0000.0101\nPort id: eth0\nLocal Port id: Eth1/1\nSystem Name: gpu-01\n",
        "Interface Ethernet1 detected 1 LLDP neighbors:\n",
        "-----\nInterface:    swp1, via: LLDP, RID: 1, Time: 0 day\n  Chassis:\n    SysName:  gpu-01\n-----\n",
        "lldp.swp1.via=LLDP\nlldp.swp1.chassis.name=gpu-01\n",
    ],
)
def test_a_list_of_neighbours_for_people_is_refused_as_such(text: str) -> None:
    """Not as no capture of an InfiniBand fabric."""
    assert begins(text)
    assert begins(f"leaf-01#show lldp neighbors\n{text}")
    assert "a list of LLDP neighbours for people, which may be cut unseen; expected what lldpctl -f json" in said(
        text
    )


def test_sr_linux_writes_neighbours_beside_its_interfaces() -> None:
    told = [{"name": "ethernet-1/1", "neighbor": [{"id": "02:00", "system-name": "gpu-01", "port-id": "eth0"}]}]
    assert read(json.dumps({"interface": told})).neighbours == (Neighbour("ethernet-1/1", "gpu-01", "eth0", ""),)


@pytest.mark.parametrize(
    "text",
    [
        '{"lldp": {}}',
        '{"lldpNeighbors": {}}',
        '{"lldp-neighbors-information": [{}]}',
        '{"TABLE_nbor_detail": {"ROW_nbor_detail": []}}',
        '{"swp1": {"lldp": {}}}',
        '{"openconfig-lldp:lldp": {}}',
        '{"openconfig-lldp:interfaces": {"interface": [{"name": "Ethernet1"}]}}',
        '[{"source": "leaf-01", "updates": [{"Path": "lldp/interfaces/interface[name=e1]", "values": {"x": null}}]}]',
    ],
)
def test_a_device_that_hears_nobody_has_no_neighbours(text: str) -> None:
    assert read(text).neighbours == ()


def test_all_forms_of_openconfig_tell_the_same() -> None:
    told = {read(text).neighbours for name, text in TEXTS.items() if name.startswith("openconfig/")}
    assert told == {
        (
            Neighbour("Ethernet1", "gpu-01", "02:00:00:00:02:01", "eth0"),
            Neighbour("Ethernet2", "gpu-02", "02:00:00:00:02:02", "eth0"),
            Neighbour("Ethernet2", "bf3-02", "p0", "p0"),
            Neighbour("Ethernet4", "", "02:00:00:00:02:99", ""),
            Neighbour("Ethernet49", "spine-01", "Ethernet1", "to leaf-01"),
        )
    }


@pytest.mark.parametrize("text", ["{", "[", '{"lldp": {', "a#show lldp\n", "leaf-01#", "----  ----  ----\n", "[a@b "])
def test_many_of_anything_do_not_hold_a_reader_up(text: str) -> None:
    for reader in (begins, read):
        with suppress(EvidenceError):
            reader(text * 20_000)
        with suppress(EvidenceError):
            reader(f"{text}\n" * 20_000)


def test_json_within_json_without_end_is_refused() -> None:
    """Just below where Python itself stops reading."""
    for depth in range(900, 1000, 3):
        with pytest.raises(EvidenceError):
            read('{"eth":' * depth + "{}" + "}" * depth)
