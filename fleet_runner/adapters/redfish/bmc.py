"""One BMC: read resources by pattern, power, one-time boot, the age of the last reset."""

import contextlib
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import NamedTuple, Self

from fleet_runner.adapters.redfish import virtual_media
from fleet_runner.adapters.redfish.banks import told_apart
from fleet_runner.adapters.redfish.boot import boot_once, possible
from fleet_runner.adapters.redfish.bulk import gather
from fleet_runner.adapters.redfish.credential_breaker import Breaker
from fleet_runner.adapters.redfish.exchange import DroppedError, Limits, Reply
from fleet_runner.adapters.redfish.resources import Body, Resources
from fleet_runner.adapters.redfish.wire import ROOT, Connection
from fleet_runner.core.base.errors import BmcError

SYSTEMS = f"{ROOT}/Systems"
RESET = "#ComputerSystem.Reset"
CLOCK_SKEW = -2.0
"""Seconds by which a reset may lie in the BMC's future: its times are whole seconds, its resources are cached."""


class System(NamedTuple):
    """The computer behind the BMC: its resource, and the reading of it."""

    uri: str
    body: Body
    reply: Reply


class Bmc:
    """A BMC by its address. Use it as a context manager: it logs out at the end.

    `verify` is True for the usual authorities, a file's name for those in it alone, False for no check.
    """

    def __init__(  # noqa: PLR0913  one for each thing that `opened` takes from the settings
        self,
        url: str,
        username: str,
        password: str,
        *,
        verify: bool | str = True,
        limits: Limits | None = None,
        breaker: Breaker | None = None,
    ) -> None:
        self._wire = Connection(url, (username, password), verify=verify, limits=limits or Limits(), breaker=breaker)
        self.resources = Resources(self._wire)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def url(self) -> str:
        """Its address."""
        return self._wire.url

    def begin(self) -> None:
        """Start the clock of one call."""
        self._wire.begin()

    def watch(self, alive: Callable[[], None]) -> None:
        """Call `alive` before each request from now on; what it raises ends the call."""
        self._wire.alive = alive

    def close(self) -> None:
        """Log out."""
        self._wire.close()

    def read(self, pattern: str) -> dict[str, Body]:
        """Return {URI: body} of every resource that a pattern names.

        A `*` stands for each member of the collection before it, a word after a `*` for the link of that name, with a
        colon for a link inside a property; members without that link, and links that lead nowhere, are left out.
        """
        self._wire.begin()
        head, *rest = pattern.rstrip("/").split("/*")
        uris = [head]
        for tail in rest:
            uris = [member for uri in uris for member in self.resources.members(uri)]
            for name in tail.strip("/").split("/") if tail else ():
                bodies = [self.resources.find(uri) for uri in uris]
                uris = [link for body in bodies if (link := self.resources.link(body, *name.split(":")))]
        found = {uri: self.resources.read(uri, missing_ok=bool(rest)) for uri in uris}
        return told_apart(self.resources, {uri: body for uri, body in found.items() if body is not None})

    def gather(self, patterns: Iterable[str]) -> dict[str, Body | None]:
        """Return {URI: body} of every resource that some patterns name, None where it could not be read.

        For patterns see `bulk`.
        """
        self._wire.begin()
        return gather(self.resources, patterns)

    def power(self, action: str) -> None:
        """Do a power action: On, ForceOff, GracefulShutdown, ForceRestart, PowerCycle. It is never sent twice."""
        self._wire.begin()
        system = self.computer()
        reset: Body = system.body["Actions"][RESET]
        allowed = self.resources.allowed(reset)
        if allowed and action not in allowed:
            raise BmcError(f"{self._wire.url}: {system.uri} allows {', '.join(allowed)}, not {action}")
        self.resources.done(self._wire.ask("POST", self._wire.own(reset["target"]), {"ResetType": action}), action)

    def power_actions(self) -> tuple[str, ...]:
        """Return the power actions that it allows; none where it does not say."""
        self._wire.begin()
        return tuple(self.resources.allowed(self.computer().body["Actions"][RESET]))

    def power_state(self) -> str | None:
        """Return On, Off or what else the BMC says, None where it says nothing."""
        self._wire.begin()
        state = self.computer().body.get("PowerState")
        return state if isinstance(state, str) else None

    def system(self) -> Body:
        """Return the resource of the computer behind the BMC: its SerialNumber, its UUID, its PowerState."""
        self._wire.begin()
        return self.computer().body

    def boot_once(self, target: str, http_uri: str = "", mac: str = "") -> None:
        """Let only the next boot start from a target (Pxe, UefiHttp, Cd); "None" takes such a request back.

        `http_uri` is what a UEFI HTTP boot loads; without one, what a DHCP server says. `mac` is the card that it
        comes from where the BMC can be told that.

        Raises:
            BmcError: it cannot, does not take it, or shows something else.
        """
        self._wire.begin()
        system = self.computer()
        boot_once(self.resources, (system.uri, system.body), (target, http_uri, mac))

    def can_boot_once(self, target: str, http_uri: str = "", mac: str = "", *, proof: bool = False) -> str:
        """Make sure that `boot_once` has a way, where there is a target; with `proof` the address will hold a secret.

        Returns what is to be told of it, "" for nothing.

        Raises:
            BmcError: it has none.
        """
        if not target:
            return ""
        self._wire.begin()
        system = self.computer()
        return possible(self.resources, (system.uri, system.body), (target, http_uri, mac), proof=proof)

    def can_insert(self, medium: str) -> None:
        """Make sure that `insert` has a slot for a medium, by its address.

        Raises:
            BmcError: it has none, or somebody else's medium is in one.
        """
        self._wire.begin()
        virtual_media.possible(self.resources, self.computer().body, medium)

    def insert(self, medium: str) -> None:
        """Have the host see a medium as a drive, by its address; one that is in already stays.

        Raises:
            BmcError: it cannot, does not take it, or does not connect it.
        """
        self._wire.begin()
        virtual_media.insert(self.resources, self.computer().body, medium)

    def eject(self, medium: str) -> bool:
        """Eject a medium, and nobody else's; return whether it was in.

        Raises:
            BmcError: it stays in.
        """
        self._wire.begin()
        return virtual_media.eject(self.resources, self.computer().body, medium)

    def last_reset_age(self) -> float | None:
        """Return the seconds since the last reset by the BMC's own clock, None where it does not know."""
        self._wire.begin()
        system = self.computer()
        return age(system.body.get("LastResetTime"), self._clock(system))

    def computer(self) -> System:
        """Return the computer behind the BMC, within the call that has begun."""
        # A GPU baseboard's own system answers 503 as long as the server is off: it comes last, and is not waited for.
        uris = sorted(self.resources.members(SYSTEMS), key=lambda uri: "Baseboard" in uri)
        found: list[System] = []
        with contextlib.suppress(DroppedError), self._wire.exchange.impatient():
            found = self._computers({uri: self._wire.get(uri) for uri in uris})
        if not found:
            replies = {uri: self._wire.get(uri) for uri in uris}
            found = self._computers(replies)
            if not found:
                answers = ", ".join(f"{uri} answered {reply.status}" for uri, reply in replies.items())
                raise BmcError(
                    f"{self._wire.url} has no system with a power action ({answers or 'it lists none'});"
                    " try again or look at the BMC"
                )
        whole = [system for system in found if "Baseboard" not in system.uri] or found
        if len(whole) > 1:
            names = ", ".join(system.uri for system in whole)
            raise BmcError(f"{self._wire.url} has several systems with a power action ({names}); expected one")
        return whole[0]

    def _computers(self, replies: Mapping[str, Reply]) -> list[System]:
        answered = {uri: reply for uri, reply in replies.items() if reply.status == HTTPStatus.OK}
        return [
            System(uri, reply.body or {}, reply) for uri, reply in answered.items() if _can_reset(reply.body or {})
        ]

    def _clock(self, system: System) -> datetime | None:
        managers = self.resources.links(system.body, "ManagedBy")
        if managers:
            manager = self.resources.find(managers[0]) or {}
            if (now := moment(manager.get("DateTime"))) is not None:
                return now
        return dated(system.reply)


def age(reset: object, now: datetime | None) -> float | None:
    """Return the seconds from a BMC's last reset until its now; None where that cannot be true."""
    at = moment(reset)
    if at is None or at.year <= 1970 or now is None:  # noqa: PLR2004  a clock that was never set starts here
        return None
    found = (now - at).total_seconds()
    return None if found < CLOCK_SKEW else max(found, 0.0)


def moment(text: object) -> datetime | None:
    """Return a time, of UTC where it does not say; None where it is none."""
    if not isinstance(text, str):
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def dated(reply: Reply) -> datetime | None:
    """Return when the BMC answered, by its own clock."""
    try:
        return parsedate_to_datetime(reply.headers.get("Date", "")).astimezone(UTC)
    except (ValueError, TypeError, OverflowError):
        return None


def _can_reset(body: Body) -> bool:
    actions = body.get("Actions")
    reset = actions.get(RESET) if isinstance(actions, dict) else None
    return isinstance(reset, dict) and isinstance(reset.get("target"), str)
