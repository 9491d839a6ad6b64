"""What a switch's sshd runs: it answers its maker's commands, in its maker's form, from the real lldpd behind it.

Arguments: the network operating system, the socket of that lldpd, and the network namespace whose real bridge tells
what was learned, and whose real neighbours answered ARP. A network device's ports have slashes in their
names and Linux's cannot: there they are underscores.
"""

import json
import os
import subprocess
import sys
from typing import Any, NamedTuple

COMMANDS = {
    "eos": "show lldp neighbors detail | json",
    "nxos": "show lldp neighbors detail | json",
    "junos": "show lldp neighbors | display json | no-more",
    "sonic": "show lldp table",
    "nvue": "nv show interface lldp-detail -o json || nv show interface lldp -o json || lldpctl -f json0",
    "openconfig": "openconfig:lldp/interfaces",
}


FORWARDING = {
    "eos": "show mac address-table | json",
    "nxos": "show mac address-table | json",
    "junos": "show ethernet-switching table | display json | no-more",
    "sonic": "show mac",
    "nvue": "/sbin/bridge -j fdb show",
    "openconfig": "openconfig:network-instances/network-instance/fdb/mac-table/entries",
}

ARP = {
    "eos": "show arp vrf all | json",
    "nxos": "show ip arp vrf all | json",
    "junos": "show arp no-resolve | display json | no-more",
    "sonic": "show arp",
    "nvue": "/sbin/ip -j neigh show",
}

Entry = tuple[str, str, bool]
"""A port, an address there, and whether it was learned."""


class Neighbour(NamedTuple):
    """One neighbour, as lldpctl tells of it."""

    local: str
    chassis: str
    system: str
    kind: str
    port: str
    description: str


def main() -> None:
    """Answer, or refuse, as a network device does."""
    maker, socket, namespace = sys.argv[1:]
    asked = os.environ.get("SSH_ORIGINAL_COMMAND", "")
    if asked == FORWARDING[maker]:
        told = _printed("ip", "netns", "exec", namespace, "bridge", "-j", "fdb", "show")
        tables = {
            "eos": eos_macs,
            "nxos": nxos_macs,
            "junos": junos_macs,
            "sonic": sonic_macs,
            "openconfig": openconfig_macs,
        }
        sys.stdout.write(tables[maker](_entries(told)) if maker in tables else told)
    elif asked == ARP.get(maker):
        told = _printed("ip", "netns", "exec", namespace, "ip", "-j", "neigh", "show")
        answers = {"eos": eos_arp, "nxos": nxos_arp, "junos": junos_arp, "sonic": sonic_arp}
        sys.stdout.write(answers[maker](_answering(told)) if maker in answers else told)
    elif asked == COMMANDS[maker]:
        told = _printed("lldpctl", "-u", socket, "-f", "json0")
        found = [_neighbour(each) for each in json.loads(told)["lldp"][0].get("interface", ())]
        forms = {"eos": eos, "nxos": nxos, "junos": junos, "sonic": sonic, "nvue": nvue, "openconfig": openconfig}
        sys.stdout.write(forms[maker](found) + "\n")
    else:
        raise SystemExit(f"% Invalid input: {asked}")


def _printed(*argv: str) -> str:
    return subprocess.run(argv, capture_output=True, check=True, text=True).stdout


def _entries(told: str) -> list[Entry]:
    """Return the bridge's entries, each address of a port once."""
    rows = [each for each in json.loads(told) if "master" in each]
    return sorted({(slashed(row["ifname"]), row["mac"], row.get("state") != "permanent") for row in rows})


def _answering(told: str) -> list[tuple[str, str, str]]:
    """Return each port with the IP and the MAC address of who answered there."""
    return [(slashed(row["dev"]), row["dst"], row["lladdr"]) for row in json.loads(told) if "lladdr" in row]


def _neighbour(told: dict[str, Any]) -> Neighbour:
    chassis, port = told["chassis"][0], told["port"][0]
    return Neighbour(
        slashed(told["name"]),
        chassis["id"][0]["value"],
        chassis["name"][0]["value"],
        port["id"][0]["type"],
        slashed(port["id"][0]["value"]),
        slashed(port.get("descr", [{"value": ""}])[0]["value"]),
    )


def slashed(name: str) -> str:
    """Return a network device's name of its port for Linux's."""
    return name.replace("_", "/")


def _dotted(value: str) -> str:
    plain = value.replace(":", "")
    return ".".join(plain[at : at + 4] for at in (0, 4, 8)) if value.count(":") == 5 else value


def eos(found: list[Neighbour]) -> str:
    """Print as Arista EOS."""
    ports: dict[str, Any] = {}
    for each in found:
        kind = "macAddress" if each.kind == "mac" else "interfaceName"
        ports.setdefault(each.local, {"lldpNeighborInfo": []})["lldpNeighborInfo"].append(
            {
                "chassisIdType": "macAddress",
                "chassisId": _dotted(each.chassis),
                "systemName": each.system,
                "neighborInterfaceInfo": {
                    "interfaceIdType": kind,
                    "interfaceId": _dotted(each.port),
                    "interfaceId_v2": _dotted(each.port),
                    "interfaceDescription": each.description,
                },
            }
        )
    return json.dumps({"lldpNeighbors": ports}, indent=2)


def nxos(found: list[Neighbour]) -> str:
    """Print as Cisco NX-OS, which calls its own ports by a shorter name, and one neighbour without a list."""
    rows = [
        {
            "chassis_type": "4",
            "chassis_id": _dotted(each.chassis),
            "port_type": "3" if each.kind == "mac" else "5",
            "port_id": _dotted(each.port),
            "l_port_id": each.local.replace("Ethernet", "Eth"),
            "port_desc": each.description or "null",
            "sys_name": each.system,
        }
        for each in found
    ]
    return json.dumps({"TABLE_nbor_detail": {"ROW_nbor_detail": rows[0] if len(rows) == 1 else rows}})


def junos(found: list[Neighbour]) -> str:
    """Print as Juniper Junos."""
    words = {
        "lldp-local-port-id": "local",
        "lldp-remote-chassis-id": "chassis",
        "lldp-remote-port-id": "port",
        "lldp-remote-port-description": "description",
        "lldp-remote-system-name": "system",
    }
    rows = [
        {key: [{"data": getattr(each, name)}] for key, name in words.items()}
        | {
            "lldp-local-parent-interface-name": [{"data": "-"}],
            "lldp-remote-port-id-subtype": [{"data": "Mac address" if each.kind == "mac" else "Interface name"}],
        }
        for each in found
    ]
    return json.dumps({"lldp-neighbors-information": [{"lldp-neighbor-information": rows}]}, indent=4)


def sonic(found: list[Neighbour]) -> str:
    """Print as SONiC."""
    titles = ("LocalPort", "RemoteDevice", "RemotePortID", "Capability", "RemotePortDescr")
    rows = [titles, *((each.local, each.system, each.port, "O", each.description) for each in found)]
    widths = [max(len(row[at]) for row in rows) for at in range(len(titles))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    lines.insert(1, "  ".join("-" * width for width in widths))
    legend = "Capability codes: (R) Router, (B) Bridge, (O) Other"
    return "\n".join([legend, *lines, "-" * 50, f"Total entries displayed:  {len(found)}"])


def nvue(found: list[Neighbour]) -> str:
    """Print as NVUE of Cumulus Linux."""
    ports: dict[str, Any] = {}
    for each in found:
        ports.setdefault(each.local, {"lldp": {"neighbor": {}}})["lldp"]["neighbor"][each.system] = {
            "age": "9",
            "chassis": {"chassis-id": each.chassis, "system-name": each.system},
            "port": {
                "description": each.description,
                "name": each.port,
                "ttl": 120,
                "type": "mac" if each.kind == "mac" else "ifname",
            },
        }
    return json.dumps(ports, indent=2)


def openconfig(found: list[Neighbour]) -> str:
    """Print as openconfig-lldp."""
    ports: dict[str, list[dict[str, Any]]] = {}
    for number, each in enumerate(found):
        state = {
            "id": str(number),
            "chassis-id": each.chassis,
            "system-name": each.system,
            "port-id": each.port,
            "port-id-type": "MAC_ADDRESS" if each.kind == "mac" else "INTERFACE_NAME",
            "port-description": each.description,
        }
        ports.setdefault(each.local, []).append({"id": str(number), "state": state})
    rows = [{"name": name, "neighbors": {"neighbor": heard}} for name, heard in ports.items()]
    return json.dumps({"openconfig-lldp:interface": rows})


def openconfig_macs(found: list[Entry]) -> str:
    """Print as the mac-table of openconfig-network-instance."""
    rows = [
        {
            "mac-address": mac,
            "vlan": 10,
            "state": {"mac-address": mac, "vlan": 10, "entry-type": "DYNAMIC" if learned else "STATIC"},
            "interface": {"interface-ref": {"state": {"interface": port}}},
        }
        for port, mac, learned in found
    ]
    return json.dumps({"openconfig-network-instance:entry": rows})


def eos_macs(found: list[Entry]) -> str:
    """Print as Arista EOS."""
    rows = [
        {"vlanId": 10, "macAddress": mac, "entryType": "dynamic" if learned else "static", "interface": port}
        for port, mac, learned in found
    ]
    return json.dumps({"unicastTable": {"tableEntries": rows}, "multicastTable": {"tableEntries": []}})


def nxos_macs(found: list[Entry]) -> str:
    """Print as Cisco NX-OS."""
    rows = [
        {
            "disp_mac_addr": _dotted(mac),
            "disp_type": "* " if learned else "G ",
            "disp_vlan": "10",
            "disp_is_static": "disabled" if learned else "enabled",
            "disp_port": port,
        }
        for port, mac, learned in found
    ]
    return json.dumps({"TABLE_mac_address": {"ROW_mac_address": rows}})


def junos_macs(found: list[Entry]) -> str:
    """Print as Juniper Junos, with the port's logical unit."""
    rows = [
        {
            "l2ng-l2-mac-address": [{"data": mac}],
            "l2ng-l2-mac-flags": [{"data": "D" if learned else "S"}],
            "l2ng-l2-mac-logical-interface": [{"data": f"{port}.0"}],
        }
        for port, mac, learned in found
    ]
    return json.dumps({"l2ng-l2ald-rtb-macdb": [{"l2ng-l2ald-mac-entry-vlan": [{"l2ng-mac-entry": rows}]}]})


def sonic_macs(found: list[Entry]) -> str:
    """Print as SONiC."""
    rows = [
        f"{number:5}  {10:6}  {mac.upper():17}  {port:13}  {'Dynamic' if learned else 'Static'}"
        for number, (port, mac, learned) in enumerate(found, start=1)
    ]
    titles = "  No.    Vlan  MacAddress         Port           Type"
    rule = "-----  ------  -----------------  -------------  -------"
    return "\n".join([titles, rule, *rows, f"Total number of entries {len(found)}", ""])


def eos_arp(found: list[tuple[str, str, str]]) -> str:
    """Print as Arista EOS."""
    rows = [{"address": ip, "hwAddress": _dotted(mac), "interface": port, "age": 0} for port, ip, mac in found]
    return json.dumps({"vrfs": {"default": {"ipV4Neighbors": rows}}})


def nxos_arp(found: list[tuple[str, str, str]]) -> str:
    """Print as Cisco NX-OS, one row without a list."""
    rows = [{"intf-out": port, "ip-addr-out": ip, "mac": _dotted(mac)} for port, ip, mac in found]
    adjacent = {"TABLE_adj": {"ROW_adj": rows[0] if len(rows) == 1 else rows}} if rows else {}
    return json.dumps(
        {"TABLE_vrf": {"ROW_vrf": {"vrf-name-out": "default", "cnt-total": str(len(rows)), **adjacent}}}
    )


def junos_arp(found: list[tuple[str, str, str]]) -> str:
    """Print as Juniper Junos, with the port's logical unit."""
    rows = [
        {
            "mac-address": [{"data": mac}],
            "ip-address": [{"data": ip}],
            "interface-name": [{"data": f"{port}.0"}],
            "arp-table-entry-flags": [{"none": [{"data": None}]}],
        }
        for port, ip, mac in found
    ]
    return json.dumps({"arp-table-information": [{"arp-table-entry": rows} if rows else {}]})


def sonic_arp(found: list[tuple[str, str, str]]) -> str:
    """Print as SONiC."""
    rows = [f"{ip:14} {mac} {port:13} -" for port, ip, mac in found]
    titles = "Address        MacAddress         Iface          Vlan"
    rule = "-------------  -----------------  -------------  ------"
    return "\n".join([titles, rule, *rows, f"Total number of entries {len(found)}", ""])


if __name__ == "__main__":
    main()
