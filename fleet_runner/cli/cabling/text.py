"""Faults on a terminal of 80 columns: what is wrong, and numbered steps for whoever stands in front of the rack."""

from collections import Counter
from collections.abc import Container, Iterable
from itertools import product
from typing import Literal

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from fleet_runner.cli.base.session import console, errors
from fleet_runner.core.base.printable import printable
from fleet_runner.core.cabling.explain import Fault
from fleet_runner.core.cabling.judge import Verdicts
from fleet_runner.core.cabling.kinds import ordered, said
from fleet_runner.core.checks.parsers.discovery import Discovery, FabricPort

SHOWN = 3
"""Doubts that are spelled out; a design whose adapters nobody named has one for every link."""


ADAPTERS = 16
"""Names of adapters that a hint lists."""


def tell(verdicts: Verdicts) -> None:
    """Print one entry a fault, then what cannot be told, then one line that sums it up."""
    if verdicts.misnamed:
        warn(verdicts.suspect)
        return
    if verdicts.suspect:
        warn(f"{verdicts.suspect} Nothing below is sure: move no cable before you know which of the two is wrong.")
    for number, fault in enumerate(ordered(verdicts.faults), start=1):
        entry(fault, f"fault {number}")
        console.print()
    _uncertain(verdicts)
    _beside(verdicts)
    console.print(_summary(verdicts), markup=False)
    _unjudged(verdicts)


def entry(fault: Fault, mark: str) -> None:
    """Print a fault with its steps, each with its own indent."""
    console.print(Text(f"{mark}: ", style="bold").append(said(fault.kind), style="bold red"))
    console.print(indented(fault.message))
    steps(fault)


def steps(fault: Fault) -> None:
    """Print the numbered steps of a fault."""
    if fault.steps:
        table = _grid("right")
        for number, step in enumerate(fault.steps, start=1):
            table.add_row(f"{number}.", Text(printable(step)))
        console.print(Padding(table, (0, 0, 0, 2), expand=False))


def indented(sentence: str) -> Padding:
    """Return a sentence two columns in."""
    return Padding(Text(printable(sentence)), (0, 0, 0, 2), expand=False)


def _grid(side: Literal["left", "right"]) -> Table:
    """Return a table of a short first column and a second one that takes several lines."""
    table = Table.grid(padding=(0, 1, 0, 0))
    table.add_column(justify=side, no_wrap=True)
    table.add_column(overflow="fold")
    return table


def says(joined: Iterable[object]) -> str:
    """Return a link in words."""
    return printable(" to ".join(map(str, joined)))


def warn(sentence: str) -> None:
    """Print what has to be read before everything else."""
    console.print(Text("WARNING ", style="bold yellow").append(printable(sentence), style="default"))


def note(sentence: str) -> None:
    """Say something beside the answer, on standard error."""
    errors.print(printable(sentence), markup=False)


def strange_adapters(discovery: Discovery, verdicts: Verdicts, devices: Container[str]) -> tuple[str, ...]:
    """Return how to name adapters that leave links untold: those of the design's devices, and those of nobody's."""
    seen = {port.device: doubt for doubt in verdicts.doubts for port in doubt.seen}
    ends = [end for joined in discovery.links for end in joined[:2] if end.kind == "CA"] if seen else []
    untold = {key: end for end in ends if (key := f"{end.name.strip() or 'unnamed'} 0x{end.guid}") in seen}
    factory: dict[str, FabricPort] = {}
    adapters: set[str] = set()
    for key, end in untold.items():
        if end.name in verdicts.shared:
            continue
        host, _, adapter = end.name.rpartition(" ")
        if host in devices or host.partition(".")[0] in devices:
            adapters.add(adapter)
        else:
            factory[key] = end
    hints: list[str] = []
    if adapters:
        shown = ", ".join(sorted(adapters)[:ADAPTERS])
        hints.append(
            f"The design does not say which interfaces these adapters are: {shown}. Declare them with --names FILE, a"
            " CSV such as: device,interface,adapter / *,ib0,mlx5_0"
        )
    if factory:
        first, end = min(factory.items())
        doubt = seen[first]
        port = next(port for port in doubt.designed if port not in doubt.seen)
        hints.append(
            f"{_many(len(factory), 'adapter says', 'adapters say')} what the factory called it, not where it is, the"
            f" first: {end.name.strip() or 'unnamed'}, GUID 0x{end.guid}. Name its node (on it, rdma-ndd writes the"
            " host's name), or declare the GUID with --names FILE, a CSV such as: device,interface,guid /"
            f" {port.device},{port.interface},0x{end.guid}"
        )
    return tuple(hints)


def other_names(verdicts: Verdicts, devices: Container[str]) -> tuple[str, ...]:
    """Return how to name neighbours outside the design that may be ones of it."""
    seen = {port.device for doubt in verdicts.doubts for port in doubt.seen}
    pairs = [({*doubt.designed} - {*doubt.seen}, {*doubt.seen} - {*doubt.designed}) for doubt in verdicts.doubts]
    found = {
        odd.device: goal.device
        for goals, odds in pairs
        for goal, odd in product(goals, odds)
        if odd.device not in devices and (goal.device not in seen or goal.device in odd.device)
    }
    if not found or verdicts.misnamed:
        return ()
    name, goal = min(found.items())
    neighbours = _many(len(found), "neighbour has a name", "neighbours have names")
    said = (
        f"{neighbours} that the design does not know, the first: {name}, where {goal} belongs. It may be {goal} by"
        " another name, or another device: read its serial. If it is, declare it with --names FILE, a CSV such as:"
        f" device,name / {goal},{name}; fleet-runner cabling names proposes such names."
    )
    return (said,)


def unknown(sentences: Iterable[str]) -> None:
    """Print what cannot be told."""
    table = _grid("left")
    for sentence in sentences:
        table.add_row(Text("unknown", style="bold yellow"), Text(printable(sentence)))
    if table.row_count:
        console.print(table)


def _uncertain(verdicts: Verdicts) -> None:
    told = [str(doubt) for doubt in verdicts.doubts[:SHOWN]]
    if len(verdicts.doubts) > SHOWN:
        told.append(f"and {len(verdicts.doubts) - SHOWN} more links whose ends are unknown")
    if verdicts.shared:
        listed = ", ".join(map(repr, verdicts.shared[:ADAPTERS]))
        told.append(f"two devices use one name, told in two spellings: {listed}; rename one of them, move no cable")
    if verdicts.silent:
        links = _many(len(verdicts.silent), "designed link", "designed links")
        told.append(f"no data about {links}, the first: {says(verdicts.silent[0])}")
    told += [
        f"the ports of {device} are called otherwise than in the design, or its cables are plugged wrong: nobody can"
        f" tell which, and one look at a plug shows it; {_none_of(count)} is compared"
        for device, count in _shifted(verdicts).items()
    ]
    if verdicts.unmapped:
        links = _many(len(verdicts.unmapped), "designed link is", "designed links are")
        told.append(
            f"{links} not compared, because it is unknown which ports of the fabric are theirs, the first:"
            f" {says(verdicts.unmapped[0])}; declare it with --names FILE, a CSV such as: device,interface,adapter /"
            " leaf-01,IB1/1/1,1; fleet-runner cabling names proposes it where cables tell"
        )
    unknown(told)


def _shifted(verdicts: Verdicts) -> dict[str, int]:
    """Return how many designed links of each device are not compared."""
    cables = Counter(port.device for each in (*verdicts.unmapped, *verdicts.silent) for port in each)
    return {device: cables[device] for device in verdicts.shifted}


def _none_of(count: int) -> str:
    return f"none of its {count} cables" if count > 1 else "no cable of it"


def _summary(verdicts: Verdicts) -> str:
    there = f"{verdicts.matched} of {verdicts.designed} designed links are there; "
    count = len(verdicts.faults)
    if not count:
        if verdicts.suspect:
            return f"{there}no fault that can be named"
        some = verdicts.doubts or verdicts.silent or verdicts.unmapped or verdicts.shared
        return f"{there}no fault{' in what could be compared' if some else ''}"
    kinds = Counter(fault.kind for fault in ordered(verdicts.faults))
    listed = ", ".join(f"{number} {said(kind)}" for kind, number in kinds.items())
    return f"{there}{_many(count, 'fault', 'faults')} to put right{f': {listed}' if count > 1 else ''}"


def _many(count: int, one: str, several: str) -> str:
    return f"{count} {one if count == 1 else several}"


def _beside(verdicts: Verdicts) -> None:
    """List the links at designed devices that the design does not know, by device: they may be as right as others."""
    ends: dict[str, list[str]] = {}
    for near, far in sorted(verdicts.beside, key=lambda pair: (pair[0].device, len(pair[0].interface), pair[0])):
        ends.setdefault(near.device, []).append(f"{near.interface} to {far}")
    if not ends:
        return
    where = "at the design's devices"
    count = len(verdicts.beside)
    console.print(
        _many(count, f"link {where} is not in it, and not judged:", f"links {where} are not in it, and not judged:")
    )
    table = _grid("left")
    for device, told in ends.items():
        table.add_row(Text(printable(device)), Text(printable(", ".join(told))))
    console.print(Padding(table, (0, 0, 0, 2), expand=False))


def _unjudged(verdicts: Verdicts) -> None:
    """Say how many other links are not judged."""
    if verdicts.uplinks:
        links = _many(len(verdicts.uplinks), "link between switches is", "links between switches are")
        note(f"{links} not judged: the design has none.")
    if outside := len(verdicts.unbound) - len(verdicts.beside) - len(verdicts.uplinks):
        ends = "between devices that the design does not have"
        note(_many(outside, f"link {ends} is not judged.", f"links {ends} are not judged."))
