"""What the kernel of a node in the lab tells in files: its machine, its interfaces, and errors of its memory.

They lie under the node's own root, where a node's files are looked for (FLEET_ROOT).
"""

from collections.abc import Iterator, Mapping
from typing import Any

from fleet_runner.lab import ethernet, plan
from fleet_runner.lab.folder import Lab, read, write
from fleet_runner.lab.tools import roce

ROOT = "root"
"""Where the files of a node begin, in its folder."""

DMI, NET = "sys/class/dmi/id", "sys/class/net"

EDAC = "sys/devices/system/edac/mc"
CONTROLLERS, CHANNELS = 4, 2

DIMMS: Mapping[str, str] = {
    f"CPU_SrcID#0_MC#{mc}_Chan#{channel}_DIMM#0": f"{EDAC}/mc{mc}/dimm{channel}"
    for mc in range(CONTROLLERS)
    for channel in range(CHANNELS)
}
"""The modules of one socket as i10nm_edac names them, and the folder of each."""


def write_files(lab: Lab, name: str, faults: Mapping[str, Any]) -> None:
    """Write a node's files as they are with these faults; what says the same already stays."""
    number = plan.index(name)
    dimms = _edac(faults.get("dimm_errors", {}).get("dimm", ""))
    small = faults.get("wrong_mtu", {"component": ""}).get("component", roce.INTERFACE)
    rails = _rails(number, small) if read(lab.about).get("rails", False) else ()
    for path, text in (*dimms, *_machine(number, serial(number, faults), small), *rails):
        file = lab.node(name) / ROOT / path
        if not file.is_file() or file.read_text("utf-8") != text:
            file.parent.mkdir(parents=True, exist_ok=True)
            write(file, text)


def serial(number: int, faults: Mapping[str, Any]) -> str:
    """Return the serial number that a server's BMC and firmware say."""
    said: str = faults.get("other_serial", {}).get("serial", "") or plan.server_serial(number)
    return said


def _machine(number: int, said: str, small: str) -> Iterator[tuple[str, str]]:
    """Tell the machine and its port in the management network; `small` is the port with the wrong MTU."""
    told = {"product_serial": said, "chassis_serial": said, "product_uuid": plan.uuid(number), "sys_vendor": "Lab"}
    yield from ((f"{DMI}/{name}", f"{value}\n") for name, value in told.items())
    yield f"{NET}/eth0/address", f"{plan.mac(number)}\n"
    yield from _roce(roce.INTERFACE, roce.ADAPTER, small)
    yield f"{NET}/lo/address", "00:00:00:00:00:00\n"


def _roce(interface: str, adapter: str, small: str) -> Iterator[tuple[str, str]]:
    mtu = roce.USUAL_MTU if interface == small else roce.MTU
    port = {"operstate": "up", "carrier": 1, "speed": roce.MBPS, "mtu": mtu}
    yield from ((f"{NET}/{interface}/{name}", f"{value}\n") for name, value in port.items())
    for side in ("roce_np", "roce_rp"):
        yield f"{NET}/{interface}/ecn/{side}/enable/{roce.LOSSLESS}", "1\n"
    yield f"sys/class/infiniband/{adapter}/ports/1/hw_counters/out_of_sequence", "0\n"


def _rails(number: int, small: str) -> Iterator[tuple[str, str]]:
    """Tell the ports and adapters of the Ethernet rails, each with the GIDs of its link-local and IPv4 address."""
    for rail in range(ethernet.RAILS):
        interface = ethernet.interface(rail)
        yield f"{NET}/{interface}/address", f"b8:3f:d2:1f:{rail:02x}:{number:02x}\n"
        yield from _roce(interface, ethernet.adapter(rail), small)
        port = f"sys/class/infiniband/{ethernet.adapter(rail)}/ports/1"
        yield f"{port}/link_layer", "Ethernet\n"
        local = f"fe80:0000:0000:0000:0000:00ff:fe{rail:02x}:{number:04x}"
        ipv4 = f"0000:0000:0000:0000:0000:ffff:ac1{rail:x}:{number:04x}"
        for at, (gid, kind) in enumerate((gid, kind) for gid in (local, ipv4) for kind in ("IB/RoCE v1", "RoCE v2")):
            yield f"{port}/gids/{at}", f"{gid}\n"
            yield f"{port}/gid_attrs/types/{at}", f"{kind}\n"
            yield f"{port}/gid_attrs/ndevs/{at}", f"{ethernet.interface(rail)}\n"


def _edac(bad: str) -> Iterator[tuple[str, str]]:
    for mc in range(CONTROLLERS):
        mine = f"{EDAC}/mc{mc}/"
        erred = DIMMS.get(bad, "").startswith(mine)
        counts = {"ce_count": 0, "ue_count": int(erred), "ce_noinfo_count": 0, "ue_noinfo_count": 0}
        yield f"{mine}mc_name", f"Intel_10nm Socket#0 IMC#{mc}\n"
        yield from ((f"{mine}{name}", f"{count}\n") for name, count in counts.items())
    for at, (label, folder) in enumerate(DIMMS.items()):
        yield f"{folder}/dimm_label", f"{label}\n"
        yield f"{folder}/dimm_location", f"channel {at % CHANNELS} slot 0 \n"
        yield f"{folder}/dimm_ce_count", "0\n"
        yield f"{folder}/dimm_ue_count", f"{int(label == bad)}\n"
