"""`ibqueryerrors`: the error counters of every port of the fabric that has any, switches' sums first."""

import sys
import time
from collections import defaultdict
from typing import Any, NamedTuple

from fleet_runner.lab import plan
from fleet_runner.lab.tools.fabric import Port, links
from fleet_runner.lab.tools.node import Node, read_state

SYMBOLS_PER_SECOND = 10
SYMBOL_LIMIT, DOWNED_LIMIT = 65535, 255

Counted = dict[str, int]


class Device(NamedTuple):
    """A record of the fabric: an adapter is one, too."""

    kind: str
    guid: str
    name: str


def run(node: Node, args: list[str]) -> int:
    """Print the report; status 1 says that a port has errors. The lab's fabric has a subnet manager."""
    quiet = set(args[args.index("-s") + 1].split(",")) if "-s" in args else set[str]()
    devices: dict[Device, dict[int, Counted]] = defaultdict(dict)
    states: dict[str, dict[str, Any]] = {}
    for link in links(node):
        for end, far in ((link.a, link.b), (link.b, link.a)):
            device = Device(end.kind, end.guid, end.name)
            counted = _counted(node, end, far, states)
            devices[device][end.number] = {name: count for name, count in counted.items() if name not in quiet}
    text, bad = _report(devices)
    ports = sum(len(ports) if device.kind == "CA" else plan.SWITCH_PORTS for device, ports in devices.items())
    nodes = sum(any(map(any, map(dict.values, ports.values()))) for ports in devices.values())
    sys.stdout.write(
        f"{text}\n## Summary: {len(devices)} nodes checked, {nodes} bad nodes found\n"
        f"##          {ports} ports checked, {bad} ports have errors beyond threshold\n"
        f"## Thresholds: \n## Suppressed:{''.join(f' {name}' for name in sorted(quiet))}\n"
    )
    return 1 if bad else 0


def _report(devices: dict[Device, dict[int, Counted]]) -> tuple[str, int]:
    lines: list[str] = []
    bad = 0
    for device, ports in sorted(devices.items()):
        shown = {number: counted for number, counted in sorted(ports.items()) if any(counted.values())}
        if not shown:
            continue
        bad += len(shown)
        guid = f"0x{int(device.guid, 16):x}"
        lines.append(f'Errors for {f"{guid} " if device.kind == "SW" else ""}"{device.name}"')
        if device.kind == "SW":
            names = {name for counted in shown.values() for name in counted}
            total = {name: sum(counted.get(name, 0) for counted in shown.values()) for name in sorted(names)}
            lines.append(f"   GUID {guid} port ALL:{_row(total)}")
        lines += [f"   GUID {guid} port {number}:{_row(counted)}" for number, counted in shown.items()]
    return "".join(f"{line}\n" for line in lines), bad


def _row(counted: Counted) -> str:
    return "".join(f" [{name} == {count}]" for name, count in counted.items() if count)


def _counted(node: Node, end: Port, far: Port, states: dict[str, dict[str, Any]]) -> Counted:
    """A switch's port counts the boots of the server behind it; a server's adapter forgets when it boots."""
    adapter = end if end.kind == "CA" else far
    if adapter.kind != "CA":
        return {"PortXmitWait": 1234}
    name, _, hca = adapter.name.partition(" mlx5_")
    state = states.get(name) or states.setdefault(
        name, node.state if name == node.name else read_state(node.lab, name)
    )
    downed = _on_rail(state, "flapping_link", hca, "times") + (state["boot"]["count"] if end.kind == "SW" else 0)
    noisy = (
        end.kind == "SW" and "noisy_cable" in state["faults"] and state["faults"]["noisy_cable"]["rail"] == int(hca)
    )
    symbols = SYMBOLS_PER_SECOND * int(time.time() - state["boot"]["kernel"]) if noisy else 0
    return {
        "SymbolErrorCounter": min(symbols, SYMBOL_LIMIT),
        "LinkDownedCounter": min(downed, DOWNED_LIMIT),
        "PortXmitWait": 1234,
    }


def _on_rail(state: dict[str, Any], fault: str, hca: str, option: str) -> int:
    options = state["faults"].get(fault)
    return int(options[option]) if options and options["rail"] == int(hca) else 0
