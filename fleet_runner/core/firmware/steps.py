"""The requests of a plan: which entries one image is sent for, what it is to change, and in which order they go."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from fleet_runner.core.base.fields import Plain
from fleet_runner.core.firmware.catalogue import Activate, Component, Image, Power, Transport
from fleet_runner.core.firmware.excluded import WITHHELD
from fleet_runner.core.firmware.inventory import Entry
from fleet_runner.core.firmware.matching import numbered

_BMC = re.compile(r"(?:Host|FW_)?BMC(?:_0|_Firmware)?", re.IGNORECASE)
"""Ids of the BMC's own firmware, which makers want updated before the BIOS and the rest, as it writes all of that."""


@dataclass(frozen=True, slots=True)
class Step:
    """One image, sent in one request. `before` and `targets` are the versions of all that it writes, by id.

    `component` names its rows of the catalogue. `uris` is what the request names: nothing where it is `untargeted`.
    Where it does not name its entries, it writes all that the image's file is for, those on their targets included.
    `along` are the ids that come with the image of another component; no request names them.
    """

    component: str
    before: Mapping[str, str]
    targets: Mapping[str, str]
    uris: tuple[str, ...]
    image: Image
    activate: Activate
    times: int
    power: Power
    transport: Transport
    untargeted: bool
    seconds: float
    why: str
    oem_parameters: tuple[tuple[str, Plain], ...] = ()
    along: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Aim:
    """An entry of a row (number `index` of the catalogue), its version, and the images it still needs, in order.

    One that is `withheld` must stay as it is.
    """

    index: int
    row: Component
    entry: Entry
    version: str
    images: tuple[Image, ...]
    withheld: bool = False

    @property
    def rank(self) -> tuple[object, ...]:
        """Return what sorts aims of one order: the longest way first, whose last images others share."""
        return (-len(self.images), self.index, numbered(self.entry.id))

    @property
    def wide(self) -> bool:
        """Whether a request for it does not name its entries, and so goes to all that the image's file is for."""
        return self.row.untargeted or bool(self.row.targets)

    @property
    def request(self) -> tuple[str, ...]:
        """Return what is the same for all that one request serves."""
        return (self.images[0].file, self.entry.id if self.row.exclusive else "")


def steps(aims: Sequence[Aim]) -> tuple[tuple[Step, ...], tuple[str, ...]]:
    """Return every step from here to the targets, and what of it would go where nobody asked for it."""
    found: list[Step] = []
    beside: list[str] = []
    while needed := _in_turn([aim for aim in aims if aim.images]):
        group = [aim for aim in needed if aim.request == needed[0].request]
        others = [aim for aim in aims if aim not in group]
        beside += _besides(group, others)
        made = step(group, others)
        found.append(made)
        moved = [replace(aim, version=aim.images[0].version, images=aim.images[1:]) for aim in group]
        came = [replace(aim, version=made.targets[aim.entry.id]) for aim in others if aim.entry.id in made.along]
        aims = [*moved, *came, *(aim for aim in others if aim.entry.id not in made.along)]
    return tuple(found), tuple(dict.fromkeys(beside))


def step(group: Sequence[Aim], others: Sequence[Aim], why: str = "") -> Step:
    """Return one request for a group, `others` being all that is not in it."""
    first = group[0]
    image = first.images[0]
    written = [(aim, aim.images[0].version) for aim in sorted(group, key=lambda aim: (aim.index, aim.rank))]
    if first.wide:
        written += [(aim, version) for aim in others for version in _holds(aim, image)]
    named = first.row.targets or tuple(aim.entry.uri for aim, _ in written)
    along = [aim for aim in others if _comes(aim, group)]
    written += [(aim, aim.row.target) for aim in along]
    rows = list(dict.fromkeys(aim.row for aim, _ in written))
    return Step(
        component=", ".join(row.name for row in rows),
        before={aim.entry.id: aim.version for aim, _ in written},
        targets={aim.entry.id: version for aim, version in written},
        uris=() if first.row.untargeted else named,
        image=image,
        activate=first.row.activate,
        times=first.row.times,
        power=first.row.power,
        transport=first.row.transport,
        untargeted=first.row.untargeted,
        seconds=max(row.seconds for row in rows),
        why=why or "; ".join(_why(row, [aim for aim in group if aim.row is row]) for row in _rows(group)),
        oem_parameters=first.row.oem_parameters,
        along=tuple(aim.entry.id for aim in along),
    )


def _in_turn(needed: Sequence[Aim]) -> list[Aim]:
    """Return aims by order, of one order the BMC first; not where its image is a bundle that others need, too."""
    others = [each for each in needed if _BMC.fullmatch(each.entry.id) is None]

    def first(aim: Aim) -> bool:
        return aim not in others and not any(_holds(each, aim.images[0]) for each in others)

    return sorted(needed, key=lambda aim: (aim.row.order, not first(aim), aim.rank))


def _besides(group: Sequence[Aim], others: Sequence[Aim]) -> Iterator[str]:
    """Say which entries a request would take along where nobody asked for."""
    image = group[0].images[0]
    for aim in others:
        if aim.withheld and aim.version != aim.row.target and _comes(aim, group):
            yield (
                f"{image.file} would bring {aim.entry.id} ({aim.row.name}) from {aim.version} to {aim.row.target},"
                f" and that is {WITHHELD}"
            )
    for aim in others if group[0].wide else ():
        for version in _holds(aim, image):
            if version != aim.version:
                who = f"{aim.entry.id} ({aim.row.name})"
                why = f"and that is {WITHHELD}" if aim.withheld else "which is not on its way; update it by hand"
                yield (
                    f"{image.file} is not sent for single entries and would bring {who} from {aim.version} to"
                    f" {version}, {why}"
                )


def _comes(aim: Aim, group: Sequence[Aim]) -> bool:
    """Whether an entry comes with the image that is sent for a group: that of the target of who brings it."""
    return any(each.row.name == aim.row.brought_by and each.images[0].version == each.row.target for each in group)


def _holds(aim: Aim, image: Image) -> tuple[str, ...]:
    """Return the version that an image's file holds for an entry, if it holds one."""
    return tuple(each.version for each in aim.row.images if each.file == image.file)


def _rows(group: Sequence[Aim]) -> list[Component]:
    return list(dict.fromkeys(aim.row for aim in sorted(group, key=lambda aim: aim.index)))


def _why(row: Component, aims: Sequence[Aim]) -> str:
    """Say what one row's part of a request is for: "BIOS from 2.0 to 2.1"."""
    to = aims[0].images[0].version
    many = f"{len(aims)} of {row.name}" if len(aims) > 1 else row.name
    hop = "" if to == row.target else f", on the way to {row.target}"
    return f"{many} from {listed(aim.version for aim in aims)} to {to}{hop}"


def listed(texts: Iterable[str]) -> str:
    """Return texts as a person lists them, each once."""
    return ", ".join(dict.fromkeys(text.strip() for text in texts if text.strip()))
