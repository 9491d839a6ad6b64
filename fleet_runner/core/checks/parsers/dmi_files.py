"""What a machine's firmware calls the machine (SMBIOS, DSP0134), as the kernel shows it in /sys/class/dmi/id."""

from dataclasses import dataclass

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers import files

FOLDER = "/sys/class/dmi/id"
NAMES = ("product_serial", "chassis_serial", "board_serial", "product_uuid", "sys_vendor", "product_name")
PATTERNS = tuple(f"{FOLDER}/{name}" for name in NAMES)

OF_SYSTEM = ("product_serial", "chassis_serial")
"""What a site writes down as the machine's serial number: one of these."""


@dataclass(frozen=True, slots=True)
class Dmi:
    """The serial numbers of the system and its chassis, and of its board; "" where nothing is told.

    `whole` is false where one of the system's could not be read: only root may.
    """

    serials: tuple[str, ...]
    board: str
    uuid: str
    whole: bool


def parse(text: str) -> Dmi:
    """Return what was read; EvidenceError where the kernel shows nothing of the kind."""
    found = files.parse(text)
    told = {name: files.word(found.get(f"{FOLDER}/{name}")) for name in NAMES}
    if not any(told.values()):
        raise EvidenceError(f"{FOLDER} is empty; does this machine have SMBIOS, and does the play run as root?")
    unread = [name for name in OF_SYSTEM if found.get(f"{FOLDER}/{name}", "") is None]
    serials = tuple(told[name] for name in OF_SYSTEM if told[name])
    return Dmi(serials, told["board_serial"], told["product_uuid"], not unread)
