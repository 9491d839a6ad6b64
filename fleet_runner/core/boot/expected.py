"""Who may have an armed boot's data: what the source of truth and the BMC know about a node."""

import re
from collections.abc import Mapping
from typing import Any

from fleet_runner.core.boot import identity
from fleet_runner.core.boot.boots import Identity
from fleet_runner.core.inventory.addresses import ip

_MAC = re.compile(r"[0-9a-f]{2}(:[0-9a-f]{2}){5}")


def expected(device: Mapping[str, Any], told: Mapping[str, Any]) -> Identity:
    """Return who is expected: `device` is `fleet_device`, `told` the System resource as its BMC tells it.

    The source of truth's serial number wins over the BMC's; what nobody filled in counts for nothing.
    """
    macs = (str(each.get("mac") or "").lower() for each in device.get("interfaces") or () if boots(each))
    address = ip(str(device.get("primary_address") or ""))
    ours = str(device.get("serial") or "")
    theirs = str(told.get("SerialNumber") or "")
    return Identity(
        macs=frozenset(mac for mac in macs if _MAC.fullmatch(mac)),
        serial=next((each.strip() for each in (ours, theirs) if identity.serial(each)), ""),
        uuid=identity.uuid(str(told.get("UUID") or "")),
        addresses=frozenset({address} if address else ()),
    )


def nobody(found: Identity) -> bool:
    """Whether nothing would tell the node from any other machine; an address alone does not."""
    return not (found.macs or found.serial or found.uuid)


def boots(interface: Mapping[str, Any]) -> bool:
    """Whether a node may boot from an interface: neither its BMC's, nor one of its fabric."""
    return not (interface.get("mgmt_only") or str(interface.get("kind") or "").startswith("infiniband"))
