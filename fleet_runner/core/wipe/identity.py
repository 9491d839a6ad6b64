"""Is the machine that answers the node that is to be wiped? An address that was given twice must erase nobody."""

from collections.abc import Collection

from fleet_runner.core.evidence import ReadEnd
from fleet_runner.core.wipe.devices import Seen
from fleet_runner.core.wipe.reads import SERIALS


def stranger(serial: str, own: Collection[str], seen: Seen) -> str:
    """Say why it is not known to be the node; "" where it is. `own` are the serial numbers of the node's disks."""
    told = [_told(name, seen) for name in SERIALS]
    said = [each for each in told if each]
    if serial:
        if serial.casefold() in (each.casefold() for each in said):
            return ""
        return (
            f"the machine that answers says serial {' and '.join(dict.fromkeys(said)) or 'nothing'}, the source of "
            f"truth {serial}: is it another machine at this address? Nothing is erased"
        )
    if own:
        return ""  # then each disk is held against its own serial number
    return "the source of truth has no serial number of the node, nor of its disks: nothing says that this is it"


def _told(name: str, seen: Seen) -> str:
    reading = seen.get(name)
    return reading.text.strip() if reading is not None and reading.end is ReadEnd.OK and not reading.rc else ""
