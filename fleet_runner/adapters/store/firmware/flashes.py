"""Flashes: one open at a time for a node, written by whoever holds its lease, each step with its sentence."""

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import ColumnElement, Connection, bindparam, insert, select, update
from sqlalchemy.exc import IntegrityError

from fleet_runner.adapters.store.engine import bounds
from fleet_runner.adapters.store.firmware import leases, rows
from fleet_runner.adapters.store.lifecycle import history
from fleet_runner.adapters.store.schema.core import runs
from fleet_runner.adapters.store.schema.firmware import flashes
from fleet_runner.core.base.errors import ConflictError
from fleet_runner.core.firmware.catalogue import Activate
from fleet_runner.core.firmware.flash import End, Flash, Phase
from fleet_runner.core.lifecycle.runs import Entry

KIND = "firmware"
"""What flashes are called in a node's history."""

NOTED = ("intended_at", "phase", "task", "sent_at", "updated_at", "activations", "activated_at", "activated")
"""What changes while a flash is open."""

RESETS = {
    Activate.NONE: "nothing",
    Activate.BMC_RESET: "a reset of the BMC",
    Activate.HOST_RESET: "a reset of the host",
    Activate.AC_DRAIN: "a removal of all power",
}

_ORDER = tuple(Phase)
_OPEN: ColumnElement[bool] = flashes.c.ended_at.is_(None)


def intend(connection: Connection, flash: Flash, holder: str, now: float) -> Flash:
    """Write down that an image is about to be sent; return the flash with its id.

    Raises:
        ConflictError: the lease is not the holder's, his run is over, or a flash of the node is open already.
    """
    run = leases.check(connection, flash.node, holder, now)
    if run is not None:
        fence = connection.execute(select(runs.c.fence).where(runs.c.id == run)).scalar_one()
        leases.check_run(connection, flash.node, (run, fence))
    row = {**_row(flash), "bmc": leases.bmc(connection, flash.node)}
    try:
        made = connection.execute(insert(flashes).values(row).returning(flashes)).one()
    except IntegrityError as error:
        raise ConflictError(
            f"node {flash.node}: one of its flashes is open already, so {flash.component} was not begun; "
            f"read the open one and go on with it"
        ) from error
    begun = rows.flash(made)
    versions = ", ".join(
        f"{each} from {begun.before.get(each, 'unknown')} to {to}" for each, to in sorted(begun.targets.items())
    )
    undoing = f", to undo flash {begun.rolls_back}" if begun.rolls_back is not None else ""
    _tell(connection, begun, now, f"{begun.image} is about to be sent, attempt {begun.attempt}{undoing}: {versions}")
    return begun


def note(connection: Connection, flash: Flash, holder: str, now: float) -> Flash:
    """Write down how far an open flash has come; nothing goes back, and what is as it was is not told again.

    Raises:
        ConflictError: the lease is not the holder's, the flash has ended, or it is further than that already.
    """
    leases.check(connection, flash.node, holder, now)
    before = one(connection, flash.id)
    if before is None or before.node != flash.node or before.ended_at is not None:
        raise ConflictError(f"node {flash.node}: its flash {flash.id} is not open; read it again")
    if _further(before, flash):
        raise ConflictError(f"node {flash.node}: its flash {flash.id} is at {before.phase} already; read it again")
    values = {name: getattr(flash, name) for name in NOTED}
    values |= {"phase": flash.phase.value, "task": bounds.words(flash.task)}
    made = connection.execute(update(flashes).where(flashes.c.id == flash.id).values(values).returning(flashes)).one()
    now_at = rows.flash(made)
    if sentence := _news(before, now_at):
        _tell(connection, now_at, now, sentence)
    return now_at


def end(connection: Connection, number: int, holder: str, how: tuple[End, str], now: float) -> Flash:
    """End an open flash for good.

    Raises:
        ConflictError: the lease is not the holder's, or the flash is not open.
    """
    found = one(connection, number)
    if found is not None:
        leases.check(connection, found.node, holder, now)
    ended = _end(connection, flashes.c.id == number, how, now)
    if ended is None:
        raise ConflictError(f"flash {number}: it is not open; read it again")
    _tell(connection, ended, now, f"{how[0].value.replace('_', ' ')}: {ended.detail}")
    return ended


def settle(connection: Connection, node: str, by: str, reason: str, now: float) -> bool:
    """End a node's open flash on a person's word that nothing of it is under way; False where none is open.

    Raises:
        ConflictError: a process holds the lease, so something may be.
    """
    leases.hold(connection, node)
    if held := leases.holder(connection, node, now):
        raise ConflictError(
            f"node {node}: {held[0]} is at its firmware for {held[1] - now:.0f} s more; wait for it, "
            f"or end that process first, and settle it then"
        )
    said = f"{bounds.words(by)} looked: {bounds.words(reason)}"
    settled = _end(connection, flashes.c.node == node, (End.SETTLED, said), now)
    if settled is None:
        return False
    _tell(connection, settled, now, f"settled: {settled.detail}", by=bounds.words(by))
    return True


def one(connection: Connection, number: int) -> Flash | None:
    """Return a flash, or None."""
    found = connection.execute(select(flashes).where(flashes.c.id == number)).one_or_none()
    return rows.flash(found) if found is not None else None


def opened(connection: Connection, node: str | None = None) -> tuple[Flash, ...]:
    """Return the open flashes, all or a node's, oldest first."""
    wanted = (_OPEN,) if node is None else (_OPEN, flashes.c.node == node)
    found = (rows.flash(row) for row in connection.execute(select(flashes).where(*wanted)).all())
    return tuple(sorted(found, key=lambda flash: flash.id))


def of_node(connection: Connection, node: str, since: float, limit: int) -> tuple[Flash, ...]:
    """Return the newest flashes of a node that are open or were intended since a moment, oldest first."""
    newest = select(flashes).where(flashes.c.node == node, (flashes.c.intended_at >= since) | _OPEN)
    found = connection.execute(newest.order_by(flashes.c.id.desc()).limit(limit)).all()
    return tuple(rows.flash(row) for row in reversed(found))


def of_nodes(connection: Connection, names: Iterable[str], since: float) -> tuple[Flash, ...]:
    """Return the flashes of some nodes that were intended since a moment, oldest first."""
    wanted = flashes.c.node.in_(bindparam("names", expanding=True))
    query = select(flashes).where(wanted, flashes.c.intended_at >= since).order_by(flashes.c.id)
    return tuple(rows.flash(row) for row in connection.execute(query, {"names": sorted(set(names))}).all())


def _end(connection: Connection, which: ColumnElement[bool], how: tuple[End, str], now: float) -> Flash | None:
    values = {"ended_at": now, "end": how[0].value, "detail": bounds.words(how[1])}
    found = connection.execute(update(flashes).where(which, _OPEN).values(values).returning(flashes)).one_or_none()
    return rows.flash(found) if found is not None else None


def _further(before: Flash, after: Flash) -> bool:
    """Say if what is written down is further than what is to be written."""
    return (
        _ORDER.index(after.phase) < _ORDER.index(before.phase)
        or after.activations < before.activations
        or after.activated < before.activated
    )


def _news(before: Flash, after: Flash) -> str:
    """Return what the history says about a step, "" where it is none."""
    where = f" (task {after.task})" if after.task else ""
    if after.activations > before.activations:
        return f"{RESETS[after.activate]} is about to be sent, so that it runs (number {after.activations})"
    if after.phase is not before.phase:
        said = {Phase.SENT: f"the BMC took the image{where}", Phase.UPDATED: "the BMC has written the image"}
        return said.get(after.phase, f"it is {after.phase.value}")
    if after.task != before.task:
        return f"the BMC continues it{where}"
    if after.activated > before.activated:
        return "the BMC took the reset"
    if after.intended_at != before.intended_at:
        return f"the BMC never took the image; {after.image} is about to be sent again"
    return ""


def _tell(connection: Connection, flash: Flash, now: float, what: str, by: str = "") -> None:
    sentence = f"Flash {flash.id} ({flash.component}): {bounds.words(what).removesuffix('.')}."
    history.add(connection, [Entry(0, flash.node, now, KIND, sentence, by or flash.by, run=flash.run)])


def _row(flash: Flash) -> Mapping[str, Any]:
    return {
        "node": flash.node,
        "component": bounds.key(flash.component),
        "before": _versions(flash.before),
        "targets": _versions(flash.targets),
        "image": bounds.words(flash.image),
        "sha256": bounds.key(flash.sha256),
        "activate": flash.activate.value,
        "times": flash.times,
        "seconds": flash.seconds,
        "attempt": flash.attempt,
        "intended_at": flash.intended_at,
        "by": bounds.words(flash.by),
        "run": flash.run,
        "rolls_back": flash.rolls_back,
        "phase": Phase.INTENDED.value,
        "tasks_before": sorted(flash.tasks_before),
        "task": "",
        "activations": 0,
        "activated": 0,
        "bmc_reset_before": flash.bmc_reset_before,
        "detail": "",
    }


def _versions(raw: Mapping[str, str]) -> dict[str, str]:
    return {str(each): str(version) for each, version in sorted(raw.items())}
