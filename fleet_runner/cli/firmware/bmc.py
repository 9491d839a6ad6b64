"""Where a node's BMC is asked, and what its device type's profile wants of it."""

from collections.abc import Mapping
from typing import Any

from fleet_runner.adapters import source
from fleet_runner.adapters.plays import profiles
from fleet_runner.adapters.store import Store
from fleet_runner.cli.base.session import known
from fleet_runner.core.base.errors import EvidenceError, FleetError
from fleet_runner.core.boot import boot_interface
from fleet_runner.core.firmware import bios, boot_settings, catalogue
from fleet_runner.core.firmware.bios_values import Value
from fleet_runner.core.firmware.catalogue import Catalogue
from fleet_runner.core.inventory import ansible
from fleet_runner.core.inventory.bmc_address import networks
from fleet_runner.core.inventory.records import Device
from fleet_runner.core.lifecycle.runs import Node
from fleet_runner.core.lifecycle.states import FABRICS
from fleet_runner.settings import Settings


def a_node(store: Store, name: str) -> Node:
    """Return a node by name; a fabric has no BMC."""
    row = known(store, name)
    if row.state in FABRICS:
        raise FleetError(f"{name} is a fabric; name a node")
    return row


def where(settings: Settings, name: str) -> tuple[Device, str]:
    """Return a node's device in the source of truth, and its BMC's URL."""
    fleet = source.read(settings)
    device = fleet.devices.get(name)
    if device is None:
        raise FleetError(f"{name} is no longer in the source of truth, so its BMC is unknown")
    variables = ansible.hostvars(fleet, device, {}, networks(settings.bmc_networks))
    url = str(variables.get("fleet_bmc_url") or "")
    if refused := variables.get("fleet_bmc_refused"):
        raise FleetError(str(refused))
    if not url:
        raise FleetError(f"{name} has no BMC address; give the device an out-of-band address")
    return device, url


def card(settings: Settings, device: Device) -> str:
    """Return the MAC address of the card that a device's profile names to boot from; "" where it names none."""
    profile: Mapping[str, Any] = profiles.read(settings, device.device_type)
    interfaces = [{"name": each.name, "mac": each.mac} for each in device.interfaces]
    try:
        return boot_interface.chosen(profile, {"name": device.name, "interfaces": interfaces})
    except EvidenceError as error:
        raise FleetError(str(error)) from error


def wanted(settings: Settings, device: Device) -> tuple[Catalogue, Mapping[str, Value]]:
    """Return the versions, and the BIOS and boot settings, that a device's profile asks for."""
    profile: Mapping[str, Any] = profiles.read(settings, device.device_type)
    try:
        return catalogue.read(profile), {**bios.read(profile), **boot_settings.read(profile)}
    except EvidenceError as error:
        raise FleetError(f"{error}; fleet-runner firmware check lists each line") from error
