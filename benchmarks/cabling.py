"""How long a whole fabric takes: parse, diff and explain 4,096 servers with 8 rails and 100 pairs of swapped cables.

`python benchmarks/cabling.py [servers ...]` prints CPU seconds (the median of several rounds), the peak of memory,
and the ratio to a floor: splitting the same text into lines and words. A busy machine moves both alike.
"""

import argparse
import gc
import multiprocessing
import random
import resource
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass

from fleet_runner.core.cabling.explain import Places
from fleet_runner.core.cabling.judge import Verdicts, judge
from fleet_runner.core.cabling.links import Link, Port, link
from fleet_runner.core.cabling.names import names
from fleet_runner.core.parsers import ibnetdiscover

RAILS = 8
RADIX = 64
SWAPS = 100
ROUNDS = 5


@dataclass(frozen=True, slots=True)
class Cost:
    """CPU seconds by step, and the peak of memory in MB of the process that took them."""

    seconds: dict[str, float]
    peak_mb: float
    cables: int
    faults: int
    actions: int


def main() -> None:
    """Measure each size in a process of its own, so that one's memory is not the other's."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("servers", type=int, nargs="*", default=[64, 1024, 4096])
    for servers in parser.parse_args().servers:
        for form in (plain, by_port):
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                _tell(servers, form.__name__, pool.apply(measure, (servers, form.__name__)))


def measure(servers: int, form: str) -> Cost:
    """Judge one fabric several times."""
    designed = cables(servers)
    gc.disable()  # as the command does: half a million tuples hold no cycle
    text = {"plain": plain, "by_port": by_port}[form](swapped(designed))
    rounds = [_round(designed, text) for _ in range(ROUNDS)]
    verdicts = rounds[0][1]
    seconds = {step: statistics.median(one[0][step] for one in rounds) for step in rounds[0][0]}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    actions = sum(len(fault.actions) for fault in verdicts.faults)
    return Cost(seconds, peak, len(designed), len(verdicts.faults), actions)


def _round(designed: list[Link], text: str) -> tuple[dict[str, float], Verdicts]:
    ports = [port for joined in designed for port in joined]
    servers = frozenset(port.device for port in ports if port.device.startswith("gpu"))
    clock = time.process_time
    begun = clock()
    floor = sum(len(line.split()) for line in text.split("\n"))
    split = clock()
    known = names(ports, {}, {})
    named = clock()
    discovery = ibnetdiscover.parse(text)
    parsed = clock()
    verdicts = judge(designed, discovery.links, known, Places({}, {}, servers))
    judged = clock()
    if not floor or discovery.unread:
        raise SystemExit("the benchmark's own text was not read")
    steps = {"floor": split - begun, "names": named - split, "parse": parsed - named, "judge": judged - parsed}
    return steps | {"all": judged - split}, verdicts


def _tell(servers: int, form: str, cost: Cost) -> None:
    steps = ", ".join(f"{step} {seconds:.2f}" for step, seconds in cost.seconds.items())
    ratio = cost.seconds["all"] / cost.seconds["floor"]
    print(
        f"{servers:5d} servers, {cost.cables:6d} cables, {form:7}: {steps} s CPU; {ratio:.1f} times the floor; "
        f"peak {cost.peak_mb:.0f} MB; {cost.faults} faults, {cost.actions} actions"
    )


def cables(servers: int) -> list[Link]:
    """Return the design: rails to leaves, leaves to spines, spines to cores, with as many cables up as down."""
    half = RADIX // 2
    down = [
        link(Port(f"gpu-{server:04d}", f"mlx5_{rail}"), _switch("leaf", server // half * RAILS + rail, server % half))
        for server in range(servers)
        for rail in range(RAILS)
    ]
    tier = range(servers * RAILS)
    up = [
        link(_switch("leaf", at // half, half + at % half), _switch("spine", at // half, _mixed(at, half)))
        for at in tier
    ]
    top = [
        link(_switch("spine", at // half, half + at % half), _switch("core", at // RADIX, at % RADIX)) for at in tier
    ]
    return down + up + top


def _mixed(at: int, half: int) -> int:
    return (at % half * 7) % half


def _switch(kind: str, index: int, port: int) -> Port:
    return Port(f"{kind}-{index:04d}", str(port + 1))


def swapped(designed: list[Link]) -> list[Link]:
    """Exchange the far ends of 100 pairs of servers' cables, no cable twice."""
    plugged = list(designed)
    servers = [index for index, joined in enumerate(designed) if joined.a.device.startswith("gpu")]
    chosen = random.Random(1).sample(servers, 2 * min(SWAPS, len(servers) // 2))
    for one, other in zip(chosen[::2], chosen[1::2], strict=True):
        (a, b), (c, d) = plugged[one], plugged[other]
        plugged[one], plugged[other] = link(a, d), link(c, b)
    return plugged


def plain(plugged: list[Link]) -> str:
    """Write what `ibnetdiscover` prints."""
    return "\n".join(_records(plugged)) + "\n"


def by_port(plugged: list[Link]) -> str:
    """Write what `ibnetdiscover -p` prints."""
    return "".join(
        f"{_end(near)} 4x NDR - {_end(far)} ( '{_name(near)}' - '{_name(far)}' )\n"
        for joined in plugged
        for near, far in (joined, joined[::-1])
    )


def _records(plugged: list[Link]) -> Iterator[str]:
    rows: dict[str, list[tuple[Port, Port]]] = {}
    for joined in plugged:
        for near, far in (joined, joined[::-1]):
            rows.setdefault(_id(near), []).append((near, far))
    for name, ends in rows.items():
        guid = name[2:]
        near = ends[0][0]
        if name.startswith("S"):
            yield f"\nvendid=0x2c9\ndevid=0xd2f2\nsysimgguid=0x{guid}\nswitchguid=0x{guid}({guid})"
            yield f'Switch\t{RADIX + 1} "{name}"\t\t# "{_name(near)}" enhanced port 0 lid 7 lmc 0'
        else:
            yield f"\nvendid=0x2c9\ndevid=0x1021\nsysimgguid=0x{guid}\ncaguid=0x{guid}"
            yield f'Ca\t1 "{name}"\t\t# "{_name(near)}"'
        for own, far in ends:
            guid_of = {"H": f"({_guid(far)})", "S": ""}[_id(far)[0]]
            if name.startswith("S"):
                yield f'[{own.interface}]\t"{_id(far)}"[{_number(far)}]{guid_of} \t\t# "{_name(far)}" lid 9 4xNDR'
            else:
                yield f'[1]({guid}) \t"{_id(far)}"[{far.interface}]\t\t# lid 9 lmc 0 "{_name(far)}" lid 7 4xNDR'


def _end(port: Port) -> str:
    kind = "CA" if port.device.startswith("gpu") else "SW"
    return f"{kind} {7:5d} {_number(port):2d} 0x{_guid(port)}"


def _id(port: Port) -> str:
    return f"{'H' if port.device.startswith('gpu') else 'S'}-{_guid(port)}"


def _guid(port: Port) -> str:
    kind, index = port.device.split("-")
    prefix = {"gpu": "b83fd203", "leaf": "fc6a1ca0", "spine": "fc6a1cb0", "core": "fc6a1cc0"}[kind]
    rail = int(port.interface[5:]) if kind == "gpu" else 0
    return f"{prefix}{int(index):06x}{rail:02x}"


def _name(port: Port) -> str:
    return f"{port.device} {port.interface}" if port.device.startswith("gpu") else f"MF0;{port.device}:MQM9700/U1"


def _number(port: Port) -> int:
    return 1 if port.device.startswith("gpu") else int(port.interface)


if __name__ == "__main__":
    main()
