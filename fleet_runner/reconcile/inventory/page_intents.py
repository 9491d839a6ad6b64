"""Requests that people set in a device's page in NetBox: taken once, in a thread of its own, and the field emptied.

A request is left for the reconciler before its field is emptied: what is seen again is known.
One runner looks every half a minute; one at which NetBox's webhook rings looks at once, whoever that is.
"""

import os
import secrets
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Event, Thread
from typing import NamedTuple

import structlog

from fleet_runner.adapters.netbox import node_fields, page_intents
from fleet_runner.adapters.netbox.client import Client, ForbiddenError, RefusedError
from fleet_runner.adapters.netbox.page_intents import Seen
from fleet_runner.adapters.plays.wakeup import REQUESTS, Wakeup, hearing, ring
from fleet_runner.adapters.store import Store
from fleet_runner.core.base.errors import SettingsError, SourceError, StoreError
from fleet_runner.core.inventory.netbox.page_intents import (
    Page,
    PageIntent,
    asked,
    mark,
    overwritten,
    refusal,
    told,
    waits,
)
from fleet_runner.core.inventory.records import NODE_ROLES
from fleet_runner.core.tickets.trackers.backoff import pause
from fleet_runner.reconcile.inventory.netbox import session, url
from fleet_runner.reconcile.inventory.netbox_mirror.fields import absent
from fleet_runner.reconcile.loop.survive import errors_logged
from fleet_runner.settings import Settings, origin

log = structlog.get_logger()

NAME = "netbox requests"
"""Under which the store knows who looks, and how that went; no tracker of people can have such a name."""

EVERY = 30.0
"""Seconds between two looks where nobody rings."""

LEASE = 120.0
"""Seconds for which a runner has the right to look every so often."""

REST = 1.0
"""Seconds after a look until the next one: however often it rings, NetBox is asked no more than that."""

ROUNDS = 3
"""Looks at pages that people change while they are read."""

CHUNK = 50
"""Devices whose requests are taken before the next are read again."""

TELLING = 60.0
"""Seconds for which a runner has the right to say a refusal: longer than its requests may take."""

STUCK = 600.0
"""Seconds until a field that could not be emptied is tried again, if its page stays as it is."""

GRACE = 5.0
"""Seconds that a request under way is given at the end; what it leaves undone is found again."""


class Stuck(NamedTuple):
    """Why a page's request cannot be taken or its field not be emptied, and when that is tried again."""

    why: str
    until: float


@dataclass(slots=True)
class PageIntentReader:
    """What takes requests. `opened` opens a session, `wake` has the reconciler look, `now` is the store's clock."""

    store: Store
    url: str
    opened: Callable[[], AbstractContextManager[Client]]
    wake: Callable[[], object]
    now: Callable[[], float]
    holder: str = field(default_factory=lambda: f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}")
    trouble: str = ""
    stuck: dict[Seen, Stuck] = field(default_factory=dict[Seen, Stuck])

    def visit(self, *, rung: bool = False) -> int:
        """Take what people ask for, if it is this runner's turn or it rang here; return how many requests."""
        standing = self.store.take_tracker(NAME, self.holder, self.now(), LEASE)
        if not rung and (standing is None or standing.due_at > self.now()):
            return 0
        try:
            with self.opened() as client:
                taken = self._look(client)
        except (SourceError, SettingsError) as error:
            tries = self.store.tracker(NAME).tries
            self.store.tracker_failed(NAME, str(error), self.now() + pause(tries + 1))
            self._say(str(error))
            return 0
        self.store.tracker_heard(NAME, self.now())
        if self.trouble:  # of some pages alone: it is shown, and the next look is in its time
            self.store.tracker_failed(NAME, self.trouble, self.now())
        return taken

    def _look(self, client: Client) -> int:
        """Take what stands in the pages, and say refusals that no history of a node can."""
        taken, strange = 0, list[Seen]()
        for _ in range(ROUNDS):
            began = self.now()
            seen = page_intents.waiting(client)
            self.store.page_intents_gone(self.url, [each.page.device for each in seen], began, self.now())
            strange = [each for each in seen if waits(each.page, self.store.node(each.page.name))]
            self.stuck = {each: why for each, why in self.stuck.items() if each in seen and why.until > began}
            left = [each for each in seen if each not in strange and each not in self.stuck]
            done = [self._some(client, left[at : at + CHUNK]) for at in range(0, len(left), CHUNK)]
            taken += sum(count for count, _ in done)
            if not any(again for _, again in done):
                break
        self._refuse(client)
        waiting = [f"{each.page.name}: the source of truth was not read with this node yet" for each in strange]
        self._say("; ".join([*waiting, *(each.why for each in self.stuck.values() if each.why)]))
        return taken

    def _some(self, client: Client, chunk: Sequence[Seen]) -> tuple[int, bool]:
        """Take the requests of some pages; return how many, and whether one was changed meanwhile.

        Who asked is read before the page is read again: where that is as it was, the two belong together.
        """
        names = {each.page.name for each in chunk if each.page.role in NODE_ROLES}
        pages = node_fields.devices(client, names) if names else {}
        logs = {each.page.device: page_intents.changes(client, each.page.device) for each in chunk}
        still = {each.page.device: each for each in page_intents.waiting(client, sorted(logs))}
        taken, again = 0, False
        for each in chunk:
            if still.get(each.page.device) != each:
                again = True
                continue
            if (count := len(pages.get(each.page.name, ()))) > 1:  # whoever may change one need not have the other
                self.stuck[each] = Stuck(f"{absent(each.page.name, count)}; the request waits", self.now() + EVERY)
                continue
            intent = asked(each.page, logs[each.page.device])
            taken += self._take(each.page, intent)
            try:
                emptied = page_intents.empty(client, each)
            except (RefusedError, ForbiddenError) as error:
                ours = each.page.role in NODE_ROLES  # what is no node need not be ours to change
                why = f"{each.page.name}: the request is accepted, but still in its page: {error}" if ours else ""
                self.stuck[each] = Stuck(why, self.now() + STUCK)
                continue
            again = again or not emptied
            if emptied:
                self.store.page_intent_emptied(self.url, each.page.device, self.now())
                taken += self._lost(client, each.page, intent)
        return taken, again

    def _take(self, page: Page, intent: PageIntent) -> bool:
        """Leave a request for the reconciler, or refuse it; False where it was taken before."""
        node = self.store.node(page.name) if page.role in NODE_ROLES else None
        why = refusal(page, node)
        if not self.store.take_page_intent(self.url, intent, self.now(), refusal=why, here=node is not None):
            return False
        refused = {"refused": why} if why else {}
        log.info("accepted a request from NetBox", node=intent.name, intent=intent.kind, by=intent.by, **refused)
        self.wake()
        return True

    def _lost(self, client: Client, page: Page, intent: PageIntent) -> bool:
        """Take the request that was set between reading the page and emptying it, where NetBox let that happen."""
        later = overwritten(page, intent, page_intents.changes(client, page.device))
        return later is not None and self._take(replace(page, kind=later.kind), later)

    def _refuse(self, client: Client) -> None:
        """Say in NetBox why requests cannot be taken, for devices whose history is not kept here."""
        for each in self.store.refused_page_intents(self.url):
            if self.store.begin_refusal(self.url, each.intent, self.now(), TELLING):
                try:
                    if not page_intents.said(client, each.intent.device, mark(each.intent)):
                        page_intents.say(client, each.intent.device, told(each.intent, each.why))
                except RefusedError as error:  # its device is gone: there is no page left to say it in
                    log.warning(
                        "the reason of a refused request could not be written",
                        device=each.intent.name,
                        why=str(error),
                    )
                self.store.refusal_told(self.url, each.intent, self.now())

    def _say(self, trouble: str) -> None:
        """Log what is wrong, once."""
        if trouble and trouble != self.trouble:
            log.warning("requests in NetBox's pages wait", why=trouble)
        self.trouble = trouble


def taker(settings: Settings, store: Store) -> PageIntentReader:
    """Return what takes requests from the NetBox of the settings; SettingsError where they cannot be meant."""
    if "://" not in settings.source:
        text = f"netbox_wishes is on, {origin('netbox_wishes')}, and source is the folder {settings.source}"
        raise SettingsError(f"{text}; expected a NetBox's URL, or netbox_wishes = false")
    if not settings.netbox_write_nodes:
        text = f"netbox_wishes is on, {origin('netbox_wishes')}, and requests would get no answer"
        raise SettingsError(f"{text}; set netbox_write_nodes, too: it writes the answers into NetBox's journal")
    return PageIntentReader(
        store, url(settings), lambda: session(settings), partial(ring, settings.state_dir), store.clock
    )


@contextmanager
def taking(settings: Settings, store: Store) -> Iterator[None]:
    """Take requests for as long as it is open."""
    given, stop = taker(settings, store), Event()
    with hearing(settings.state_dir, REQUESTS) as bell:
        thread = Thread(target=_keep, args=(given, bell, stop), name="requests", daemon=True)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            bell.ring()
            thread.join(GRACE)
            with suppress(StoreError):  # whoever begins next waits for the end of the lease
                store.leave_tracker(NAME, given.holder)


def _keep(given: PageIntentReader, bell: Wakeup, stop: Event) -> None:
    rung = False
    while not stop.is_set():
        with errors_logged(stop, "requests in NetBox's pages wait"):
            given.visit(rung=rung)
        stop.wait(REST)
        rung = bell.wait(EVERY)
