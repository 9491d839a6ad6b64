"""What to do about lost NVLinks: the part by its name, and the one right move."""

from collections.abc import Iterable, Iterator, Mapping

from fleet_runner.core.nvlink.lost_links import Lost, Part
from fleet_runner.core.nvlink.trouble import Trouble, named

COMMON = frozenset({Part.DOMAIN, Part.SWITCH_TRAY, Part.SWITCH_PORTS, Part.TRAYS})
"""Parts outside of the compute trays: no tray is repaired for them."""

SHOWN = 6
"""Links that a message names."""

LOOK = (
    "Ask it over its management port, and look at its power and lights: nv show platform, nv show interface (NVOS)."
)


def explained(found: Iterable[Lost], design: Mapping[str, frozenset[int]]) -> Iterator[Trouble]:
    """Say of each part which one it is. `design` gives switch trays the links of each GPU that lead to them."""
    for each in found:
        match each.part:
            case Part.DOMAIN:
                yield _domain(each)
            case Part.SWITCH_TRAY:
                yield from _switch_trays(each, design)
            case Part.SWITCH_PORTS:
                yield _ports(each)
            case Part.TRAYS:
                yield _trays(each)
            case Part.TRAY:
                yield _tray(each)
            case Part.CONNECTOR:
                yield _connector(each)
            case _:
                yield _port(each)


def _domain(each: Lost) -> Trouble:
    return Trouble(
        "nvlink.switch_tray",
        "all switch trays",
        f"every NVLink of all {len(each.trays)} compute trays that answered is down: the switch trays have no power,"
        " or their control does not run",
        (
            "Look at the power of the switch trays and of their shelves.",
            "Look at their control: nv show cluster apps (NVOS) on the switch tray that runs NMX.",
            "Do not reboot compute trays for it: no link comes up before the switches do.",
        ),
    )


def _switch_trays(each: Lost, design: Mapping[str, frozenset[int]]) -> Iterator[Trouble]:
    """One trouble for each switch tray that the design names, and one for the links of which it says nothing."""
    links = each.links[0] if len(set(each.links)) == 1 else None
    mine = {name: of for name, of in design.items() if links is not None and of and of <= links}
    for name, of in sorted(mine.items()):
        yield _switch(name, f"NVLinks {_links(of)} are", each.trays, (name,))
    left = (links or frozenset[int]()) - frozenset[int]().union(*mine.values())
    if left:
        yield _switch(f"NVLinks {_links(left)}", f"NVLinks {_links(left)} are", each.trays, ())
    elif links is None:
        most = max(map(len, each.links))
        yield _switch("a switch tray", f"{most} of each GPU's NVLinks are", each.trays, ())


def _switch(part: str, what: str, trays: tuple[str, ...], devices: tuple[str, ...]) -> Trouble:
    which = f"the switch tray {part}" if devices else "the switch tray that they lead to"
    return Trouble(
        "nvlink.switch_tray",
        part,
        f"{what} down at every GPU of all {len(trays)} compute trays that answered: {which} is lost, no GPU is",
        (
            f"Find {which}: it is the one whose NVLink ports are all down. {LOOK}",
            "If it does not answer, take its power away and give it back; if that does not help, replace it.",
            "Leave the compute trays alone: the domain goes on with less bandwidth until then.",
        ),
        devices,
    )


def _ports(each: Lost) -> Trouble:
    return Trouble(
        "nvlink.switch_ports",
        f"NVLinks {_slots(each)} of {named(each.trays)}",
        f"NVLinks {_slots(each)} are down at every GPU of {named(each.trays)}, and up at other trays: ports of a"
        " switch tray, or the cable cartridge that they share",
        (
            f"Find the ports on the switch trays that {named(each.trays)} lead to. {LOOK}",
            "If they belong to one switch tray, reseat it; if not, reseat the cable cartridge that they share.",
        ),
    )


def _trays(each: Lost) -> Trouble:
    """One trouble: trays do not lose all of their links together by themselves. Which ones may change meanwhile."""
    return Trouble(
        "nvlink.switch_ports",
        "all NVLinks of several trays",
        f"all NVLinks of all GPUs of {len(each.trays)} compute trays are down ({named(each.trays)}): what these trays"
        " share, as the cable cartridges, the power or the control of the switch trays",
        (
            f"Look at the switch trays first: power, lights, control (nv show cluster apps). {LOOK}",
            "If they are well, look at the cable cartridges that these trays share; reseat a tray only after that.",
            "Do not reboot compute trays for it before.",
        ),
    )


def _tray(each: Lost) -> Trouble:
    (tray,) = each.trays
    steps = (f"Reseat {tray}: its connectors to the cable cartridges are at its back.",)
    message = f"all NVLinks of all GPUs of {tray} are down, and up at other trays: its connectors, or its power"
    return Trouble("nvlink.tray", tray, message, steps, (tray,), alone=True)


def _connector(each: Lost) -> Trouble:
    (tray,) = each.trays
    message = f"NVLinks {_slots(each)} of all GPUs of {tray} are down, and up at other trays: a connector at its back"
    steps = (f"Reseat {tray}; if that does not help, look at the pins of its connectors and of the cartridge.",)
    return Trouble("nvlink.connector", tray, message, steps, (tray,), alone=True)


def _port(each: Lost) -> Trouble:
    (tray,) = each.trays
    which = "; ".join(f"{_links(links)} of GPU {at}" for at, links in enumerate(each.links) if links)
    message = f"NVLinks {which} of {tray} are down, and up at other trays: a GPU, or one cable of a cartridge"
    steps = (f"The checks of {tray} follow it up: fleet-runner explain {tray}",)
    return Trouble("nvlink.port", tray, message, steps, (tray,), alone=True)


def _slots(each: Lost) -> str:
    """Return "4, 5" where all GPUs lost the same links, else their numbers by the place of the GPU."""
    if len(set(each.links)) == 1:
        return _links(each.links[0])
    return "; ".join(f"{_links(links)} of GPU {at}" for at, links in enumerate(each.links))


def _links(links: frozenset[int]) -> str:
    return named([str(link) for link in sorted(links)], SHOWN)
