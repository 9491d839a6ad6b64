"""What `ibnetdiscover` would print of given cables, in the forms in which captures reach people."""

from collections.abc import Iterable
from dataclasses import dataclass
from random import Random

from fleet_runner.core.cabling.links import Link, Port
from tests.fabric.building import FACTORY_NAME, End, number, record

AGGREGATION = "Mellanox Technologies Aggregation Node"
"""What a switch's own processor for collectives calls itself; it stands at a port that no cable can use."""


@dataclass(frozen=True, slots=True)
class Form:
    """How a capture is written, and what happened to it on its way."""

    by_port: bool = False
    crlf: bool = False
    lost_tabs: bool = False
    blank_lines: bool = True
    leading_zeros: bool = True
    aggregation: bool = False
    managed_switches: bool = False
    factory_names: bool = False
    seed: int = 0


def rendered(cables: Iterable[Link], numbers: dict[str, int], form: Form) -> str:
    """Return a capture of these cables. `numbers` are the node GUIDs by record."""
    ends = [(End(*near), End(*far)) for cable in cables for near, far in (cable, reversed(cable))]
    nodes: dict[str, list[tuple[End, End]]] = {}
    for near, far in ends:
        nodes.setdefault(record(near), []).append((near, far))
    records = [_record(mine, numbers, form) for mine in nodes.values()]
    if form.aggregation:
        records += _aggregation(nodes, numbers, form)
    shuffle = Random(form.seed).shuffle
    shuffle(records)
    if form.by_port:
        lines = [line for lines in records for line in lines]
        shuffle(lines)
    else:
        gap = [""] if form.blank_lines else []
        lines = ["#", "# Topology file: generated on Sat Nov 21 12:00:00 2026", "#"]
        lines += [line for lines in records for line in (*lines, *gap)]
    text = "\n".join([*lines, ""])
    text = text.replace("\t", "") if form.lost_tabs else text
    return text.replace("\n", "\r\n") if form.crlf else text


def _record(plugged: list[tuple[End, End]], numbers: dict[str, int], form: Form) -> list[str]:
    """Return a device's lines; a switch's idle ports are told by port only."""
    first = plugged[0][0]
    mine, node = record(first), _digits(numbers[record(first)], form)
    if form.by_port:
        lines = [_by_port(near, far, numbers, form) for near, far in plugged]
        taken = {number(near) for near, _ in plugged}
        idle = [port for port in range(1, 4) if port not in taken and mine.startswith("S-")]
        return lines + [f"SW     7 {port:2} 0x{node} 4x SDR{'':36}'{_said(first, form)}'" for port in idle]
    letter = mine[0]
    kind, count = ("Switch", 64) if letter == "S" else ("Ca", 1)
    head = [f"vendid=0x2c9\t\ndevid=0xd2f2\n{kind.lower()}guid=0x{node}({node})"]
    head.append(f'{kind}\t{count} "{letter}-{node}"\t\t# "{_said(first, form)}" base port 0 lid 7 lmc 0')
    return head + [_row(near, far, numbers, form) for near, far in plugged]


def _row(near: End, far: End, numbers: dict[str, int], form: Form) -> str:
    far_record = record(far)
    mine = f"({_port_guid(near, numbers, form)}) " if record(near).startswith("H-") else ""
    theirs = f"({_port_guid(far, numbers, form)}) " if far_record.startswith("H-") else ""
    name = f'"{far_record[0]}-{_digits(numbers[far_record], form)}"[{number(far)}]{theirs}'
    return f'[{number(near)}]{mine}\t{name}\t\t# "{_said(far, form)}" lid 9 4xNDR'


def _by_port(near: End, far: End, numbers: dict[str, int], form: Form) -> str:
    one, other = (
        f"{'CA' if record(end).startswith('H-') else 'SW'}     7 {number(end):2} 0x{_port_guid(end, numbers, form)}"
        for end in (near, far)
    )
    return f"{one} 4x NDR - {other} ( '{_said(near, form)}' - '{_said(far, form)}' )"


def _aggregation(nodes: dict[str, list[tuple[End, End]]], numbers: dict[str, int], form: Form) -> list[list[str]]:
    """Return a switch's processor for collectives, told from both its ends."""
    switch = next((mine for mine in nodes.values() if record(mine[0][0]).startswith("S-")), None)
    if switch is None:
        return []
    name = switch[0][0].device
    node, guid = _digits(numbers[f"S-{name}"], form), _digits(0xA0000000 + numbers[f"S-{name}"], form)
    if form.by_port:
        one, other = f"SW     7 65 0x{node}", f"CA     8  1 0x{guid}"
        return [
            [f"{one} 4x NDR - {other} ( '{name}' - '{AGGREGATION}' )"],
            [f"{other} 4x NDR - {one} ( '{AGGREGATION}' - '{name}' )"],
        ]
    return [
        [f'Switch\t64 "S-{node}"\t\t# "{name}" base port 0 lid 7 lmc 0',
         f'[65]\t"H-{guid}"[1]({guid}) \t\t# "{AGGREGATION}" lid 8 4xNDR'],
        [f'Ca\t1 "H-{guid}"\t\t# "{AGGREGATION}"',
         f'[1]({guid}) \t"S-{node}"[65]\t\t# lid 8 lmc 0 "{name}" lid 7 4xNDR'],
    ]  # fmt: skip


def _said(end: End, form: Form) -> str:
    """Return what a device says of itself: half of the adapters may not have been named yet."""
    if record(end).startswith("S-"):
        return f"MF0;{end.device}:MQM9700/U1" if form.managed_switches else end.device
    return FACTORY_NAME if form.factory_names and int(end.port[-1]) % 2 else f"{end.device} {end.port}"


def _port_guid(end: End, numbers: dict[str, int], form: Form) -> str:
    """Return an adapter's port GUID, which is one more than its node's; a switch's ports have the node's."""
    mine = record(end)
    return _digits(numbers[mine] + mine.startswith("H-"), form)


def _digits(guid: int, form: Form) -> str:
    return f"{guid:016x}" if form.leading_zeros else f"{guid:x}"


def ports(cables: Iterable[Link]) -> frozenset[Port]:
    """Return the ports that cables stand in."""
    return frozenset(port for cable in cables for port in cable)
