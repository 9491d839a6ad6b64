"""Faults of the Ethernet rails, which only a lab made with `lab up --rails` has."""

from fleet_runner.lab import ethernet, plan, plugging
from fleet_runner.lab.fault import Fault, Options
from fleet_runner.lab.folder import Lab, LabError, read

PEER = tuple(ethernet.SPINE_SWITCHES)[-1]
"""The one of an MLAG pair that goes dark."""


def _has_rails(lab: Lab, fault: str, rail: int = 0) -> None:
    if rail >= ethernet.RAILS:
        raise LabError(f"{fault}: --rail is {rail}, expected 0 to {ethernet.RAILS - 1}")
    if not read(lab.about).get("rails", False):
        raise LabError(f"{fault}: this lab has no Ethernet rails; make another one with `lab up --rails --dir DIR`")


def _cross_rails(lab: Lab, node: str, options: Options) -> None:
    _has_rails(lab, "wrong_rail")
    plugging.swap(lab, *_both_rails(node, options))


def _uncross_rails(lab: Lab, node: str, options: Options) -> None:
    plugging.restore(lab, _both_rails(node, options))


def _both_rails(node: str, options: Options) -> tuple[plugging.End, plugging.End]:
    del options
    return (node, ethernet.interface(0)), (node, ethernet.interface(1))


def _swap_in_rail(lab: Lab, node: str, options: Options) -> None:
    _has_rails(lab, "rail_swap", options["rail"])
    plugging.swap(lab, *_same_rail(node, options))


def _unswap_in_rail(lab: Lab, node: str, options: Options) -> None:
    plugging.restore(lab, _same_rail(node, options))


def _same_rail(node: str, options: Options) -> tuple[plugging.End, plugging.End]:
    """Return the ports of one rail of two servers: of the node, and of that which is named, or of the first other."""
    other = options["with"] or next(name for name in map(plan.server, (1, 2)) if name != node)
    return (node, ethernet.interface(options["rail"])), (other, ethernet.interface(options["rail"]))


def _kill_leaf(lab: Lab, node: str, options: Options) -> None:
    del node
    _has_rails(lab, "dead_leaf", options["rail"])
    plugging.power(lab, ethernet.leaf(options["rail"]), on=False)


def _revive_leaf(lab: Lab, node: str, options: Options) -> None:
    del node
    plugging.power(lab, ethernet.leaf(options["rail"]), on=True)


def _slow_leaf(lab: Lab, node: str, options: Options) -> None:
    del node
    _has_rails(lab, "slow_path", options["rail"])


def _lose_peer(lab: Lab, node: str, options: Options) -> None:
    del node
    if options["component"] not in {"switch", "link"}:
        raise LabError(f"mlag_peer_down: --component is {options['component']!r}, expected switch or link")
    _has_rails(lab, "mlag_peer_down")
    if options["component"] == "switch":
        plugging.power(lab, PEER, on=False)
    else:
        plugging.unplug(lab, _peer_link())


def _find_peer(lab: Lab, node: str, options: Options) -> None:
    del node
    if options["component"] == "switch":
        plugging.power(lab, PEER, on=True)
    else:
        plugging.plug(lab, _peer_link())


def _peer_link() -> tuple[plugging.End, ...]:
    return tuple((plug.a, plug.a_port) for plug in ethernet.peer_link())


RAIL_FAULTS: dict[str, Fault] = {
    "wrong_rail": Fault(
        "The two Ethernet rails of one node are exchanged at the leaves; both links are up.",
        ("cabling_ethernet", "fabric_ethernet"),
        {},
        _cross_rails,
        _uncross_rails,
    ),
    "rail_swap": Fault(
        "The cables of one Ethernet rail are exchanged with those of another node (--with).",
        ("cabling_ethernet", "fabric_ethernet"),
        {"rail": 0, "with": ""},
        _swap_in_rail,
        _unswap_in_rail,
    ),
    "dead_leaf": Fault(
        "The leaf of an Ethernet rail has no power: it does not answer, and nobody hears it.",
        (),
        {"rail": 0},
        _kill_leaf,
        _revive_leaf,
    ),
    "slow_path": Fault(
        "Who writes through the leaf of an Ethernet rail reaches only a --share; with 0 nothing comes through.",
        ("fabric_paths",),
        {"rail": 0, "share": 0.4},
        _slow_leaf,
    ),
    "mlag_peer_down": Fault(
        "A spine of the MLAG pair has no power, or both cables between the two are out (--component link).",
        (),
        {"component": "switch"},
        _lose_peer,
        _find_peer,
    ),
}
"""By name. The fault of a leaf may be put into any node: it is of none."""
