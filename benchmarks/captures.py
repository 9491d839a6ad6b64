"""A fabric as the tools print it: `ibnetdiscover`, plain and -p; `iblinkinfo`, plain and -l; `ibdiagnet2.db_csv`.

Servers have 8 rails, leaves stand by rail; each tier has as many cables up as down.
"""

import random
from collections.abc import Callable, Iterator

from fleet_runner.core.cabling.links import Link, Port, link

RAILS = 8
RADIX = 64
SWAPS = 100

_PORT_TITLES = (
    "NodeGuid,PortGuid,PortNum,MKey,GIDPrfx,MSMLID,LID,CapMsk,M_KeyLeasePeriod,DiagCode,LinkWidthActv,LinkWidthSup,"
    "LinkWidthEn,LocalPortNum,LinkSpeedEn,LinkSpeedActv,LMC,MKeyProtBits,LinkDownDefState,PortPhyState,PortState,"
    "LinkSpeedSup,VLArbHighCap,VLHighLimit,InitType,VLCap,MSMSL,NMTU,FilterRawOutb,FilterRawInb,PartEnfOutb,"
    "PartEnfInb,OpVLs,HoQLife,VLStallCnt,MTUCap,CapMsk2,FECActv,RetransActv"
)
_PREFIXES = {"gpu": "b83fd203", "leaf": "fc6a1ca0", "spine": "fc6a1cb0", "core": "fc6a1cc0"}


def cables(servers: int) -> list[Link]:
    """Return the design: rails to leaves, leaves to spines, spines to cores."""
    half = RADIX // 2
    down = [
        link(Port(f"gpu-{server:04d}", f"mlx5_{rail}"), _switch("leaf", server // half * RAILS + rail, server % half))
        for server in range(servers)
        for rail in range(RAILS)
    ]
    tier = range(servers * RAILS)
    up = [
        link(_switch("leaf", at // half, half + at % half), _switch("spine", at // half, (at % half * 7) % half))
        for at in tier
    ]
    top = [
        link(_switch("spine", at // half, half + at % half), _switch("core", at // RADIX, at % RADIX)) for at in tier
    ]
    return down + up + top


def swapped(designed: list[Link]) -> list[Link]:
    """Exchange the far ends of 100 random pairs of servers' cables, no cable twice."""
    plugged = list(designed)
    servers = [index for index, joined in enumerate(designed) if joined.a.device.startswith("gpu")]
    chosen = random.Random(1).sample(servers, 2 * min(SWAPS, len(servers) // 2))
    for one, other in zip(chosen[::2], chosen[1::2], strict=True):
        (a, b), (c, d) = plugged[one], plugged[other]
        plugged[one], plugged[other] = link(a, d), link(c, b)
    return plugged


def plain(plugged: list[Link]) -> str:
    """Write what `ibnetdiscover` prints."""
    return "\n".join(_netlist(plugged)) + "\n"


def by_port(plugged: list[Link]) -> str:
    """Write what `ibnetdiscover -p` prints."""
    return "".join(
        f"{_end(near)} 4x NDR - {_end(far)} ( '{name(near)}' - '{name(far)}' )\n"
        for joined in plugged
        for near, far in (joined, joined[::-1])
    )


def by_node(plugged: list[Link]) -> str:
    """Write what `iblinkinfo` prints."""
    lids = _lids(plugged)
    lines: list[str] = []
    for key, ends in records(plugged).items():
        near = ends[0][0]
        switch = is_switch(near)
        lines.append(f"Switch: 0x{guid(near)} {name(near)}:" if switch else f"CA: {name(near)}:")
        own = "" if switch else f"0x{guid(near)} "
        lines += [f"      {own}{lids[key]:6d} {number(a):4d}[  ] {_state(b, lids)}" for a, b in ends]
    return "\n".join(lines) + "\n"


def by_line(plugged: list[Link]) -> str:
    """Write what `iblinkinfo -l` prints."""
    lids = _lids(plugged)
    return "".join(
        f'0x{guid(a)} "{name(a):>30}" {lids[record(a)]:6d} {number(a):4d}[  ] {_state(b, lids, f"0x{guid(b)} ")}\n'
        for ends in records(plugged).values()
        for a, b in ends
    )


def db_csv(plugged: list[Link]) -> str:
    """Write what `ibdiagnet` keeps, with the columns of its PORTS section that real files have before the speed."""
    nodes = [ends[0][0] for ends in records(plugged).values()]
    head = ["START_NODES", "NodeDesc,NumPorts,NodeType,ClassVersion,BaseVersion,SystemImageGUID,NodeGUID,PortGUID"]
    head += [
        f'"{name(near)}",{RADIX},{2 if is_switch(near) else 1},1,1,0x{guid(near)},0x{guid(near)},0x{guid(near)}'
        for near in nodes
    ]
    head += ["END_NODES", "", "START_PORTS"]
    head += [_PORT_TITLES]
    rest = "8,0,0,3,0,5,0,0,0,0,2,0,0,5,1074,14,N/A"
    head += [
        f"0x{guid(near)},0x{guid(near)},{number(near)},0x0,0xfe80000000000000,1,7,2807162954,0,0,2,19,19,1,3841,2048,"
        f"0,0,2,5,4,3841,{rest}"
        for joined in plugged
        for near in joined
    ]
    head += ["END_PORTS", "", "START_LINKS", "NodeGuid1,PortNum1,NodeGuid2,PortNum2"]
    head += [f"0x{guid(a)},{number(a)},0x{guid(b)},{number(b)}" for a, b in plugged]
    return "\n".join([*head, "END_LINKS", ""])


SPELLINGS: dict[str, Callable[[int], str]] = {
    "7": str,
    "4a": lambda number: f"{(number + 1) // 2}{'ba'[number % 2]}",
    "4/1": lambda number: f"{(number + 1) // 2}/{2 - number % 2}",
}
"""How a design may write a switch's port 7: its cage and the half of it, which some names leave open."""


def spelled(designed: list[Link], spelling: Callable[[int], str]) -> list[Link]:
    """Return a design with its switches' ports in a spelling."""

    def one(port: Port) -> Port:
        return Port(port.device, spelling(number(port))) if is_switch(port) else port

    return [link(one(a), one(b)) for a, b in designed]


FORMS = {
    "ibnetdiscover": plain,
    "ibnetdiscover -p": by_port,
    "iblinkinfo": by_node,
    "iblinkinfo -l": by_line,
    "db_csv": db_csv,
}


def records(plugged: list[Link]) -> dict[str, list[tuple[Port, Port]]]:
    """Return the ends of each node: a switch, or an adapter."""
    rows: dict[str, list[tuple[Port, Port]]] = {}
    for joined in plugged:
        for near, far in (joined, joined[::-1]):
            rows.setdefault(record(near), []).append((near, far))
    return rows


def record(port: Port) -> str:
    """Return the netlist's name of a node."""
    return f"{'S' if is_switch(port) else 'H'}-{guid(port)}"


def is_switch(port: Port) -> bool:
    """Only servers have adapters."""
    return not port.device.startswith("gpu")


def guid(port: Port) -> str:
    """Return the GUID of an adapter's port, or of a switch."""
    kind, index = port.device.split("-")
    rail = 0 if is_switch(port) else int(port.interface[5:])
    return f"{_PREFIXES[kind]}{int(index):06x}{rail:02x}"


def name(port: Port) -> str:
    """Return what a node calls itself."""
    return f"MF0;{port.device}:MQM9700/U1" if is_switch(port) else f"{port.device} {port.interface}"


def number(port: Port) -> int:
    """Return a port's number: an adapter has one port."""
    return int(port.interface) if is_switch(port) else 1


def _netlist(plugged: list[Link]) -> Iterator[str]:
    for key, ends in records(plugged).items():
        own = key[2:]
        switch = key.startswith("S")
        if switch:
            yield f"\nvendid=0x2c9\ndevid=0xd2f2\nsysimgguid=0x{own}\nswitchguid=0x{own}({own})"
            yield f'Switch\t{RADIX + 1} "{key}"\t\t# "{name(ends[0][0])}" enhanced port 0 lid 7 lmc 0'
        else:
            yield f"\nvendid=0x2c9\ndevid=0x1021\nsysimgguid=0x{own}\ncaguid=0x{own}"
            yield f'Ca\t1 "{key}"\t\t# "{name(ends[0][0])}"'
        for near, far in ends:
            told = f'"{record(far)}"[{number(far)}]{"" if is_switch(far) else f"({guid(far)})"}'
            if switch:
                yield f'[{near.interface}]\t{told} \t\t# "{name(far)}" lid 9 4xNDR'
            else:
                yield f'[1]({own}) \t{told}\t\t# lid 9 lmc 0 "{name(far)}" lid 7 4xNDR'


def _state(far: Port, lids: dict[str, int], told: str = "") -> str:
    up = "( 4X         106.25 Gbps Active/  LinkUp)"
    return f'=={up}==>  {told}{lids[record(far)]:6d} {number(far):4d}[  ] "{name(far)}" ( )'


def _lids(plugged: list[Link]) -> dict[str, int]:
    return {key: lid for lid, key in enumerate(records(plugged), start=1)}


def _end(port: Port) -> str:
    return f"{'SW' if is_switch(port) else 'CA'} {7:5d} {number(port):2d} 0x{guid(port)}"


def _switch(kind: str, index: int, port: int) -> Port:
    return Port(f"{kind}-{index:04d}", str(port + 1))
