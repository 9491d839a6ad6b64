"""The next boot of a computer, from where it is told: asked for as its BMC's maker wants it, then read again."""

import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from fleet_runner.adapters.redfish.resources import Body, Resources
from fleet_runner.adapters.redfish.wire import ROOT
from fleet_runner.core.base.errors import BmcError, BmcRefused
from fleet_runner.core.boot import override
from fleet_runner.core.boot.override import Override, Seen, Step
from fleet_runner.core.firmware import makers
from fleet_runner.core.firmware.makers import Maker

LOOKS = 3
"""Looks at what a BMC shows until it counts as not taken."""

PAUSE = 1.0


Source = tuple[str, str, str]
"""A target, what is loaded over HTTP ("" for what DHCP says), and the MAC address of the card ("" for any)."""


def possible(at: Resources, system: tuple[str, Body], source: Source, *, proof: bool = False) -> str:
    """Make sure that `boot_once` has a way, before anything is done to the node; with `proof` the address is secret.

    Returns what is to be told of it, "" for nothing.

    Raises:
        BmcError: it has none.
    """
    return _planned(at, system, source, proof=proof)[1].note


def boot_once(
    at: Resources, system: tuple[str, Body], source: Source, pause: Callable[[float], None] = time.sleep
) -> None:
    """Let only the next boot start from a source.

    Raises:
        BmcError: it cannot, does not take it, or shows something else.
    """
    seen, found = _planned(at, system, source)
    *before, last = found.steps
    uri = _place(at, system)
    for step in before:
        at.patch(uri, {"Boot": dict(step)}, "the device of the next boot")
    ask = _Ask(at, (uri, system[0]), f"the boot override {source[0]}", seen, pause)
    error = ask.once(last)
    if error is not None and (other := override.otherwise(last, seen.boot)):
        again = ask.once(other)
        error = error if isinstance(again, BmcRefused) else again
    if error is not None:
        ask.take_back()
        raise type(error)(f"{error}{ask.left_off()}")


@dataclass(frozen=True, slots=True)
class _Ask:
    """Where it is asked for and shown, what it is called, and what the BMC showed before."""

    at: Resources
    places: tuple[str, str]
    what: str
    seen: Seen
    pause: Callable[[float], None]

    def once(self, step: Step) -> BmcError | None:
        """Send a step and look whether it is there; return what went wrong."""
        try:
            self.at.patch(self.places[0], {"Boot": dict(step)}, self.what)
        except BmcRefused as error:
            # A 13th generation Dell refuses what it nevertheless did (ansible-collections/community.general 5091).
            done = override.ADDRESS not in step and any(override.stands(step, boot) for boot in self._shown())
            return None if done and not self._differs(step) else error
        odd = self._differs(step)
        for _ in range(LOOKS - 1):
            if not odd:
                return None
            self.pause(PAUSE)
            odd = self._differs(step)
        if not odd:
            return None
        return BmcError(
            f"{self.at.wire.url} took {self.what}, and shows {odd}: the next boot would not come from there; "
            "look at its boot settings, or boot from another source"
        )

    def take_back(self) -> None:
        """Take back what a BMC made of a step that was good for one boot, where it made it good for all."""
        with contextlib.suppress(BmcError):
            if override.lasts(self.seen.boot, _boot(self.at, self.places[0])):
                self.at.patch(self.places[0], {"Boot": dict(override.NO_OVERRIDE)}, "no boot override")

    def left_off(self) -> str:
        """Say that the node is off, which nobody switches on after this; "" where it is not, or nobody knows."""
        with contextlib.suppress(BmcError):
            if (self.at.find(self.places[1]) or {}).get("PowerState") == "Off":
                return "; the node is left switched off"
        return ""

    def _differs(self, step: Step) -> str:
        """Say what the BMC shows that was not asked for; "" where one of the places shows it as it should be."""
        odd = [override.held(step, boot, self.seen.boot) for boot in self._shown()]
        return "" if "" in odd else odd[0]

    def _shown(self) -> list[dict[str, Any]]:
        return [_boot(self.at, uri) for uri in dict.fromkeys(self.places)]


def _planned(
    at: Resources, system: tuple[str, Body], source: Source, *, proof: bool = False
) -> tuple[Seen, Override]:
    uri = _place(at, system)
    target, address, mac = source
    seen = replace(_seen(at, uri, system[1], target), mac=mac)
    if mac and not seen.paths:
        seen = replace(seen, paths=_paths(at, system[1]))
    found = override.plan(target, address, seen, proof=proof)
    if found.why:
        raise BmcError(f"{at.wire.url}: {uri} {found.why}")
    return seen, found


def _place(at: Resources, system: tuple[str, Body]) -> str:
    """Return where it is asked for: at the system's settings object, where that has one that the system has.

    Lenovo's settings object holds the boot order alone.
    """
    settings = at.link(system[1], "@Redfish.Settings", "SettingsObject")
    shown = system[1].get("Boot")
    if settings is None or (_overrides(shown) and not _overrides(_boot(at, settings))):
        return system[0]
    return settings


def _overrides(boot: object) -> bool:
    return isinstance(boot, dict) and (override.TARGET in boot or override.ENABLED in boot)


def _seen(at: Resources, uri: str, system: Body, target: str) -> Seen:
    boot = override.allowing(_boot(at, uri), system.get("Boot"))
    if target != override.HTTP:
        return Seen(boot)
    allowed = boot.get(f"{override.TARGET}{override.ALLOWED}")
    paths = _paths(at, system) if isinstance(allowed, list) and target not in allowed else ()
    return Seen(boot, paths, _bios(at, system))


def _bios(at: Resources, system: Body) -> dict[str, Any]:
    """Return the BIOS settings of a Dell; none of any other maker's, nor where they cannot be read now."""
    with contextlib.suppress(BmcError):
        if makers.maker(at.get(ROOT), {}) is Maker.DELL:
            found = (at.find(at.link(system, "Bios")) or {}).get("Attributes")
            return found if isinstance(found, dict) else {}
    return {}


def _paths(at: Resources, system: Body) -> tuple[str, ...]:
    collection = at.link(system, "Boot", "BootOptions")
    options = at.all(collection) if collection and at.find(collection) else {}
    return tuple(str(body.get("UefiDevicePath") or "") for body in options.values())[: override.MOST_PATHS]


def _boot(at: Resources, uri: str) -> dict[str, Any]:
    boot = (at.find(uri) or {}).get("Boot")
    return boot if isinstance(boot, dict) else {}
