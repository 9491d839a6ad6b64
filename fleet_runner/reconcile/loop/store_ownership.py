"""Whether the store that is served is this fleet's: looked at before anything is decided by it."""

import secrets
from typing import TYPE_CHECKING

from fleet_runner.adapters.files import store_identity
from fleet_runner.adapters.logs import log
from fleet_runner.core.access.store_identity import Identity, refusal
from fleet_runner.core.base.errors import StoreError
from fleet_runner.core.budgets import modes
from fleet_runner.core.budgets.modes import Mode, Setting
from fleet_runner.settings import Settings

if TYPE_CHECKING:
    from fleet_runner.adapters.store import Store
    from fleet_runner.core.inventory.records import Fleet
    from fleet_runner.reconcile.loop.context import TickContext

BY = "runner"


def serves(settings: Settings) -> bool:
    """Whether a store was ever served by these settings: who only looks on need not have the runner's source."""
    try:
        return store_identity.read(settings.state_dir) is not None
    except StoreError:
        return True


def refused(settings: Settings, store: "Store") -> str:
    """Say why nothing is done by a store, "" where it is this fleet's; nothing is written."""
    try:
        remembered = store_identity.read(settings.state_dir)
    except StoreError as error:
        return str(error)
    line_at = store.line_at(remembered.line) if remembered is not None else None
    return refusal(store.identity(), remembered, settings.source, line_at)


def is_strange(world: "TickContext", now: float) -> bool:
    """Whether the store may be another fleet's, or an older one: then its rows are left as they are."""
    _look(world, now)
    return bool(world.unaccepted) and world.store.identity() is not None


def _look(world: "TickContext", now: float) -> None:
    """Find out whether the store is this fleet's; a new one becomes it. Once it is, it is not asked again.

    One that is empty, and should not be, is filled again, and nothing is done by it.
    """
    if world.unaccepted == "":
        return
    why = refused(world.settings, world.store)
    if why and why != world.unaccepted:
        log.error("no node is touched", why=why)
    if not why and world.store.identity() is None:
        world.store.own(Identity(secrets.token_hex(8), world.settings.source), BY, "a new store", now)
    world.unaccepted = why


def remember(world: "TickContext") -> None:
    """Remember how far the store's history has come, where that is news."""
    if world.unaccepted != "":
        return
    identity = world.store.identity() if world.identity is None else world.identity
    if identity is None:
        return
    world.identity = identity
    found = world.store.remembered(identity)
    if found == world.remembered:
        return
    try:
        store_identity.write(world.settings.state_dir, found)
    except StoreError as error:  # a full disk: an older memory says less, and nothing wrong
        log.warning("the store's identity could not be recorded", why=str(error))
        return
    world.remembered = found


class Outward:
    """Of which nodes and fabrics a NetBox is told: none that is only observed, none by a store nobody accepted."""

    def __init__(self, world: "TickContext") -> None:
        self._world = world
        self._said: tuple[Setting, ...] = ()
        self._fleet: Fleet | None = None
        self._known: dict[str, bool] = {}

    def anything(self) -> bool:
        """Whether there is any node of which it may be told; what people said is read anew."""
        said = tuple(self._world.store.modes()) if self._world.unaccepted == "" else ()
        if said != self._said or self._world.fleet is not self._fleet:
            self._said, self._fleet, self._known = said, self._world.fleet, {}
        return any(each.mode is not Mode.OBSERVE for each in modes.standing(said))

    def __call__(self, name: str) -> bool:
        """Whether it is told of this one, as of the last look at `anything`."""
        if name not in self._known:
            here = self._world.where(name)
            self._known[name] = modes.modes(self._said, here).highest is not Mode.OBSERVE
        return self._known[name]


def accept(settings: Settings, store: "Store", by: str, reason: str, now: float) -> Identity:
    """Take a store as this fleet's in a person's name, and remember it as it is."""
    known = store.identity()
    identity = Identity(known.id if known is not None else secrets.token_hex(8), settings.source)
    store.own(identity, by, reason, now)
    store.wake_all()
    store_identity.write(settings.state_dir, store.remembered(identity))
    return identity
