"""The description of boot networks is read as written, or refused with the place of what is wrong."""

from copy import deepcopy
from ipaddress import IPv4Address, IPv4Network
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.base.errors import SettingsError
from fleet_runner.core.boot.dhcp.firmware import FIRMWARES, LOADERS
from fleet_runner.core.boot.dhcp.networks import KEA_HOOKS, Network, Networks, read
from tests.fleets import JSON

URL = "http://10.10.0.2:8480"
WHOLE: dict[str, Any] = {
    "interfaces": ["eth1", "vlan10.5"],
    "server": "10.10.0.2",
    "networks": [
        {
            "subnet": "10.10.0.0/24",
            "router": "10.10.0.1",
            "dns": ["10.10.0.2", "10.0.0.53"],
            "domain": "boot.example",
            "range": ["10.10.0.200", "10.10.0.210"],
            "lease_seconds": 600,
        },
        {"subnet": "10.20.0.0/24", "server": "10.20.0.2"},
    ],
    "loaders": {"arm64": "ipxe-arm.efi"},
    "tftp_dir": "/srv/tftp",
    "lease_file": "/var/lib/leases",
    "lease_hook": "/usr/local/lib/hook",
    "hook_user": "dnsmasq",
    "kea_hooks_dir": "/usr/lib/kea",
}


def changed(path: str, value: object) -> Any:
    """Return the description with one thing in another way; None removes it."""
    *way, last = (int(part) if part.isdigit() else part for part in path.split("."))
    found = deepcopy(WHOLE)
    place: Any = found
    for part in way:
        place = place[part]
    place[last] = value
    return found


@given(JSON)
def test_nonsense_is_refused_in_one_sentence(value: object) -> None:
    with pytest.raises(SettingsError, match=r"^boot networks"):
        read(value, URL)


@given(st.sampled_from(["interfaces", "server", "networks", "loaders", "tftp_dir", "lease_hook"]), JSON)
def test_a_key_with_nonsense_is_refused_or_means_nothing(key: str, value: object) -> None:
    try:
        assert read({**WHOLE, key: value}, URL).networks
    except SettingsError as error:
        assert key in str(error)  # noqa: PT017  either way is right


def test_a_whole_description_is_read_as_written() -> None:
    assert read(WHOLE, URL + "/") == Networks(
        boot_url=URL,
        interfaces=("eth1", "vlan10.5"),
        networks=(
            Network(
                IPv4Network("10.10.0.0/24"),
                IPv4Address("10.10.0.2"),
                IPv4Address("10.10.0.1"),
                (IPv4Address("10.10.0.2"), IPv4Address("10.0.0.53")),
                "boot.example",
                (IPv4Address("10.10.0.200"), IPv4Address("10.10.0.210")),
                600,
            ),
            Network(IPv4Network("10.20.0.0/24"), IPv4Address("10.20.0.2")),
        ),
        loaders={**LOADERS, "arm64": "ipxe-arm.efi"},
        tftp_dir="/srv/tftp",
        lease_file="/var/lib/leases",
        lease_hook="/usr/local/lib/hook",
        hook_user="dnsmasq",
        kea_hooks_dir="/usr/lib/kea",
    )


def test_what_is_left_out_has_its_default() -> None:
    given = {"interfaces": ["eth1"], "networks": [{"subnet": "10.10.0.0/24", "server": "10.10.0.2"}]}
    found = read(given, URL, "/boot/loaders")
    assert (found.tftp_dir, found.lease_hook, found.hook_user, found.kea_hooks_dir) == (
        "/boot/loaders",
        "",
        "root",
        KEA_HOOKS,
    )
    assert found.loaders == LOADERS
    assert found.script_url == f"{URL}/boot.ipxe"
    assert found.loader_url("x64") == f"{URL}/loader/snponly.efi"
    assert found.networks[0].dynamic is None


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("interfaces", [], "interfaces: found [], expected a list that is not empty"),
        ("interfaces", None, "interfaces is missing"),
        ("interfaces", ["eth1\nport=53"], "interfaces[0]: found 'eth1\\nport=53', expected an interface's name"),
        ("server", "10.10.0", "server: found '10.10.0', expected an IPv4 address like 10.10.0.2"),
        ("server", None, "networks[0].server is missing"),
        ("networks.0.subnet", "10.10.0.7/24", "networks[0].subnet: found '10.10.0.7/24', expected an IPv4 subnet"),
        ("networks.0.subnet", "10.10.0.0/31", "networks[0].subnet: found '10.10.0.0/31'"),
        ("networks.0.subnet", "0.0.0.0/8", "networks[0].subnet: found '0.0.0.0/8'"),
        ("networks.0.subnet", 10, "networks[0].subnet: found 10"),
        ("networks.1.subnet", "10.10.0.0/16", "networks[1].subnet: found 10.10.0.0/16, expected one that does not"),
        ("networks.0.router", "10.20.0.1", "networks[0].router: found '10.20.0.1', expected an address that"),
        ("networks.0.router", "10.10.0.255", "networks[0].router"),
        (
            "networks.0.range",
            ["10.10.0.9"],
            "networks[0].range: found ['10.10.0.9'], expected the first and the last",
        ),
        ("networks.0.range", ["10.10.0.9", "10.10.0.8"], "networks[0].range"),
        ("networks.0.range", ["10.10.0.9", "10.10.1.8"], "networks[0].range[1]"),
        ("networks.0.lease_seconds", 60, "networks[0].lease_seconds: found 60, expected a whole number from 120"),
        ("networks.0.lease_seconds", True, "networks[0].lease_seconds"),
        ("networks.0.domain", "a,b", "networks[0].domain: found 'a,b'"),
        ("networks.0.gateway", "10.10.0.1", "networks[0].gateway is no key that is known here"),
        ("loaders", {"bios": "../shadow"}, "loaders.bios: found '../shadow'"),
        ("loaders", {"riscv": "x.efi"}, "loaders.riscv is no key"),
        ("loaders", ["x.efi"], "loaders: found ['x.efi'], expected a mapping"),
        ("tftp_dir", "tftp", "tftp_dir: found 'tftp', expected an absolute path"),
        ("nets", [], "nets is no key"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(path: str, value: object, said: str) -> None:
    with pytest.raises(SettingsError) as caught:
        read(changed(path, value), URL)
    assert said in str(caught.value)


@pytest.mark.parametrize("url", ["", "ftp://10.0.0.1", "http://10.0.0.1,x", "http://a b"])
def test_an_unusable_boot_url_is_refused(url: str) -> None:
    with pytest.raises(SettingsError, match="boot_url: found"):
        read(WHOLE, url)


def test_a_boot_url_that_no_dhcp_message_has_room_for_is_refused() -> None:
    with pytest.raises(SettingsError, match="at most 127 characters"):
        read(WHOLE, "http://" + "a" * 110)


def test_no_two_kinds_of_firmware_say_the_same_type() -> None:
    kinds = [kind for each in FIRMWARES for kind in each.types]
    assert len(kinds) == len(set(kinds))
    assert {each.loader for each in FIRMWARES} == set(LOADERS)
