"""Cable profiles (NetBox 4.5 and later): which position of a connector at one end leads to which at the other.

Source: NetBox's documentation of cable profiles and its names for them, such as "trunk-2c4p-shuffle": two connectors
of four positions at each end. A termination's connector is its place in the list of its end.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

At = tuple[int, int]
"""A connector and one of its positions, both counted from 1."""

_NAME = re.compile(r"(single|trunk|breakout)-([0-9]{1,2})c([0-9]{1,2})p(?:-([0-9]{1,2})c([0-9]{1,2})p)?(-shuffle)?")

_TWO_OF_FOUR = {
    (1, 1): (1, 1), (1, 2): (1, 2), (1, 3): (2, 1), (1, 4): (2, 2),
    (2, 1): (1, 3), (2, 2): (1, 4), (2, 3): (2, 3), (2, 4): (2, 4),
}  # fmt: skip
_FOUR_OF_FOUR = {(one, other): (other, one) for one in range(1, 5) for other in range(1, 5)}
_TWO_TO_EIGHT = {
    (1, 1): (1, 1), (1, 2): (2, 1), (1, 3): (5, 1), (1, 4): (6, 1),
    (2, 1): (3, 1), (2, 2): (4, 1), (2, 3): (7, 1), (2, 4): (8, 1),
}  # fmt: skip
_SHUFFLES: Mapping[str, Mapping[At, At]] = {
    "trunk-2c4p-shuffle": _TWO_OF_FOUR,
    "trunk-4c4p-shuffle": _FOUR_OF_FOUR,
    "breakout-2c4p-8c1p-shuffle": _TWO_TO_EIGHT,
}
"""From end A to end B."""


@dataclass(frozen=True, slots=True)
class Profile:
    """What leads where: from end A to end B, and back. `positions` are those of each connector of A, and of B."""

    forth: Mapping[At, At]
    back: Mapping[At, At]
    positions: tuple[int, int]

    def through(self, side: str, at: At) -> At | None:
        """Return where a position of an end ("A" or "B") leads to at the other one."""
        return (self.forth if side == "A" else self.back).get(at)

    def lanes(self, side: str, connector: int) -> Iterator[At]:
        """Return the positions of a connector of an end."""
        there = self.forth if side == "A" else self.back
        return (at for at in there if at[0] == connector)


def profile(name: str) -> Profile | None:
    """Return a profile by NetBox's name of it; None for one that is not known here."""
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    kind, connectors, positions, far, far_positions, shuffle = found.groups()
    here = (int(connectors), int(positions))
    there = (int(far), int(far_positions)) if far else here
    each = [(one, other) for one in range(1, here[0] + 1) for other in range(1, here[1] + 1)]
    if shuffle:
        forth = _SHUFFLES.get(name)
    elif kind == "breakout":
        forth = {at: (at[1], 1) for at in each} if here[0] == 1 and there == (here[1], 1) else None
    else:
        forth = {at: at for at in each} if there == here else None
    if forth is None:
        return None
    return Profile(forth, {to: at for at, to in forth.items()}, (here[1], there[1]))
