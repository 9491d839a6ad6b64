"""Restart a computer, by itself where it can; shut it down, switch it off, power-cycle it. `Bmc.power` sends it."""

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import Protocol

from fleet_runner.adapters.redfish import resets
from fleet_runner.adapters.redfish.bmc import Bmc
from fleet_runner.core.base.errors import BmcError, NotOfferedError

BACK_SECONDS = 600.0
"""How long a BMC may take that started anew, as one does whose power was taken away."""

OFF_SECONDS = 60.0
"""A server that is cut off is off within seconds; some BMCs notice late."""

PAUSE = 1.0


class Powered(Protocol):
    """What has the power of a computer in its hand: its BMC, however that is asked."""

    @property
    def url(self) -> str:
        """Its address."""
        ...

    def power_state(self) -> str | None:
        """Return On, Off or what else it says."""
        ...

    def power(self, action: str) -> None:
        """Do a power action."""
        ...

    def boot_once(self, target: str, http_uri: str = "", mac: str = "") -> None:
        """Let only the next boot start from a target."""
        ...

    def last_reset_age(self) -> float | None:
        """Return the seconds since the last reset, None where it does not know."""
        ...


def plan(  # noqa: PLR0913  what was asked, what is, and what is known of the node
    action: str,
    state: str | None,
    allowed: tuple[str, ...],
    *,
    done: bool,
    served: bool = False,
    answers: bool = False,
) -> list[str]:
    """Return the power actions that are still to be sent; `done` says that the BMC has reset the node already.

    A node that is off is only switched on, even when `done`: an earlier try may have ended between off and on. One
    whose boot is armed (`served`) is always off first: the old system could ask for the data in its place.
    """
    if action == "off":
        return [] if state == "Off" else ["ForceOff"]
    if state == "Off":
        return ["On"]
    if done or (action, state) == ("on", "On"):
        return []
    if action == "reboot":
        return ways(allowed, served=served, answers=answers)
    # A DGX H100's BMC knows no PowerCycle; off and on is the same.
    reset = {"on": "On", "cycle": "PowerCycle", "restart": "ForceRestart"}[action]
    return [reset] if not served and (action == "on" or not allowed or reset in allowed) else ["ForceOff", "On"]


def start(bmc: Powered, action: str, alive: Callable[[], None], source: tuple[str, ...] = ("",)) -> None:
    """Tell a BMC where the next boot comes from, if not from where it always does, and send the power action."""
    if source[0]:
        alive()
        bmc.boot_once(*source)
    alive()
    bmc.power(action)


def ways(allowed: tuple[str, ...], *, served: bool, answers: bool) -> list[str]:
    """Return how a system is restarted: by itself while it `answers` ssh, by its BMC where it does not.

    One whose boot is armed (`served`) is off in between; the others need not be.
    """
    if served:
        return ["GracefulShutdown" if answers and "GracefulShutdown" in allowed else "ForceOff", "On"]
    known = ("GracefulRestart", "ForceRestart") if answers else ("ForceRestart",)
    return [way for way in known if way in allowed or not allowed][:1] or ["ForceOff", "On"]


def shut_down(
    bmc: Powered, alive: Callable[[], None], grace: float, pause: Callable[[float], None] = time.sleep
) -> bool:
    """Have a system shut down; say whether it is off after `grace` seconds."""
    alive()
    bmc.power("GracefulShutdown")
    deadline = time.monotonic() + grace
    while bmc.power_state() != "Off":
        if time.monotonic() > deadline:
            return False
        pause(PAUSE)
    return True


def switch_off(bmc: Powered, alive: Callable[[], None], pause: Callable[[float], None] = time.sleep) -> None:
    """Cut a system off, and wait until its BMC says so.

    Raises:
        BmcError: the BMC says otherwise for too long.
    """
    alive()
    bmc.power("ForceOff")
    deadline = time.monotonic() + OFF_SECONDS
    while (state := bmc.power_state()) != "Off":
        if time.monotonic() > deadline:
            raise BmcError(f"switched off, but its BMC is {state} after {OFF_SECONDS:g} s; look at it")
        pause(PAUSE)


def restarts(
    bmc: Powered, grace: float, gone: Callable[[], bool], pause: Callable[[float], None] = time.sleep
) -> bool:
    """Wait until a system that was asked to restart does so: its BMC says so, or it is `gone`."""
    began = time.monotonic()
    while time.monotonic() - began < grace:
        age = bmc.last_reset_age()
        if bmc.power_state() != "On" or (age is not None and age < time.monotonic() - began) or gone():
            return True
        pause(PAUSE)
    return False


def drain(bmc: Powered, alive: Callable[[], None], pause: Callable[[float], None] = time.sleep) -> str | None:
    """Take all power away, and return the power state once the BMC answers again.

    Raises:
        NoWayError: the BMC offers no way to.
    """
    if not isinstance(bmc, Bmc):
        raise NotOfferedError(f"{bmc.url}: IPMI cannot take all power away")
    alive()
    bmc.begin()
    resets.ac_drain(bmc)
    deadline = time.monotonic() + BACK_SECONDS
    while True:
        pause(PAUSE)
        try:
            return bmc.power_state()
        except BmcError as error:
            if time.monotonic() > deadline:
                raise BmcError(
                    f"{bmc.url}: power was cut, and it does not answer after {BACK_SECONDS:g} s: {error}"
                ) from error


@contextlib.contextmanager
def medium(bmc: Powered, address: str, alive: Callable[[], None]) -> Iterator[None]:
    """Have a virtual medium in while a node is told to boot, and out again where that fails; none without an address.

    Raises:
        BmcError: it cannot be inserted, or cannot stay.
    """
    if not address:
        yield
        return
    alive()
    insert(bmc, address)
    try:
        yield
    except BaseException:
        with contextlib.suppress(BmcError):
            _inserting(bmc).eject(address)
        raise


def insert(bmc: Powered, address: str) -> None:
    """Insert a virtual medium, where there is an address of one; one that is in stays.

    Raises:
        BmcError: it cannot be.
    """
    if address:
        _inserting(bmc).insert(address)


def can_insert(bmc: Powered, address: str) -> None:
    """Make sure that a virtual medium can be inserted, where there is an address of one.

    Raises:
        BmcError: it cannot.
    """
    if address:
        _inserting(bmc).can_insert(address)


def _inserting(bmc: Powered) -> Bmc:
    if not isinstance(bmc, Bmc):
        raise NotOfferedError(f"{bmc.url}: IPMI has no virtual media; boot its device type without boot_medium")
    return bmc
