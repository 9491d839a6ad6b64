"""What a DHCP server has to say to nodes that boot over the network, and its configuration; all of it pure."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from fleet_runner.core.boot.dhcp import dnsmasq, kea
from fleet_runner.core.boot.dhcp.networks import Networks
from fleet_runner.core.boot.dhcp.reservations import Reserved, reserve
from fleet_runner.core.inventory.records import Fleet


class Kind(NamedTuple):
    """A kind of configuration: whose it is, how that program tests a file, and how it is rendered."""

    program: str
    test: tuple[str, ...]  # the file follows
    render: Callable[[Networks, Reserved], str]
    reserves: bool  # whether it has the nodes' addresses


KINDS = {
    "dnsmasq": Kind(
        "dnsmasq",
        ("dnsmasq", "--test", "-C"),
        lambda found, all_: dnsmasq.full(found, all_.reservations),
        reserves=True,
    ),
    "dnsmasq-proxy": Kind(
        "dnsmasq", ("dnsmasq", "--test", "-C"), lambda found, _: dnsmasq.proxy(found), reserves=False
    ),
    "kea": Kind(
        "kea-dhcp4", ("kea-dhcp4", "-t"), lambda found, all_: kea.render(found, all_.reservations), reserves=True
    ),
    "tftp": Kind("dnsmasq", ("dnsmasq", "--test", "-C"), lambda found, _: dnsmasq.tftp(found), reserves=False),
}
"""Every kind, by the word that the command line has for it."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """A configuration, how many nodes have an address in it, and a sentence for each that has none."""

    text: str
    reserved: int = 0
    notes: tuple[str, ...] = ()


def render(kind: str, fleet: Fleet, found: Networks) -> Rendered:
    """Return one kind of configuration."""
    asked = KINDS[kind]
    reserved = reserve(fleet, found.networks) if asked.reserves else Reserved(())
    return Rendered(asked.render(found, reserved), len(reserved.reservations), reserved.notes)
