"""What cloud-init's templates may use: a few names, made from the source of truth and from the armed boot."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from fleet_runner.core.boot.boots import Boot
from fleet_runner.core.boot.network import network
from fleet_runner.core.inventory.ansible import reserved
from fleet_runner.core.inventory.records import Device, Fleet


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of one node and its boot, as plain values; docs/boot-templates.md lists every name.

    `node` is its record, `context` its config context, `boot` this boot with the URLs that it may use, and `network`
    the network-config that the built-in template gives.
    """

    node: Mapping[str, Any]
    context: Mapping[str, Any]
    boot: Mapping[str, Any]
    network: Mapping[str, Any]


class BootEndpoint(NamedTuple):
    """How a booting node reaches the boot service: its base URL, the boot's key, and the MAC address it asked with.

    `url` is "https://10.0.0.1:8443" or the like; `mac` is "" where it is not known.
    """

    url: str
    key: str
    mac: str = ""


def instance_id(boot: Boot) -> str:
    """Return what cloud-init knows a boot by; another one makes it set up everything anew."""
    return f"{boot.node}-{boot.id}"


def facts(fleet: Fleet, device: Device, boot: Boot, reach: BootEndpoint) -> Facts:
    """Return what the templates of one boot may use."""
    base = reach.url.rstrip("/")
    return Facts(
        node=_record(fleet, device),
        context={name: value for name, value in device.context.items() if not reserved(name)},
        boot={
            "id": boot.id,
            "instance_id": instance_id(boot),
            "mac": reach.mac,
            "url": base,
            "seed_url": f"{base}/seed/{reach.key}/",
            "phone_home_url": f"{base}/phone-home/{reach.key}",
        },
        network=network(device, reach.mac),
    )


def _record(fleet: Fleet, device: Device) -> dict[str, Any]:
    return {
        "name": device.name,
        "device_type": device.device_type,
        "role": device.role,
        "site": device.site,
        "rack": device.rack,
        "place": fleet.place(device.name),
        "status": device.status,
        "serial": device.serial,
        "tenant": device.tenant,
        "primary_address": device.primary_address,
        "interfaces": [
            {
                "name": each.name,
                "kind": each.kind,
                "mac": each.mac,
                "guid": each.guid,
                "mgmt_only": each.mgmt_only,
            }
            for each in device.interfaces
        ],
    }
