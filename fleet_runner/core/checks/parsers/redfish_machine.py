"""What a BMC calls the machine: the serial numbers of its systems and chassis, a UUID, and MAC addresses."""

from dataclasses import dataclass

from fleet_runner.core.checks.parsers.redfish import Gathered, text_in

PARTS = frozenset({"Component", "Module", "Card", "Zone"})
"""Types of chassis that are parts: a board of a DGX, a GPU's, a baseboard's."""

SYSTEMS, CHASSIS = "/redfish/v1/Systems/", "/redfish/v1/Chassis/"


@dataclass(frozen=True, slots=True)
class Machine:
    """The serial numbers as the BMC lists them. `uuid` is "" unless there is exactly one.

    `whole` is false where a system or a chassis answered with an error.
    """

    serials: tuple[str, ...]
    uuid: str
    macs: frozenset[str]
    whole: bool


def machine(found: Gathered) -> Machine:
    """Return what was gathered; the system of a GPU baseboard is a part, and so are chassis within chassis."""
    systems = [body for uri, body in found.of("ComputerSystem").items() if "Baseboard" not in uri]
    chassis = [body for body in found.of("Chassis").values() if text_in(body, "ChassisType") not in PARTS]
    cards = found.of("EthernetInterface").values()
    told = {text_in(body, "UUID") for body in systems} - {""}
    macs = (text_in(body, name).lower() for body in cards for name in ("MACAddress", "PermanentMACAddress"))
    return Machine(
        serials=tuple(dict.fromkeys(filter(None, (text_in(body, "SerialNumber") for body in (*systems, *chassis))))),
        uuid=told.pop() if len(told) == 1 else "",
        macs=frozenset(filter(None, macs)),
        whole=not any(_is_machine(uri) for uri in found.unread),
    )


def _is_machine(uri: str) -> bool:
    return any(uri.startswith(start) and "/" not in uri.removeprefix(start) for start in (SYSTEMS, CHASSIS))
