"""What has to be sent to a node, in which order and why: a catalogue held against an inventory.

Only the first step of a plan is carried out, and then planned anew from what the BMC says; so a plan needs no memory,
and what somebody else did meanwhile is no surprise.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import NamedTuple

from fleet_runner.core.firmware.catalogue import Catalogue, Component, Image
from fleet_runner.core.firmware.excluded import WITHHELD, is_adapter
from fleet_runner.core.firmware.flash import Flash
from fleet_runner.core.firmware.inventory import Entry
from fleet_runner.core.firmware.makers import Maker, advice
from fleet_runner.core.firmware.matching import match
from fleet_runner.core.firmware.steps import Aim, Step, listed, step, steps
from fleet_runner.core.firmware.upgrade_path import installs, way

__all__ = ["Plan", "Step", "plan", "rollback"]

NONE: frozenset[str] = frozenset()

REFUSED, GIVEN_UP, STUCK, NOTED = "refused", "given up", "stuck", "noted"
"""What follows where an entry stays: nothing may be sent; its attempts are used up; it is only compared; it may."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do about a node, each reason a sentence.

    `refused`: the catalogue does not fit this node, so there are no steps. `stuck`: entries on no accepted version
    that nothing more can be done about, so the node has failed once the `steps` (none after failed attempts) are
    done. `notes`: entries that stay, on an accepted version that is not the target, or because they are withheld.
    """

    steps: tuple[Step, ...] = ()
    refused: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    stuck: tuple[str, ...] = ()


class Stay(NamedTuple):
    """An entry that no image brings to its target: what follows from that, and its sentence."""

    kind: str
    sentence: str


def plan(  # noqa: PLR0913  what is known of one node, most of it by name
    catalogue: Catalogue,
    entries: Mapping[str, Entry],
    *,
    boards: Collection[str] = (),
    failed: Mapping[str, frozenset[str]] | None = None,
    customer: bool = False,
    maker: Maker = Maker.UNKNOWN,
) -> Plan:
    """Return what brings every entry to its target. `boards` are the models that the BMC tells.

    `failed` are versions by entry id that were tried as often as they may be: none of them is tried again. The
    network adapters of a node that its `customer` manages are left alone. Whose BMC it is, `maker`, says with which
    tool to do what is not done here.
    """
    found = match(catalogue, entries)
    aims = []
    stays: list[Stay] = []
    for index, (row, mine) in enumerate(found.rows):
        for entry in (entry for entry in mine if entry.version):
            if customer and is_adapter(row.name, entry):
                aims.append(Aim(index, row, entry, entry.version, (), withheld=True))
                stays += _withheld(row, entry)
                continue
            shunned = (failed or {}).get(entry.id, NONE)
            images = way(row, entry.version, shunned)
            aims.append(Aim(index, row, entry, entry.version, images or ()))
            if images is None and not row.brought_by:
                stays.append(_stay(row, entry, shunned, maker))
    wanted, beside = steps(aims)
    stays += _left_behind(aims, {name for each in wanted for name in each.along})
    refused = (
        *_wrong_board(catalogue, boards),
        *found.troubles,
        *_said(stays, REFUSED),
        *_fixed(aims, maker),
        *beside,
    )
    given_up = _said(stays, GIVEN_UP)
    return Plan(
        steps=() if refused or given_up else wanted,
        refused=refused,
        notes=_said(stays, NOTED),
        stuck=(*given_up, *_said(stays, STUCK)),
    )


def rollback(catalogue: Catalogue, flash: Flash, entries: Mapping[str, Entry]) -> Step | str:
    """Return the step that undoes a flash where it brought entries to no accepted version; or why there is none.

    An entry goes back to the version from before where that is accepted, else to another accepted one, in one step.
    """
    found = match(catalogue, entries)
    aims = [
        Aim(index, row, entry, entry.version, _back(row, flash, entry))
        for index, (row, mine) in enumerate(found.rows)
        for entry in mine
        if entry.id in flash.targets
    ]
    lost = [aim for aim in aims if aim.version not in (*aim.row.accepted, flash.before.get(aim.entry.id))]
    if hindrance := _hindrance(flash, aims, lost):
        return hindrance
    others = [aim for aim in aims if aim not in lost]
    why = f"{flash.component} is at {listed(aim.version for aim in lost)} after its update"
    undo = step(lost, others, why)
    unlawful = [aim.entry.id for aim in others if undo.targets.get(aim.entry.id, aim.version) not in aim.row.accepted]
    return f"it would take {listed(unlawful)} to no accepted version" if unlawful else undo


def _hindrance(flash: Flash, aims: Sequence[Aim], lost: Sequence[Aim]) -> str:
    """Say why a flash that left some entries on no accepted version cannot be undone; "" where it can."""
    if flash.rolls_back is not None:
        return "it was a rollback itself"
    if silent := sorted(flash.targets.keys() - {aim.entry.id for aim in aims if aim.version}):
        return f"the BMC gives no version of {listed(silent)}"
    if kept := [aim.row.name for aim in lost if not aim.row.rollback]:
        return f"the catalogue allows no rollback of {listed(kept)}"
    if dead := [f"{aim.entry.id} at {aim.version}" for aim in lost if not aim.images]:
        return f"no image of an accepted version may be installed over {listed(dead)}"
    if not lost:
        return "all that it wrote is on an accepted version, or as it was"
    return "it would take several requests" if len({aim.request for aim in lost}) > 1 else ""


def _back(row: Component, flash: Flash, entry: Entry) -> tuple[Image, ...]:
    """Return the image of the version from before, if that is accepted, else of another accepted one."""
    images = {image.version: image for image in row.images if installs(image, entry.version)}
    wanted = (flash.before.get(entry.id, ""), *row.accepted)
    legal = [version for version in wanted if version in row.accepted and version != flash.targets[entry.id]]
    return next(((images[version],) for version in legal if version in images), ())


def _stay(row: Component, entry: Entry, shunned: frozenset[str], maker: Maker = Maker.UNKNOWN) -> Stay:
    """Say of an entry that no image leads to its target why that is so, and what it means."""
    lacking = bool(row.images) and way(row, entry.version) is None
    why = f"no image leads from there to {row.target}"
    if row.brought_by:
        why = f"only {row.brought_by} brings it, of which no image is to be sent"
    elif not row.images:
        why = f"the catalogue has no image of {row.target}{advice(maker, row.name, entry)}"
    elif not lacking:
        why = f"{' and '.join(sorted(shunned))} failed as often as it may be tried"
    if entry.version in row.accepted:
        return Stay(NOTED, f"{entry.id} ({row.name}) stays at {entry.version}, which is accepted: {why}")
    kind = REFUSED if lacking else GIVEN_UP if row.images else STUCK
    return Stay(kind, f"{entry.id} ({row.name}) is at {entry.version}, expected {' or '.join(row.accepted)}: {why}")


def _left_behind(aims: Sequence[Aim], along: Collection[str]) -> Iterator[Stay]:
    """Say of entries that another component brings, and that will not come, that they stay."""
    for aim in aims:
        behind = aim.row.brought_by and not aim.withheld and aim.entry.id not in along
        if behind and aim.version != aim.row.target:
            yield _stay(aim.row, aim.entry, NONE)


def _withheld(row: Component, entry: Entry) -> Iterator[Stay]:
    """Say of a network adapter that is not on its target that nobody updates it."""
    if entry.version != row.target:
        yield Stay(NOTED, f"{entry.id} ({row.name}) stays at {entry.version}, not {row.target}: {WITHHELD}")


def _said(stays: Sequence[Stay], kind: str) -> tuple[str, ...]:
    return tuple(stay.sentence for stay in stays if stay.kind == kind)


def _fixed(aims: Sequence[Aim], maker: Maker) -> tuple[str, ...]:
    """Name the entries that have to change, and that the BMC says cannot be updated."""
    return tuple(
        f"{aim.entry.id} ({aim.row.name}) is at {aim.version}, expected {aim.row.target},"
        " and the BMC says that it cannot be updated; if another component brings it, name that in brought_by"
        f"{advice(maker, aim.row.name, aim.entry)}"
        for aim in aims
        if aim.images and aim.entry.updateable is False
    )


def _wrong_board(catalogue: Catalogue, boards: Collection[str]) -> Iterator[str]:
    globs = catalogue.boards
    if globs and not any(fnmatchcase(board.strip(), glob) for board in boards for glob in globs):
        yield (
            f"the BMC calls its boards {listed(boards) or 'nothing'}, expected one like {' or '.join(globs)}:"
            " the catalogue is for another"
        )
