"""Names of racks that tell them apart in their site: NetBox takes two of one name in two locations."""

from collections import Counter
from collections.abc import Mapping

RackRow = tuple[str, str, str | None]
"""A rack's site, name and location."""


def rack_names(racks: Mapping[int, RackRow]) -> dict[int, str]:
    """Return the name of each rack by its id: with its location before it where its site has another of that name."""
    often = Counter((site, name) for site, name, _ in racks.values())
    here = Counter(racks.values())
    found: dict[int, str] = {}
    for number, row in racks.items():
        site, name, location = row
        if often[site, name] == 1:
            found[number] = name
        elif here[row] == 1 and location:
            found[number] = f"{location} {name}"
        else:
            found[number] = f"{name} #{number}"
    return found
