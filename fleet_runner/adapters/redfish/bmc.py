"""One BMC: read resources by pattern, power, one-time boot, the age of the last reset."""

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any, NamedTuple, Self

from fleet_runner.adapters.redfish.credentials import credentials
from fleet_runner.adapters.redfish.wire import DONE, ROOT, Limits, Reply, Wire, words
from fleet_runner.core.errors import BmcError
from fleet_runner.settings import Settings

SYSTEMS = f"{ROOT}/Systems"
RESET = "#ComputerSystem.Reset"
MOST_MEMBERS = 4096
CLOCK_SKEW = -2.0
"""Seconds by which a reset may lie in the BMC's future: its times are whole seconds, its resources are cached."""

Body = dict[str, Any]


class System(NamedTuple):
    """The computer behind the BMC: its resource, and the reading of it."""

    uri: str
    body: Body
    reply: Reply


class Bmc:
    """A BMC by its address. Use it as a context manager: it logs out at the end."""

    def __init__(
        self, url: str, username: str, password: str, *, verify: bool = True, limits: Limits | None = None
    ) -> None:
        self._wire = Wire(url, (username, password), verify=verify, limits=limits or Limits())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Log out."""
        self._wire.close()

    def read(self, pattern: str) -> dict[str, Body]:
        """Return {URI: body} of every resource that a pattern names.

        A `*` stands for each member of the collection before it, a word after a `*` for the link of that name;
        members without that link, and links that lead nowhere, are left out.
        """
        self._wire.begin()
        head, *rest = pattern.rstrip("/").split("/*")
        uris = [head]
        for tail in rest:
            uris = [member for uri in uris for member in self._members(uri)]
            for name in tail.strip("/").split("/") if tail else ():
                uris = [link for uri in uris if (link := self._link(uri, name))]
        found = {uri: self._get(uri, missing_ok=bool(rest)) for uri in uris}
        return {uri: body for uri, body in found.items() if body is not None}

    def power(self, action: str) -> None:
        """Do a power action: On, ForceOff, GracefulShutdown, ForceRestart, PowerCycle. It is never sent twice."""
        self._wire.begin()
        system = self._system()
        reset: Body = system.body["Actions"][RESET]
        allowed = self._allowed(reset)
        if allowed and action not in allowed:
            raise BmcError(f"{self._wire.url}: {system.uri} allows {', '.join(allowed)}, not {action}")
        self._done(self._wire.ask("POST", self._wire.own(reset["target"]), {"ResetType": action}), action)

    def power_actions(self) -> tuple[str, ...]:
        """Return the power actions that it allows; none where it does not say."""
        self._wire.begin()
        return tuple(self._allowed(self._system().body["Actions"][RESET]))

    def power_state(self) -> str | None:
        """Return On, Off or what else the BMC says, None where it says nothing."""
        self._wire.begin()
        state = self._system().body.get("PowerState")
        return state if isinstance(state, str) else None

    def system(self) -> Body:
        """Return the resource of the computer behind the BMC: its SerialNumber, its UUID, its PowerState."""
        self._wire.begin()
        return self._system().body

    def boot_once(self, target: str, http_uri: str = "") -> None:
        """Let only the next boot start from a target (Pxe, UefiHttp); "None" takes such a wish back.

        `http_uri` is what a UEFI HTTP boot loads; without one, what a DHCP server says.
        """
        self._wire.begin()
        system = self._system()
        uri = self._settings_uri(system)
        enabled = "Disabled" if target == "None" else "Once"
        override = {"BootSourceOverrideEnabled": enabled, "BootSourceOverrideTarget": target}
        change = {"Boot": override | ({"HttpBootUri": http_uri} if http_uri else {})}
        reply = self._change(uri, change, target)
        if reply.status == HTTPStatus.PRECONDITION_FAILED:
            # Changed between our read and our write, which does not matter to an override; or a BMC that gives
            # weak tags and takes only strong ones.
            reply = self._change(uri, change, target, strong=True)
        self._done(reply, f"the boot override {target}")

    def last_reset_age(self) -> float | None:
        """Return the seconds since the last reset by the BMC's own clock, None where it does not know."""
        self._wire.begin()
        system = self._system()
        reset = _moment(system.body.get("LastResetTime"))
        if reset is None or reset.year <= 1970:  # noqa: PLR2004  a clock that was never set starts here
            return None
        now = self._clock(system)
        age = (now - reset).total_seconds() if now is not None else None
        return None if age is None or age < CLOCK_SKEW else max(age, 0.0)

    def _system(self) -> System:
        found: list[System] = []
        trouble = "none of its systems has one"
        for uri in self._members(SYSTEMS):
            reply = self._wire.get(uri)
            if reply.status != HTTPStatus.OK or reply.body is None:
                # The GPU baseboard's own system answers 503 while the server is off.
                trouble = f"{uri} answered {reply.status}"
            elif _can_reset(reply.body):
                found.append(System(uri, reply.body, reply))
        whole = [system for system in found if "Baseboard" not in system.uri] or found
        if len(whole) == 1:
            return whole[0]
        if whole:
            names = ", ".join(system.uri for system in whole)
            raise BmcError(f"{self._wire.url} has several systems with a power action ({names}); expected one")
        raise BmcError(f"{self._wire.url} has no system with a power action: {trouble}; try again or look at the BMC")

    def _members(self, uri: str) -> list[str]:
        found: list[str] = []
        pages: set[str] = set()
        page: str | None = uri
        while page is not None and page not in pages and len(found) < MOST_MEMBERS:
            pages.add(page)
            body = self._get(page) or {}
            listed = body.get("Members") or []  # some storage collections have none
            if not isinstance(listed, list) or not all(isinstance(member, dict) for member in listed):
                raise BmcError(f"{self._wire.url}{page}: Members is not a list of links; this is not Redfish")
            found += [self._wire.own(member.get("@odata.id")) for member in listed]
            following = body.get("Members@odata.nextLink")
            page = self._wire.own(following) if following else None
        return found

    def _link(self, uri: str, name: str) -> str | None:
        body = self._get(uri, missing_ok=True) or {}
        link = body.get(name)
        return self._wire.own(link["@odata.id"]) if isinstance(link, dict) and "@odata.id" in link else None

    def _get(self, uri: str, *, missing_ok: bool = False) -> Body | None:
        reply = self._wire.get(uri)
        if missing_ok and reply.status == HTTPStatus.NOT_FOUND:
            return None
        if reply.status != HTTPStatus.OK:
            raise BmcError(f"{self._wire.url}{uri} answered {reply.status}, expected 200: {words(reply.body)}")
        return reply.body

    def _allowed(self, reset: Body) -> list[str]:
        direct = reset.get("ResetType@Redfish.AllowableValues")
        if isinstance(direct, list):
            return [str(value) for value in direct]
        info = reset.get("@Redfish.ActionInfo")
        body = self._get(self._wire.own(info), missing_ok=True) if info else None
        for parameter in (body or {}).get("Parameters") or []:
            if isinstance(parameter, dict) and parameter.get("Name") == "ResetType":
                return [str(value) for value in parameter.get("AllowableValues") or []]
        return []

    def _settings_uri(self, system: System) -> str:
        settings = system.body.get("@Redfish.Settings")
        pointed = settings.get("SettingsObject") if isinstance(settings, dict) else None
        return self._wire.own(pointed.get("@odata.id")) if isinstance(pointed, dict) else system.uri

    def _change(self, uri: str, change: Body, target: str, *, strong: bool = False) -> Reply:
        before = self._wire.get(uri)
        body = before.body or {}
        boot = body.get("Boot") if isinstance(body.get("Boot"), dict) else {}
        allowed = (boot or {}).get("BootSourceOverrideTarget@Redfish.AllowableValues")
        if isinstance(allowed, list) and target not in allowed:
            raise BmcError(f"{self._wire.url}: {uri} can boot from {', '.join(map(str, allowed))}, not {target}")
        tag = str(before.headers.get("ETag") or body.get("@odata.etag") or "")
        tag = tag.removeprefix("W/") if strong else tag
        return self._wire.ask("PATCH", uri, change, {"If-Match": tag} if tag else {})

    def _clock(self, system: System) -> datetime | None:
        links = system.body.get("Links")
        managers = links.get("ManagedBy") if isinstance(links, dict) else None
        first = managers[0] if isinstance(managers, list) and managers else None
        if isinstance(first, dict) and "@odata.id" in first:
            manager = self._get(self._wire.own(first["@odata.id"]), missing_ok=True) or {}
            if (now := _moment(manager.get("DateTime"))) is not None:
                return now
        try:
            return parsedate_to_datetime(system.reply.headers.get("Date", "")).astimezone(UTC)
        except (ValueError, TypeError, OverflowError):
            return None

    def _done(self, reply: Reply, what: str) -> None:
        if reply.status not in DONE:
            raise BmcError(f"{self._wire.url} answered {reply.status} to {what}: {words(reply.body)}")


def opened(settings: Settings, url: str, limits: Limits | None = None) -> Bmc:
    """Return the BMC at an address, with the settings' credentials and trust."""
    username, password = credentials(settings)
    return Bmc(url, username, password, verify=not settings.bmc_insecure, limits=limits)


def _can_reset(body: Body) -> bool:
    actions = body.get("Actions")
    reset = actions.get(RESET) if isinstance(actions, dict) else None
    return isinstance(reset, dict) and isinstance(reset.get("target"), str)


def _moment(text: object) -> datetime | None:
    if not isinstance(text, str):
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)
