"""Where a node counts: where the source of truth says that it is, else where it last said so."""

from fleet_runner.core.inventory.records import Device, Fleet, Place, rack_key

DOMAIN = "failure_domain"
"""The key of a device's config context that names what it fails with: a power feed, a pod, a row."""


def place(fleet: Fleet, node: str) -> Place:
    """Return where a node counts.

    A record that is missing, or cannot be used, moves no machine: the node counts where it was. So does one whose
    record names no rack, unless it is at another site now.
    """
    known = fleet.last_places.get(node, Place())
    device = fleet.devices.get(node)
    if device is None:
        return known
    now = _said(fleet, device)
    if now.rack or now.site != known.site:
        return now
    return now._replace(rack=known.rack, domain=now.domain or known.domain)


def _said(fleet: Fleet, device: Device) -> Place:
    """Return what a record says. Its failure domain is what its context says, else the location of its rack."""
    key = rack_key(device.site, device.rack) if device.rack else ""
    rack = fleet.racks.get(key)
    named = device.context.get(DOMAIN)
    domain = named if isinstance(named, str) and named else (rack.location or "" if rack is not None else "")
    return Place(device.site, key, rack_key(device.site, domain) if domain else "", device.tenant or "")
