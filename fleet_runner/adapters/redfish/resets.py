"""The resets that make firmware run: of the BMC, of the computer, and of all power, as far as a BMC offers them."""

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from fleet_runner.adapters.redfish.bmc import Bmc, System, age, dated, moment
from fleet_runner.adapters.redfish.exchange import DroppedError, NoAnswerError, NoConnectionError
from fleet_runner.adapters.redfish.resources import Action, Body
from fleet_runner.core.base.errors import BmcError, BmcRefused, NotOfferedError

MANAGER_RESET = "Manager.Reset"
BMC_WAYS = ("GracefulRestart", "ForceRestart")

SWITCH_SECONDS = 120.0
"""How long a computer may take until its BMC says that it is off, or on."""
PAUSE = 1.0

ALL_POWER = (
    "FullPowerCycle", "AuxPowerCycleForce", "AuxPowerCycle", "AuxCycle", "ACPowerCycle", "ACCycle", "VirtualACCycle",
)  # fmt: skip
"""What DMTF, NVIDIA, HPE, Lenovo, Supermicro and Dell call taking all power away and giving it back. NVIDIA's plain
one waits for the computer to be off, which it is not."""

OEM = {
    "NvidiaChassis.AuxPowerReset": {"ResetType": "AuxPowerCycleForce"},
    "HpeComputerSystemExt.SystemReset": {"ResetType": "AuxCycle"},
    "LenovoComputerSystem.SystemReset": {"ResetType": "ACPowerCycle"},
    "OemSystemExtensions.Reset": {"ResetType": "ACCycle"},
    "DellOemChassis.ExtendedReset": {"ResetType": "PowerCycle", "FinalPowerState": "On"},
}
"""Vendors' own actions that do it, with what they take where they do not say themselves."""

NOT_RESETS = frozenset({MANAGER_RESET, "Manager.ResetToDefaults"})


class ResetAction(NamedTuple):
    """An action, with what it is asked to do."""

    action: Action
    body: Body


def bmc(of: Bmc) -> None:
    """Restart the BMC of the computer."""
    uri, manager = _manager(of)
    action = of.resources.actions(manager).get(MANAGER_RESET)
    if action is None:
        raise NotOfferedError(f"{of.url}: {uri} offers no reset")
    allowed = of.resources.allowed(action.body)
    ways = [way for way in BMC_WAYS if way in allowed] if allowed else list(BMC_WAYS)
    if not ways:
        raise NotOfferedError(
            f"{of.url}: {uri} can be reset by {', '.join(allowed)}; expected {' or '.join(BMC_WAYS)}"
        )
    _first_taken(of, [ResetAction(action, {"ResetType": way}) for way in ways])


def host(of: Bmc, alive: Callable[[], None]) -> None:
    """Reset the computer in the coldest way that its BMC offers; one that is off is switched on.

    A warm restart does not make every component load what was written, so it comes last.
    """
    of.begin()
    allowed = of.power_actions()
    if of.power_state() == "Off":
        return _switch(of, "On", alive)
    if "PowerCycle" in allowed:
        with contextlib.suppress(BmcRefused):
            return of.power("PowerCycle")
    if not allowed or {"ForceOff", "On"} <= set(allowed):
        _switch(of, "Off", alive)
        return _switch(of, "On", alive)
    return of.power("ForceRestart")


def ac_drain(of: Bmc) -> None:
    """Take all power away and give it back."""
    system = of.computer()
    enclosures = _enclosures(of, system)
    # A chassis of a GPU baseboard cannot be read while the computer is off; it matters only where no other will do.
    ways = list(_ways(of, [system.body, *reversed(enclosures.values())])) or list(
        _ways(of, _others(of, system, set(enclosures)))
    )
    if not ways:
        raise NotOfferedError(f"{of.url} cannot cut all power over Redfish")
    _first_taken(of, ways)


def bmc_reset_at(of: Bmc) -> float | None:
    """Return when the computer's BMC started, by our clock."""
    uri, _ = _manager(of)
    reply = of.resources.wire.get(uri)
    manager = reply.body or {}
    since = age(manager.get("LastResetTime"), moment(manager.get("DateTime")) or dated(reply))
    return None if since is None else time.time() - since


def _manager(of: Bmc) -> tuple[str, Body]:
    """Return the manager of the computer: the one it names, or that names it, or the only BMC there is."""
    system = of.computer()
    named = of.resources.links(system.body, "ManagedBy")
    if len(named) == 1:
        return named[0], of.resources.get(named[0])
    collection = of.resources.service("Managers")
    uris = named or (of.resources.members(collection) if collection else [])
    found = {uri: of.resources.get(uri) for uri in uris}
    computer = system.uri.rstrip("/")  # some write a slash behind it here, and none there
    servers = {uri: of.resources.links(body, "ManagerForServers") for uri, body in found.items()}
    mine = {uri: found[uri] for uri, named in servers.items() if computer in [each.rstrip("/") for each in named]}
    resettable = {uri: body for uri, body in found.items() if MANAGER_RESET in of.resources.actions(body)}
    for some in (mine, resettable):
        if len(some) == 1:
            return next(iter(some.items()))
    raise BmcError(
        f"{of.url}: which of its managers ({', '.join(found) or 'none'}) belongs to the computer is unknown"
    )


def _first_taken(of: Bmc, ways: list[ResetAction]) -> None:
    """Do it in the first way that the BMC takes; each that it refuses did nothing."""
    for way in ways[:-1]:
        with contextlib.suppress(BmcRefused):
            return _restart(of, *way)
    return _restart(of, *ways[-1])


def _restart(of: Bmc, action: Action, body: Body) -> None:
    """Send what makes the BMC itself restart; many do so before they have answered."""
    try:
        of.resources.done(of.resources.wire.ask("POST", action.target, body), action.name)
    except NoConnectionError:
        raise
    except (DroppedError, NoAnswerError):
        pass
    of.resources.wire.forget()


def _switch(of: Bmc, wanted: str, alive: Callable[[], None]) -> None:
    """Switch the computer on or off, and wait until the BMC says so."""
    of.power({"On": "On", "Off": "ForceOff"}[wanted])
    deadline = time.monotonic() + SWITCH_SECONDS
    while (state := of.power_state()) != wanted:
        if time.monotonic() > deadline:
            raise BmcError(f"{of.url}: switched {wanted}, but it is {state} after {SWITCH_SECONDS:g} s; look at it")
        alive()
        time.sleep(PAUSE)


def _ways(of: Bmc, bodies: Iterable[Body]) -> Iterator[ResetAction]:
    """Return the ways to take all power away that some resources offer, the surest first."""
    actions = [action for body in bodies for action in of.resources.actions(body).values()]
    values = {action.target: of.resources.allowed(action.body) for action in actions if action.name not in NOT_RESETS}
    for word in ALL_POWER:
        for action in actions:
            if word in values.get(action.target, ()):
                yield ResetAction(action, {"ResetType": word})
    for action in actions:
        wanted = OEM.get(action.name)
        # What is said in a word of its own is there already.
        if wanted and (not values[action.target] or _virtual(wanted, values[action.target])):
            yield ResetAction(action, dict(wanted))
    for action in actions:
        if action.name == "Chassis.Reset" and "PowerCycle" in values[action.target]:
            yield ResetAction(action, {"ResetType": "PowerCycle"})


def _virtual(wanted: Body, allowed: list[str]) -> bool:
    """Tell if a vendor's own action takes all power away by a word that means less elsewhere: Dell's."""
    return wanted["ResetType"] not in ALL_POWER and wanted["ResetType"] in allowed


def _enclosures(of: Bmc, system: System) -> dict[str, Body]:
    """Return the chassis that the computer is in, by URI, the innermost first."""
    found: dict[str, Body] = {}
    waiting = of.resources.links(system.body, "Chassis")
    while waiting:
        uri = waiting.pop(0)
        body = of.resources.find(uri) if uri not in found else None
        if body is not None:
            found[uri] = body
            waiting += of.resources.links(body, "ContainedBy")
    return found


def _others(of: Bmc, system: System, known: set[str]) -> Iterator[Body]:
    """Return the other chassis that have a vendor's own actions, or the computer's BMC."""
    managers = set(of.resources.links(system.body, "ManagedBy"))
    collection = of.resources.service("Chassis")
    for uri in of.resources.members(collection) if collection else ():
        body = of.resources.find(uri) if uri not in known else None
        if body is not None and (managers & set(of.resources.links(body, "ManagedBy")) or _has_oem(body)):
            yield body


def _has_oem(body: Mapping[str, object]) -> bool:
    actions = body.get("Actions")
    return isinstance(actions, Mapping) and bool(actions.get("Oem"))
