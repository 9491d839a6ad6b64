"""Faults of RoCE: at a node's port, at its cable, or at the switch of its Ethernet rail."""

from fleet_runner.core.cabling.switches import PORTS
from fleet_runner.lab import ethernet
from fleet_runner.lab.fault import Fault, Options
from fleet_runner.lab.folder import Lab, LabError, read
from fleet_runner.lab.tools import roce

OPTIONS = {"component": roce.INTERFACE}


def _begin(lab: Lab, fault: str, options: Options, *others: str) -> None:
    """Refuse a port that the lab does not have; `others` are switches that the fault may be at."""
    known = (roce.INTERFACE, *((*roce.RAILS, *others) if read(lab.about).get("rails", False) else ()))
    if options["component"] not in known:
        raise LabError(f"{fault}: --component is {options['component']!r}, expected one of {', '.join(known)}")


def _pfc_off(lab: Lab, node: str, options: Options) -> None:
    """Only a switch that tells its PFC can be seen to have none."""
    del node
    told = (name for name, maker in ethernet.LEAVES.items() if "pfc" in PORTS[maker.network_os])
    _begin(lab, "pfc_off", options, *told)


def _pause_storm(lab: Lab, node: str, options: Options) -> None:
    del node
    _begin(lab, "pause_storm", options)


def _lossy_cable(lab: Lab, node: str, options: Options) -> None:
    del node
    _begin(lab, "lossy_cable", options)


def _wrong_mtu(lab: Lab, node: str, options: Options) -> None:
    del node
    _begin(lab, "wrong_mtu", options, *ethernet.LEAVES)


ROCE_FAULTS: dict[str, Fault] = {
    "pfc_off": Fault(
        "A RoCE port (--component) has PFC on for no priority (checked where the profile has roce); with a rail's"
        " leaf, its port to the node.",
        ("roce_ports",),
        OPTIONS,
        _pfc_off,
    ),
    "pause_storm": Fault(
        "The host takes nothing, and its RoCE port (--component) drops (likewise).",
        ("roce_ports",),
        OPTIONS,
        _pause_storm,
    ),
    "lossy_cable": Fault(
        "The cable of a RoCE port (--component) makes errors that FEC does not correct (likewise).",
        ("roce_ports",),
        OPTIONS,
        _lossy_cable,
    ),
    "wrong_mtu": Fault(
        "A RoCE port (--component) has the MTU of an image that nobody adapted (likewise); with a rail's leaf, its"
        " port to the node.",
        ("roce_ports",),
        OPTIONS,
        _wrong_mtu,
    ),
}
"""By name. In a lab with Ethernet rails their ports have them, too, and the switches see what they would see."""
