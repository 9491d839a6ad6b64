"""What every answer is made from, and how the fleet is told of it."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import structlog

from fleet_runner.core.base.errors import FleetError
from fleet_runner.core.boot.answers import BootRequest, Denied
from fleet_runner.core.boot.boots import Boot, Identity, Milestone, Reached, Refused
from fleet_runner.core.boot.facts import BootEndpoint, Facts, facts
from fleet_runner.core.boot.identity import Doubt, who
from fleet_runner.services.boot.documents import Documents
from fleet_runner.services.boot.images import Images
from fleet_runner.services.boot.ledger import Ledger
from fleet_runner.services.boot.sessions import Made, Origin, Session, Sessions
from fleet_runner.services.boot.source import Known
from fleet_runner.services.http.limits import Limits
from fleet_runner.services.http.recent import Recent
from fleet_runner.services.http.requests import Answer, Request, refusal
from fleet_runner.settings import Settings

log = structlog.get_logger()

QUIET_SECONDS = 60.0
"""For how long the same refusal is not logged again; the store counts each."""

MOST_QUIET = 20_000

LIFTED = frozenset({"address", "unproved", "unclaimed"})
"""Denials that end with a lease, a script, a proof or a claim, perhaps at another boot service."""

Judge = Callable[[Boot, BootRequest], Denied | None]


@dataclass(slots=True)
class BootContext:
    """The parts of a boot service that answers need. `clock` gives seconds since the epoch; `steady` is never set."""

    settings: Settings
    ledger: Ledger
    known: Known
    documents: Documents
    images: Images
    sessions: Sessions
    dhcp_token: bytes = field(default=b"", repr=False)
    clock: Callable[[], float] = time.time
    steady: Callable[[], float] = time.monotonic
    limits: Limits = field(default_factory=Limits)
    quiet: Recent[tuple[str, str, str], float] = field(default_factory=lambda: Recent(QUIET_SECONDS, MOST_QUIET))

    @property
    def url(self) -> str:
        """Return where nodes reach the service."""
        return self.settings.boot_url.rstrip("/")

    async def judged(
        self, boot: Boot, session: Session, request: Request, judge: Judge
    ) -> tuple[Boot, Denied | None]:
        """Return a boot, and why a request is denied what belongs to it, if it is.

        Another service may just have been told what lifts a denial, so the store has the last word on it.
        """
        denied = judge(boot, self._asked(boot, session, request))
        if denied is None or denied.code not in LIFTED:
            return boot, denied
        boot = await self.ledger.read(boot.id) or boot
        return boot, judge(boot, self._asked(boot, session, request))

    def _asked(self, boot: Boot, session: Session, request: Request) -> BootRequest:
        script_by = boot.sources.get(Milestone.SCRIPT, "")
        proof = self.settings.boot_proof == "bmc"
        return BootRequest(request.source, self.clock(), script_by, session.leased | boot.leased, proof)

    def who(self, said: Identity) -> str | Doubt | None:
        """Return the node that a machine is, by the source of truth or by what an armed boot expects."""
        known = self.known.copy.index
        return who(known, said) or who(self.ledger.armed.index(known.nodes), said)

    def origin(self) -> Origin:
        """Return what every boot's documents rest on now, or raise SettingsError where that cannot be read."""
        return (self.known.copy, *self.documents.version())

    def made(self, boot: Boot, session: Session) -> Made:
        """Return what a boot's answers are made from, as it was when its script was made."""
        return session.made.get(session.mac) or self.made_now(boot, session, session.mac)

    def made_now(self, boot: Boot, session: Session, mac: str) -> Made:
        """Return what a boot's answers are made from as everything is now, if it asks with this MAC address.

        Raises:
            FleetError: its node has left the source of truth, or templates or ssh keys cannot be read.
        """
        origin, made = self.origin(), session.made.pop(mac, None)
        if made is None or made.origin != origin:
            made = Made(origin, self._facts(boot, session.key, mac))
        session.made[mac] = made
        return made

    def document(self, name: str, made: Made) -> bytes:
        """Return a document without secrets, rendered once."""
        found = made.documents.get(name)
        if found is None:
            found = made.documents[name] = self.documents.plain(name, made.facts)
        return found

    def _facts(self, boot: Boot, key: str, mac: str) -> Facts:
        fleet = self.known.copy.fleet
        device = fleet.devices.get(boot.node)
        if device is None:
            raise FleetError(f"{boot.node} has left the source of truth")
        url = self.settings.boot_secure_url or self.settings.boot_url
        return facts(fleet, device, boot, BootEndpoint(url, key, mac))

    def reached(self, session: Session, milestone: Milestone, source: str, detail: str = "") -> None:
        """Tell the store once that a boot came to a milestone."""
        if milestone not in session.told:
            session.told.add(milestone)
            self.ledger.note(Reached(session.number, milestone, self.clock(), source, detail))

    def refused(self, node: str, denied: Denied, source: str, boot: int | None = None) -> None:
        """Tell the store of a refusal, and the log of one that is new."""
        now = self.clock()
        self.ledger.note(Refused(node, denied.code, denied.sentence, now, source, boot))
        if self.fresh(node, denied.code, source):
            log.warning("refused", node=node, code=denied.code, why=denied.sentence, source=source, boot=boot)

    def plain(self, boot: Boot, request: Request, what: str) -> Denied | None:
        """Deny what goes over TLS alone, where there is TLS and the request came without."""
        if request.secure or not self.settings.boot_secure_url:
            return None
        return Denied("plain", f"{boot.node}: {what} of boot {boot.id} is asked for without TLS")

    def refuse(self, boot: Boot, denied: Denied, request: Request) -> Answer:
        """Refuse what belongs to a boot."""
        self.refused(boot.node, denied, request.source, boot.id)
        return refusal(denied.status, denied.code)

    def fresh(self, *what: str) -> bool:
        """Whether something was not logged lately."""
        key, now = (what[0], what[1], what[2]), self.steady()
        logged = self.quiet.get(key)
        if logged is not None and now - logged < QUIET_SECONDS:
            return False
        self.quiet.put(key, now, now)
        return True

    async def keyed(self, key: str, request: Request) -> tuple[Boot, Session] | Answer:
        """Return the boot that a key is of, open or over, and its session."""
        number = self.sessions.number(key)
        if number is None:
            return self._unmade(request)
        boot = self.ledger.boot(number) or await self.ledger.read(number)
        if boot is None:
            return refusal(410, "closed")
        session = self.sessions.of(boot)
        return (boot, session) if session.key == key else self._unmade(request)

    def _unmade(self, request: Request) -> Answer:
        denied = Denied("key", "a request names a boot with a key that was not made here, or for another store")
        self.refused("", denied, request.source)
        return refusal(denied.status, denied.code)

    async def tend(self, seconds: float) -> None:
        """Forget sessions of boots that are over, again and again, until cancelled."""
        while True:
            await asyncio.sleep(seconds)
            self.sessions.forget({boot.id for boot in self.ledger.open.values()})
