"""The next boot of a computer, from where it is told: asked for as its BMC's maker wants it, then read again."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fleet_runner.adapters.redfish.resources import Body, Resources
from fleet_runner.core.base.errors import BmcError, BmcRefused
from fleet_runner.core.base.fields import shown
from fleet_runner.core.boot import override
from fleet_runner.core.boot.override import MODE, Seen, Step

LOOKS = 3
"""Looks at what a BMC shows until it counts as not taken."""

PAUSE = 1.0


def boot_once(
    at: Resources, system: tuple[str, Body], source: tuple[str, str], pause: Callable[[float], None] = time.sleep
) -> None:
    """Let only the next boot start from a source: a target, and what is loaded over HTTP ("" for what DHCP says).

    Raises:
        BmcError: it cannot, does not take it, or does not show that it took it.
    """
    uri = at.link(system[1], "@Redfish.Settings", "SettingsObject") or system[0]
    seen = _seen(at, uri, system[1], source[0])
    found = override.plan(*source, seen)
    if found.why:
        raise BmcError(f"{at.wire.url}: {uri} {found.why}")
    *before, last = found.steps
    for step in before:
        at.patch(uri, {"Boot": dict(step)}, "the device of the next boot")
    ask = _Ask(at, uri, f"the boot override {source[0]}", seen, pause)
    error = ask.once(last)
    if error is not None and MODE in str(error):
        error = ask.once(override.otherwise(last, seen.boot))
    if error is not None:
        raise error


@dataclass(frozen=True, slots=True)
class _Ask:
    """Where it is asked for, what it is called, and what the BMC showed before."""

    at: Resources
    uri: str
    what: str
    seen: Seen
    pause: Callable[[float], None]

    def once(self, step: Step) -> BmcError | None:
        """Send a step and look whether it is there; return what went wrong."""
        try:
            self.at.patch(self.uri, {"Boot": dict(step)}, self.what)
        except BmcRefused as error:
            # A 13th generation Dell refuses what it nevertheless did (ansible-collections/community.general 5091).
            return error if override.ADDRESS in step or self._differs(step) else None
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

    def _differs(self, step: Step) -> str:
        """Say what the BMC shows that was not asked for, also of the boot mode; "" where that is all well."""
        boot, before = _boot(self.at, self.uri), self.seen.boot.get(MODE)
        fallen = (
            MODE not in step and step[override.TARGET] != override.NOWHERE and before and boot.get(MODE) != before
        )
        return override.held(step, boot) or (f"{MODE} {shown(boot.get(MODE))}" if fallen else "")


def _seen(at: Resources, uri: str, system: Body, target: str) -> Seen:
    boot = _boot(at, uri)
    if target != override.HTTP:
        return Seen(boot)
    bios = (at.find(at.link(system, "Bios")) or {}) if override.ADDRESS not in boot else {}
    attributes = bios.get("Attributes")
    allowed = boot.get(f"{override.TARGET}{override.ALLOWED}")
    paths = _paths(at, system) if isinstance(allowed, list) and target not in allowed else ()
    return Seen(boot, paths, attributes if isinstance(attributes, dict) else {})


def _paths(at: Resources, system: Body) -> tuple[str, ...]:
    collection = at.link(system, "Boot", "BootOptions")
    options = at.all(collection) if collection and at.find(collection) else {}
    return tuple(str(body.get("UefiDevicePath") or "") for body in options.values())[: override.MOST_PATHS]


def _boot(at: Resources, uri: str) -> dict[str, Any]:
    boot = (at.find(uri) or {}).get("Boot")
    return boot if isinstance(boot, dict) else {}
