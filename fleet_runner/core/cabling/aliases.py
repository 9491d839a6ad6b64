"""Other names that a fabric has for the devices of a design: a server's serial, a renamed switch."""

import re
from collections.abc import Iterable, Mapping

from fleet_runner.core.checks.parsers.discovery import FabricLink, FabricPort

_MANAGED = re.compile(r"(MF0;)([^:;]+)([:;].*)", re.DOTALL)


def called(links: Iterable[FabricLink], devices: Mapping[str, str]) -> Iterable[FabricLink]:
    """Return the links with each end's description in the words of the design; `devices` gives a name's device."""
    if not devices:
        return links
    return tuple(link._replace(a=renamed(link.a, devices), b=renamed(link.b, devices)) for link in links)


def renamed(port: FabricPort, devices: Mapping[str, str]) -> FabricPort:
    """Return an end likewise.

    A description is a device's name: alone, before an adapter's, or inside what managed switches add.
    """
    if port.name in devices:
        return port._replace(name=devices[port.name])
    if found := _MANAGED.fullmatch(port.name):
        return port._replace(name=f"{found[1]}{devices.get(found[2], found[2])}{found[3]}")
    device, space, adapter = port.name.rpartition(" ")
    return port._replace(name=f"{devices.get(device, device)}{space}{adapter}")
