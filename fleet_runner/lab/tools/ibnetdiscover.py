"""`ibnetdiscover -p` (a line per port end) and plain `ibnetdiscover` (a record per device)."""

import sys
import time

from fleet_runner.lab import plan
from fleet_runner.lab.tools.fabric import Link, Port, links, port
from fleet_runner.lab.tools.node import Node

ADAPTERS = tuple(f"mlx5_{rail}" for rail in range(plan.RAILS))
KINDS = {"CA": "H", "SW": "S"}


def run(node: Node, args: list[str]) -> int:
    """Print the whole fabric as one of the node's HCAs (-C) discovers it, the first unless told."""
    adapter = args[args.index("-C") + 1] if "-C" in args else "mlx5_0"
    if adapter not in ADAPTERS:
        sys.stderr.write(f"ibwarn: [1] mad_rpc_open_port: can't open UMAD port ({adapter}:1)\n")
        sys.stderr.write("ibnetdiscover: iberror: failed: discover failed\n")
        return 255
    ends = sorted(_both_ways(links(node)), key=lambda link: (link.a.kind, link.a.lid, link.a.number))
    guid = plan.hca_guid(node.state["index"], ADAPTERS.index(adapter))
    sys.stdout.write(_ports(ends) if "-p" in args or "--ports" in args else _records(guid, ends))
    return 0


def _both_ways(found: tuple[Link, ...]) -> list[Link]:
    return [*found, *(Link(link.b, link.a, link.speed) for link in found)]


def _ports(ends: list[Link]) -> str:
    rows = [(link.a, f"{link.speed} - {_end(link.b)} ( '{link.a.name}' - '{link.b.name}' )") for link in ends]
    used = {(link.a.name, link.a.number) for link in ends}
    # A switch lists its ports that nothing answers on, too; the width of the gap is the tool's own.
    rows += [(idle, f"??? {'':35}'{idle.name}'") for idle in _switch_ports() if (idle.name, idle.number) not in used]
    rows.sort(key=lambda row: (row[0].kind, row[0].lid, row[0].number))
    return "".join(f"{_end(mine)} 4x {rest}\n" for mine, rest in rows)


def _switch_ports() -> list[Port]:
    switches = (*plan.leaves(), *plan.spines())
    return [port(name, str(number + 1)) for name in switches for number in range(plan.SWITCH_PORTS)]


def _end(end: Port) -> str:
    return f"{end.kind:2} {end.lid:5d} {end.number:2d} 0x{end.guid}"


def _records(guid: str, ends: list[Link]) -> str:
    head = f"#\n# Topology file: generated on {time.ctime()}\n#\n# Initiated from node {guid} port {guid}\n"
    devices: dict[str, list[Link]] = {}
    for link in ends:
        devices.setdefault(link.a.guid, []).append(link)
    order = sorted(devices.values(), key=lambda mine: (mine[0].a.kind == "CA", mine[0].a.lid))
    return head + "".join(_switch(mine) if mine[0].a.kind == "SW" else _adapter(mine) for mine in order)


def _switch(mine: list[Link]) -> str:
    me = mine[0].a
    rows = "".join(
        f'[{a.number}]\t"{KINDS[b.kind]}-{b.guid}"[{b.number}]{f"({b.guid})" if b.kind == "CA" else ""} \t\t'
        f'# "{b.name}" lid {b.lid} 4x{speed}\n'
        for a, b, speed in mine
    )
    return (
        f"\nvendid=0x2c9\ndevid=0xd2f2\nsysimgguid=0x{me.guid}\nswitchguid=0x{me.guid}({me.guid})\n"
        f'Switch\t{plan.SWITCH_PORTS + 1} "S-{me.guid}"\t\t# "{me.name}" enhanced port 0 lid {me.lid} lmc 0\n{rows}'
    )


def _adapter(mine: list[Link]) -> str:
    me = mine[0].a
    rows = "".join(
        f'[{a.number}]({a.guid}) \t"S-{b.guid}"[{b.number}]\t\t# lid {a.lid} lmc 0 "{b.name}" lid {b.lid} 4x{speed}\n'
        for a, b, speed in mine
    )
    return (
        f"\nvendid=0x2c9\ndevid=0x1021\nsysimgguid=0x{me.guid}\ncaguid=0x{me.guid}\n"
        f'Ca\t1 "H-{me.guid}"\t\t# "{me.name}"\n{rows}'
    )
