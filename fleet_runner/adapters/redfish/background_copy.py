"""NVIDIA's roots of trust: whether one copies firmware to its other slot now, and takes no image meanwhile."""

import contextlib
from collections.abc import Mapping

from fleet_runner.adapters.redfish.resources import Body, Resources
from fleet_runner.core.base.errors import BmcError
from fleet_runner.core.base.printable import printable

NAMES = ("erot", "irot")
"""What the names of their chassis have in them."""

COPIES = "InProgress"

MOST_LETTERS = 80


def unready(at: Resources) -> str:
    """Say which root of trust copies now; "" where none does, or nobody can tell.

    One that does not copy by itself may say Pending for ever, and is not waited for.
    """
    with contextlib.suppress(BmcError):
        chassis = at.service("Chassis")
        for uri in at.members(chassis) if chassis else ():
            name = printable(uri.rstrip("/").rpartition("/")[2][:MOST_LETTERS])
            if any(each in name.lower() for each in NAMES) and _copies(_read(at, uri)):
                return f"{name} copies its firmware to its other slot, and is asked again"
    return ""


def _read(at: Resources, uri: str) -> Body:
    with contextlib.suppress(BmcError):
        return at.find(uri) or {}
    return {}


def _copies(body: Body) -> bool:
    oem = body.get("Oem")
    said = oem.get("Nvidia") if isinstance(oem, Mapping) else None
    said = said if isinstance(said, Mapping) else {}
    return said.get("AutomaticBackgroundCopyEnabled") is True and said.get("BackgroundCopyStatus") == COPIES
