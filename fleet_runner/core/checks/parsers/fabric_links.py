"""Links of a fabric by columns, since a large one has some hundred thousand: a link is made when it is asked for."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, overload

from fleet_runner.core.checks.parsers.discovery import FabricLink, FabricPort, Rate


class Face(NamedTuple):
    """What all ends of a switch have in common, or of an adapter those with one GUID: FabricPort without a number."""

    name: str
    kind: str
    guid: str


@dataclass(frozen=True, slots=True, eq=False)
class FabricLinks(Sequence[FabricLink]):
    """Links as columns: of each the face of its near end, by its place in `faces`, and port, the far end's, its rate.

    `rate_of` gives a link's rate by its place in `rates`. Each face is at an end of a link. `made` are the links once
    they were asked for. It equals a tuple of the same.
    """

    faces: Sequence[Face]
    near: Sequence[int]
    near_ports: Sequence[int]
    far: Sequence[int]
    far_ports: Sequence[int]
    rates: Sequence[Rate]
    rate_of: Sequence[int]
    made: list[tuple[FabricLink, ...]] = field(default_factory=list[tuple[FabricLink, ...]])

    def __len__(self) -> int:
        return len(self.rate_of)

    @overload
    def __getitem__(self, index: int) -> FabricLink: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[FabricLink]: ...
    def __getitem__(self, index: int | slice) -> FabricLink | Sequence[FabricLink]:
        return self._links()[index]

    def __iter__(self) -> Iterator[FabricLink]:
        return iter(self._links())

    def __eq__(self, other: object) -> bool:
        return self._links() == (other._links() if isinstance(other, FabricLinks) else other)

    def __hash__(self) -> int:
        return hash(self._links())

    def port(self, face: int, number: int) -> FabricPort:
        """Return a port of a face."""
        name, kind, guid = self.faces[face]
        return FabricPort(name, number, kind, guid)

    def _links(self) -> tuple[FabricLink, ...]:
        if not self.made:
            near = map(self.port, self.near, self.near_ports)
            far = map(self.port, self.far, self.far_ports)
            rates = map(self.rates.__getitem__, self.rate_of)
            self.made.append(tuple(FabricLink(a, b, *rate) for a, b, rate in zip(near, far, rates, strict=True)))
        return self.made[0]


def columns(links: Iterable[FabricLink]) -> FabricLinks:
    """Return links by columns."""
    if isinstance(links, FabricLinks):
        return links
    told = tuple(links)
    near, far = [each[0] for each in told], [each[1] for each in told]
    places: dict[tuple[str, str, str], int] = {}
    faces = [
        [places.setdefault((name, kind, guid), len(places)) for name, _, kind, guid in ends] for ends in (near, far)
    ]
    ports = [[end.port for end in ends] for ends in (near, far)]
    rates: dict[Rate, int] = {}
    rate_of = [rates.setdefault((width, speed), len(rates)) for _, _, width, speed in told]
    every = [Face(*face) for face in places]
    return FabricLinks(every, faces[0], ports[0], faces[1], ports[1], list(rates), rate_of, [told])
