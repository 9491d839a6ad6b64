"""How an Ethernet switch is asked: for its LLDP neighbours, for addresses at its ports, and for their state.

Which commands, `ansible_network_os` of its config context says, in the words of Ansible's network collections. They
are run over ssh. `openconfig` stands for any system that serves OpenConfig over gNMI: its questions are paths.
"""

import re
from collections.abc import Collection

from fleet_runner.core.cabling.exempt import READY
from fleet_runner.core.inventory.records import Device

NETWORK_OS = "ansible_network_os"

_EOS = "show lldp neighbors detail | json"
_NVUE = "nv show interface lldp-detail -o json || nv show interface lldp -o json || lldpctl -f json0"

COMMANDS = {
    "arista.eos.eos": _EOS,
    "cisco.iosxr.iosxr": "show lldp neighbors detail",
    "cisco.nxos.nxos": _EOS,
    "dellemc.enterprise_sonic.sonic": "show lldp table",
    "dellemc.os10.os10": "show lldp neighbors detail | no-more",
    "junipernetworks.junos.junos": "show lldp neighbors | display json | no-more",
    "nvidia.nvue.nvue": _NVUE,
    "openconfig": "/openconfig-lldp:lldp/interfaces",
}
"""The command of each network operating system: each only reads, and prints what `parsers.neighbours` reads."""

FORWARDING = {
    "arista.eos.eos": "show mac address-table | json",
    "cisco.nxos.nxos": "show mac address-table | json",
    "dellemc.enterprise_sonic.sonic": "show mac",
    "dellemc.os10.os10": "show mac address-table | no-more",
    "junipernetworks.junos.junos": "show ethernet-switching table | display json | no-more",
    "nvidia.nvue.nvue": "/sbin/bridge -j fdb show",
    "openconfig": "/openconfig-network-instance:network-instances/network-instance/fdb/mac-table/entries",
}
"""The second command, likewise, which prints what `parsers.forwarding` reads; a switch that refuses it is read. IOS
XR learns addresses in bridge domains of L2VPN, on each line card, and is not asked: its ports are routed."""

ARP = {
    "arista.eos.eos": "show arp vrf all | json",
    "cisco.iosxr.iosxr": "show arp vrf all",
    "cisco.nxos.nxos": "show ip arp vrf all | json",
    "dellemc.enterprise_sonic.sonic": "show arp",
    "dellemc.os10.os10": "show ip arp | no-more",
    "junipernetworks.junos.junos": "show arp no-resolve | display json | no-more",
    "nvidia.nvue.nvue": "/sbin/ip -j neigh show",
}
"""The third command, likewise, for routed ports, at which no address is learned; `parsers.arp` reads it."""

VRFS = {"dellemc.os10.os10": ("show ip vrf | no-more", "show ip arp vrf {} | no-more")}
"""Where the third command tells of the default VRF alone: what names the others, and what tells of one of them."""

MOST_VRFS = 8
"""VRFs of a switch that are asked, each over a connection of its own."""

_VRF = re.compile(r"([A-Za-z0-9][A-Za-z0-9_.-]{0,31})(?:[ \t].*)?\r?", re.ASCII)
"""A VRF stands at the beginning of its line, its interfaces behind it; their other lines begin with blanks."""

_NO_LEAF = frozenset({"VRF-Name", "default", "management"})
"""The title, the VRF that was asked, and the one of the management port."""

PORTS: dict[str, dict[str, str]] = {
    "arista.eos.eos": {
        "interfaces": "show interfaces | json",
        "phy": "show interfaces phy detail | json",
        "watchdog": "show priority-flow-control counters watchdog | json",
    },
    "cisco.nxos.nxos": {
        "interfaces": "show interface | json",
        "pfc": "show interface priority-flow-control",
        "watchdog": "show queuing pfc-queue detail | json",
        "queues": "show queuing interface | json",
        "modules": "show interface transceiver details | json",
    },
    "dellemc.enterprise_sonic.sonic": {
        "status": "show interfaces status",
        "pfc": "show pfc priority",
        "watchdog": "show pfcwd stats",
        "fec": "show interfaces counters fec-stats",
        "wred": "show queue wredcounters",
        "flaps": "show interfaces flap",
        "modules": "show interfaces transceiver eeprom -d",
    },
    "dellemc.os10.os10": {"interfaces": "show interface | display-xml"},
    "junipernetworks.junos.junos": {
        "interfaces": "show interfaces | display json | no-more",
        "cos": "show class-of-service interface | no-more",
        "profiles": "show class-of-service congestion-notification | no-more",
        "modules": "show interfaces diagnostics optics | display json | no-more",
    },
    "nvidia.nvue.nvue": {"interfaces": "nv show interface -o json", "roce": "nv show qos roce -o json"},
    "openconfig": {"interfaces": "/openconfig-interfaces:interfaces"},
}
"""Commands that print what `parsers.switch_ports` reads; the first one must succeed, what others tell stays open."""

SONIC_TARGET = "OC-YANG"
"""What SONiC's gNMI server calls OpenConfig; it has no origins, and wants the first module's name."""

_SHORT = {name.rpartition(".")[2]: name for name in COMMANDS} | {"cumulus": "nvidia.nvue.nvue"}
"""Names without a collection, as Ansible knew them before there were any."""


def command(network_os: object) -> str:
    """Return the command for a value of `ansible_network_os`; "" for one that is not known."""
    return COMMANDS.get(_whole(network_os), "")


def forwarding(network_os: object) -> str:
    """Return the command that prints learned addresses, likewise."""
    return FORWARDING.get(_whole(network_os), "")


def arp(network_os: object) -> str:
    """Return the command that prints who answered at routed ports, likewise."""
    return ARP.get(_whole(network_os), "")


def vrfs(network_os: object) -> str:
    """Return the command that names the VRFs which `arp` leaves out; "" where it leaves none out."""
    return VRFS.get(_whole(network_os), ("", ""))[0]


def arp_in_vrfs(network_os: object, named: str) -> tuple[str, ...]:
    """Return the commands that print who answered in those VRFs; `named` is what the switch printed of them."""
    rows = (_VRF.fullmatch(line) for line in named.split("\n")[:-1])  # a line without its end may have lost a part
    names = dict.fromkeys(row[1] for row in rows if row and row[1] not in _NO_LEAF)
    return tuple(VRFS[_whole(network_os)][1].format(name) for name in list(names)[:MOST_VRFS])


def ports(network_os: object) -> tuple[str, dict[str, str]]:
    """Return the whole name for a value of `ansible_network_os`, and its commands for the state of its ports."""
    whole = _whole(network_os)
    return whole, PORTS.get(whole, {})


def _whole(network_os: object) -> str:
    """Return the name with its collection."""
    name = network_os if isinstance(network_os, str) else ""
    return name if name in COMMANDS else _SHORT.get(name, "")


def gnmi(question: str) -> bool:
    """Whether it is a path to be asked for over gNMI, and no command such as NVUE's `/sbin/bridge`."""
    return question.startswith("/openconfig-")


def gnmi_path(path: str, models: Collection[str]) -> tuple[str, list[str]]:
    """Return a path's origin and its elements, for a switch that serves these models; SONiC's has no origin."""
    if any(model.startswith("sonic-") for model in models):
        return "", path.strip("/").split("/")
    return "openconfig", [element.rpartition(":")[2] for element in path.strip("/").split("/")]


def can_be_asked(device: Device) -> bool:
    """Whether a device is a switch in use that has an address and says which network operating system it has."""
    asked = device.primary_address or device.context.get("ansible_host")
    return device.status in READY and bool(asked and command(device.context.get(NETWORK_OS)))
