"""One difference between what was observed and what the source of truth says."""

import re
from dataclasses import dataclass
from enum import StrEnum

PROPOSABLE = re.compile(r"[0-9A-Za-z][0-9A-Za-z ._:/+-]{0,49}", re.ASCII)
"""What may go into a file that people open in a spreadsheet; NetBox's serial numbers have 50 characters."""

SHOWN = 60
"""Characters of a value; it comes from a node."""


class Kind(StrEnum):
    """What differs."""

    DEVICE = "device"  # the serial number of the device itself
    PART = "part"  # the serial number of a part, in its slot
    GUID = "guid"  # the port GUID of an InfiniBand interface; NetBox calls it WWN
    MAC = "mac"
    FIRMWARE = "firmware"  # against the pins of the catalogue: a source of truth has none
    LINK = "link"


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing of a node (`name`: a slot, an interface), what the source says of it and what `check` saw at `at`.

    `source` is "" where the source leaves it empty. Where a check's finding says it all, that is the `message`, and
    `fault` its key. `proposed` is the one value that the source should have, "" where a person must look first.
    `before` names the state that the node has come to since, in which hands may have changed what was seen.
    """

    node: str
    kind: Kind
    name: str
    check: str
    at: float
    source: str = ""
    observed: str = ""
    proposed: str = ""
    message: str = ""
    fault: str = ""
    before: str = ""

    @property
    def empty(self) -> bool:
        """Whether the source only leaves it empty: it says nothing, so nothing contradicts it."""
        return not (self.source or self.message)

    @property
    def sentence(self) -> str:
        """Return both values in one line."""
        if self.message:
            return self.message
        return f"{self.name}: the source of truth says {self.source or 'nothing'}, observed {self.observed}"


def proposable(value: str) -> str:
    """Return a value that may be proposed; "" for one that no label has."""
    return value if PROPOSABLE.fullmatch(value) else ""
