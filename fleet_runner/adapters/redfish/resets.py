"""The resets that make firmware run: of the BMC, of the computer, and of all power, as far as a BMC offers them."""

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from fleet_runner.adapters.redfish.bmc import Bmc, System, age, dated, moment
from fleet_runner.adapters.redfish.exchange import DroppedError, UnreachedError
from fleet_runner.adapters.redfish.resources import Action, Body
from fleet_runner.core.errors import BmcError, BmcRefused

MANAGER_RESET = "Manager.Reset"
BMC_WAYS = ("GracefulRestart", "ForceRestart")

SWITCH_SECONDS = 120.0
"""How long a computer may take until its BMC says that it is off, or on."""
PAUSE = 1.0

ALL_POWER = ("FullPowerCycle", "AuxPowerCycleForce", "AuxPowerCycle", "AuxCycle", "ACPowerCycle", "ACCycle")
"""What DMTF, NVIDIA, HPE, Lenovo and Supermicro call taking all power away and giving it back. NVIDIA's plain one
waits for the computer to be off, which it is not."""

OEM = {
    "NvidiaChassis.AuxPowerReset": {"ResetType": "AuxPowerCycleForce"},
    "HpeComputerSystemExt.SystemReset": {"ResetType": "AuxCycle"},
    "LenovoComputerSystem.SystemReset": {"ResetType": "ACPowerCycle"},
    "DellOemChassis.ExtendedReset": {"ResetType": "PowerCycle", "FinalPowerState": "On"},
}
"""Vendors' own actions that do it, with what they take where they do not say themselves."""

NOT_RESETS = frozenset({MANAGER_RESET, "Manager.ResetToDefaults"})


class Way(NamedTuple):
    """An action, with what it is asked to do."""

    action: Action
    body: Body


def bmc(of: Bmc) -> None:
    """Restart the BMC of the computer."""
    uri, manager = _manager(of)
    action = of.resources.actions(manager).get(MANAGER_RESET)
    if action is None:
        raise BmcRefused(f"{of.url}: {uri} offers no reset; restart the BMC by hand")
    allowed = of.resources.allowed(action.body)
    ways = [way for way in BMC_WAYS if way in allowed] if allowed else list(BMC_WAYS)
    if not ways:
        raise BmcRefused(f"{of.url}: {uri} can be reset by {', '.join(allowed)}; expected {' or '.join(BMC_WAYS)}")
    for way in ways[:-1]:
        with contextlib.suppress(BmcRefused):
            return _restart(of, action, way)
    return _restart(of, action, ways[-1])


def host(of: Bmc, alive: Callable[[], None]) -> None:
    """Reset the computer in the coldest way that its BMC offers; one that is off is switched on.

    A warm restart does not make every component load what was written, so it comes last.
    """
    of.begin()
    allowed = of.power_actions()
    if of.power_state() == "Off":
        return _switch(of, "On", alive)
    if "PowerCycle" in allowed:
        return of.power("PowerCycle")
    if not allowed or {"ForceOff", "On"} <= set(allowed):
        _switch(of, "Off", alive)
        return _switch(of, "On", alive)
    return of.power("ForceRestart")


def ac_drain(of: Bmc) -> None:
    """Take all power away and give it back."""
    system = of.computer()
    ways = list(_ways(of, system))
    if not ways:
        raise BmcRefused(f"{of.url} offers no way to take all power away over Redfish")
    action, body = ways[0]
    _lost_answer_ok(of, action, body)


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
    mine = {uri: body for uri, body in found.items() if system.uri in of.resources.links(body, "ManagerForServers")}
    resettable = {uri: body for uri, body in found.items() if MANAGER_RESET in of.resources.actions(body)}
    for some in (mine, resettable):
        if len(some) == 1:
            return next(iter(some.items()))
    raise BmcError(f"{of.url}: which of its managers ({', '.join(found) or 'none'}) is the computer's cannot be told")


def _restart(of: Bmc, action: Action, way: str) -> None:
    _lost_answer_ok(of, action, {"ResetType": way})


def _lost_answer_ok(of: Bmc, action: Action, body: Body) -> None:
    """Send what makes the BMC itself restart; many do so before they have answered."""
    try:
        of.resources.done(of.resources.wire.ask("POST", action.target, body), action.name)
    except UnreachedError:
        raise
    except DroppedError:
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


def _ways(of: Bmc, system: System) -> Iterator[Way]:
    """Return the ways to take all power away, the surest first."""
    bodies = [system.body, *_chassis(of, system)]
    actions = [action for body in bodies for action in of.resources.actions(body).values()]
    values = {action.target: of.resources.allowed(action.body) for action in actions if action.name not in NOT_RESETS}
    for word in ALL_POWER:
        for action in actions:
            if word in values.get(action.target, ()):
                yield Way(action, {"ResetType": word})
    for action in actions:
        wanted = OEM.get(action.name)
        if wanted and not values[action.target]:
            yield Way(action, dict(wanted))
        elif action.name == "DellOemChassis.ExtendedReset" and "PowerCycle" in values[action.target]:
            yield Way(action, {"ResetType": "PowerCycle", "FinalPowerState": "On"})
    for action in actions:
        if action.name == "Chassis.Reset" and "PowerCycle" in values[action.target]:
            yield Way(action, {"ResetType": "PowerCycle"})


def _chassis(of: Bmc, system: System) -> Iterator[Body]:
    """Return the enclosures of the computer, the outermost first, and then the other chassis that its BMC manages."""
    seen: dict[str, Body] = {}
    waiting = of.resources.links(system.body, "Chassis")
    while waiting:
        uri = waiting.pop()
        body = of.resources.find(uri) if uri not in seen else None
        if body is not None:
            seen[uri] = body
            waiting += of.resources.links(body, "ContainedBy")
    yield from reversed(seen.values())
    managers = set(of.resources.links(system.body, "ManagedBy"))
    collection = of.resources.service("Chassis")
    for uri in of.resources.members(collection) if collection else ():
        body = of.resources.find(uri) if uri not in seen else None
        if body is not None and (managers & set(of.resources.links(body, "ManagedBy")) or _has_oem(body)):
            yield body


def _has_oem(body: Mapping[str, object]) -> bool:
    actions = body.get("Actions")
    return isinstance(actions, Mapping) and bool(actions.get("Oem"))
