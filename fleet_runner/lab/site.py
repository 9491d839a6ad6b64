"""The site files of the lab: what its source of truth says, in NetBox's terms."""

import os
import sys
from collections.abc import Mapping
from typing import Any

import yaml

from fleet_runner.core.boot.boots import Milestone
from fleet_runner.lab import ethernet, plan, plugging
from fleet_runner.lab.folder import Lab, write

Row = dict[str, Any]

MILESTONES = {
    Milestone.DHCP: 30,
    Milestone.SCRIPT: 8,
    Milestone.KERNEL: 8,
    Milestone.CLOUD_INIT: 30,
    Milestone.PHONE_HOME: 15,
    Milestone.SSH: 15,
}
"""Seconds that a node may take to each milestone of its boot: it takes one or two, on a computer that may be busy."""


def write_site(lab: Lab, servers: int, bmc_ports: Mapping[str, int], *, rails: bool = False) -> None:
    """Write every site file, each a list of one kind of record."""
    files: dict[str, list[Any]] = {
        "sites": [{"name": plan.SITE}],
        "racks": racks(servers),
        "device_types": [*device_types(rails=rails), *(rail_types() if rails else ())],
        "devices": [*devices(lab, servers, bmc_ports), *switches(), *(rail_switches(lab) if rails else ())],
        "cables": [list(plug) for plug in plugging.designed(servers, rails=rails)],
    }
    lab.site.mkdir(exist_ok=True)
    for kind, rows in files.items():
        write(
            lab.site / f"{kind}.yml",
            yaml.safe_dump({kind: rows}, sort_keys=False, default_flow_style=None, width=118),
        )


def racks(servers: int) -> list[Row]:
    """Return the racks: of the servers, and of the network."""
    names = {plan.server_place(number).rack for number in range(1, servers + 1)}
    names |= {place.rack for place in plan.switch_places().values()}
    return [{"name": name, "site": plan.SITE, "u_height": 42} for name in sorted(names)]


def device_types(*, rails: bool = False) -> list[Row]:
    """Return the three kinds of box, with their interfaces."""
    own = [_interface(f"ib{rail}", "infiniband-ndr") for rail in range(plan.RAILS)]
    own += (
        [_interface(ethernet.interface(rail), ethernet.PORT_TYPE) for rail in range(ethernet.RAILS)] if rails else []
    )
    ports = [_interface(str(number + 1), "infiniband-ndr") for number in range(plan.SWITCH_PORTS)]
    copper = [_interface(f"swp{number + 1}", "1000base-t") for number in range(48)]
    return [
        _type(plan.DEVICE_TYPE, "Lab HGX H100", plan.SERVER_UNITS, [*own, _interface("eth0", "1000base-t")]),
        _type(plan.SWITCH_TYPE, "Lab QM9700", 1, ports),
        _type(plan.ETHERNET_TYPE, "Lab SN2201", 1, copper),
    ]


def devices(lab: Lab, servers: int, bmc_ports: Mapping[str, int]) -> list[Row]:
    """Return the servers, with their parts, their addresses and how to reach them."""
    return [_server(lab, number, bmc_ports[plan.server(number)]) for number in range(1, servers + 1)]


def switches() -> list[Row]:
    """Return the leaves, the spines and the Ethernet switch."""
    kinds = {"leaf": ("leaf", plan.SWITCH_TYPE), "spine": ("spine", plan.SWITCH_TYPE)}
    found: list[Row] = []
    for name, place in plan.switch_places().items():
        role, kind = kinds.get(name.partition("-")[0], ("management-switch", plan.ETHERNET_TYPE))
        row: Row = {
            "name": name,
            "device_type": kind,
            "role": role,
            "site": plan.SITE,
            "rack": place.rack,
            "position": place.unit,
            "serial": plan.switch_serial(name),
        }
        found.append(row)
    return found


def rail_types() -> list[Row]:
    """Return the switches of the Ethernet rails, with their ports as their makers call them."""
    return [
        _type(
            maker.slug,
            maker.model,
            2,
            [_interface(maker.name(at + 1), ethernet.PORT_TYPE) for at in range(ethernet.PORTS)],
        )
        for maker in dict.fromkeys(ethernet.SWITCHES.values())
    ]


def rail_switches(lab: Lab) -> list[Row]:
    """Return those switches, each with its address and how it is asked."""
    return [
        {
            "name": name,
            "device_type": maker.slug,
            "role": "leaf" if name in ethernet.LEAVES else "spine",
            "site": plan.SITE,
            "rack": "N01",
            "position": 30 + 2 * at,
            "serial": plan.switch_serial(name),
            "primary_ip": f"{ethernet.address(name)}/24",
            "config_context": {
                "ansible_network_os": maker.network_os,
                "fabric_name": ethernet.FABRIC,
                "ansible_ssh_executable": str(lab.root / "bin" / "ssh"),
            },
        }
        for at, (name, maker) in enumerate(ethernet.SWITCHES.items())
    ]


def context(lab: Lab, name: str, bmc_port: int) -> Row:
    """Return the config context of a server: its keys become Ansible host variables."""
    return {
        "ansible_connection": "ssh",
        "ansible_ssh_executable": str(lab.root / "bin" / "ssh"),
        "ansible_ssh_transfer_method": "piped",
        "ansible_python_interpreter": os.path.realpath(sys.executable),
        "fleet_environment": {
            "PATH": f"{lab.node(name) / 'bin'}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
            "FLEET_JOBS": str(lab.node(name) / "tmp" / "jobs"),
        },
        "reset_dir": str(lab.node(name) / "tmp" / "resets"),
        "active_job_dir": str(lab.node(name) / "tmp" / "jobs"),
        "ib_write_pair_job_dir": str(lab.node(name) / "tmp" / "jobs"),
        "fleet_bmc_url": f"http://127.0.0.1:{bmc_port}",
        "network_boot_limits": {str(milestone): seconds for milestone, seconds in MILESTONES.items()},
        # A simulated power cycle takes the old system away at once.
        "cloud_init_delay": 0,
        "reboot_delay": 0,
    }


def _server(lab: Lab, number: int, bmc_port: int) -> Row:
    name, place = plan.server(number), plan.server_place(number)
    rails = [{"name": f"ib{rail}", "wwn": plan.hca_guid(number, rail)} for rail in range(plan.RAILS)]
    return {
        "name": name,
        "device_type": plan.DEVICE_TYPE,
        "role": "gpu-server",
        "site": plan.SITE,
        "rack": place.rack,
        "position": place.unit,
        "serial": plan.server_serial(number),
        "primary_ip": f"{plan.address(number)}/24",
        "interfaces": [*rails, {"name": "eth0", "mac_address": plan.mac(number)}],
        "inventory_items": parts(number),
        "config_context": context(lab, name, bmc_port),
    }


def parts(number: int) -> list[Row]:
    """Return what is inside a server."""
    gpus = [_part("gpu", f"GPU {gpu}", plan.GPU_MODEL, plan.gpu_serial(number, gpu)) for gpu in range(plan.GPUS)]
    hcas = [_part("hca", f"mlx5_{rail}", plan.HCA_MODEL, plan.hca_serial(number, rail)) for rail in range(plan.RAILS)]
    psus = [_part("psu", f"PSU {psu}", plan.PSU_MODEL, plan.psu_serial(number, psu)) for psu in range(plan.PSUS)]
    return [*gpus, *hcas, *psus]


def _part(kind: str, slot: str, model: str, serial: str) -> Row:
    return {"name": slot, "role": kind, "part_id": model, "serial": serial}


def _interface(name: str, kind: str) -> Row:
    return {"name": name, "type": kind}


def _type(slug: str, model: str, units: int, interfaces: list[Row]) -> Row:
    return {"slug": slug, "manufacturer": "Lab", "model": model, "u_height": units, "interfaces": interfaces}
