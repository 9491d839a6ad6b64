"""What an ATA disk says of itself and of its security, as `hdparm -I` prints it."""

import re
from dataclasses import dataclass

from fleet_runner.core.base.errors import EvidenceError

_FACT = re.compile(r"^\s*(Model Number|Serial Number|Firmware Revision):[ \t]*(.*)$", re.MULTILINE)
_SECURITY = re.compile(r"^Security:[ \t]*\n(?P<lines>(?:[ \t].*\n?)*)", re.MULTILINE)
_FLAG = re.compile(
    r"^[ \t]*(not)?[ \t]+(supported|enabled|locked|frozen|supported: enhanced erase)[ \t]*$", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Ata:
    """An ATA disk. `enabled`: a password is set; `frozen`: no command of the security feature is taken."""

    model: str
    serial: str
    firmware: str
    supported: bool = False
    enabled: bool = False
    locked: bool = False
    frozen: bool = False
    enhanced: bool = False


def parse(text: str) -> Ata:
    """Read what a disk says; EvidenceError for a text without its serial number."""
    facts = {name: " ".join(value.split()) for name, value in _FACT.findall(text)}
    if not facts.get("Serial Number"):
        raise EvidenceError("hdparm -I: found no serial number; was the output cut short?")
    section = _SECURITY.search(text)
    told = {flag: not negated for negated, flag in _FLAG.findall(section["lines"])} if section else {}
    return Ata(
        model=facts.get("Model Number", ""),
        serial=facts["Serial Number"],
        firmware=facts.get("Firmware Revision", ""),
        supported=told.get("supported", False),
        enabled=told.get("enabled", False),
        locked=told.get("locked", False),
        frozen=told.get("frozen", False),
        enhanced=told.get("supported: enhanced erase", False),
    )
