"""The listener as a whole: its doors, the worker behind them, and its end."""

import asyncio
import ssl
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

import uvloop

from fleet_runner.adapters.plays.wakeup import REQUESTS, ring
from fleet_runner.adapters.store import Store
from fleet_runner.adapters.systemd import Systemd
from fleet_runner.core.base.errors import SettingsError
from fleet_runner.core.inventory.records import Fleet
from fleet_runner.reconcile.faults.policy import Policy
from fleet_runner.services.http.admission import Admission
from fleet_runner.services.http.listening import address_of, listener, more_files, placed, tls
from fleet_runner.services.http.servers import SecureServer, Server
from fleet_runner.services.http.shutdown import asked_to_end, told_of
from fleet_runner.services.signals.app import application
from fleet_runner.services.signals.counters import ALIVE_SECONDS, LISTENER, Counts
from fleet_runner.services.signals.inbox import Bounds, Inbox
from fleet_runner.services.signals.netbox import Hook
from fleet_runner.services.signals.push import Reception
from fleet_runner.services.signals.senders import Roll
from fleet_runner.services.signals.syslog import Senders, networks, receiving
from fleet_runner.services.signals.worker import Worker, WorkerContext
from fleet_runner.settings import Settings

Read = Callable[[], Fleet]
Told = Callable[[str], None]


def secured(settings: Settings) -> ssl.SSLContext | None:
    """Return what TLS is spoken with, None where none is; SettingsError where that may not be.

    Tokens are secrets: beyond this machine they go over TLS alone, unless `signals_plain` says otherwise.
    """
    at = placed(settings.signals_listen, "signals_listen")
    networks(settings.signals_syslog_from)
    networks(settings.signals_relays, "signals_relays")
    if settings.signals_syslog:
        placed(settings.signals_syslog, "signals_syslog")
    chain, key = settings.signals_certificate, settings.signals_certificate_key
    if (chain is None) is not (key is None):
        raise SettingsError("TLS needs both signals_certificate and signals_certificate_key; set the missing one")
    if chain is not None and key is not None:
        return tls(chain, key, "signals_certificate")
    if at.own or settings.signals_plain:
        return None
    raise SettingsError(
        f"setting 'signals_listen': {settings.signals_listen} is reached from other machines, and tokens would come"
        " in the clear; set signals_certificate and signals_certificate_key, or signals_plain = true"
    )


def hook(settings: Settings) -> Hook | None:
    """Return how NetBox's webhook is taken; None where no requests in its pages are."""
    if not settings.netbox_wishes or settings.netbox_webhook_secret is None:
        return None
    return Hook(settings.netbox_webhook_secret, partial(ring, settings.state_dir, REQUESTS))


class Listening:
    """One listener: `async with` its doors are open, until `stop` is set."""

    def __init__(self, settings: Settings, store: Store, read: Read, bounds: Bounds | None = None) -> None:
        self._settings = settings
        self._store = store
        self.inbox = Inbox(bounds)
        self.counts = Counts()
        self.roll = Roll(store, read, networks(settings.signals_relays, "signals_relays"))
        self.worker = Worker(
            WorkerContext(
                store,
                self.inbox,
                self.counts,
                self.roll,
                rules=partial(Policy().rules, settings),
                ring=partial(ring, settings.state_dir),
                clock=time.time,
            )
        )

    async def serve(self, stop: asyncio.Event, tell: Told) -> None:
        """Take signals until told to stop, and until what was taken is written."""
        await asyncio.to_thread(self.roll.refresh)
        admission = Admission(self._store.tokens, time.monotonic)
        reception = Reception(
            self.inbox, admission, self.counts, time.time, time.monotonic, trouble=lambda: self.worker.trouble
        )
        over = threading.Event()
        threads = [
            threading.Thread(target=self.worker.run, args=(over,), name="signals"),
            threading.Thread(target=self.roll.keep, args=(over,), name="roll"),
        ]
        for thread in threads:
            thread.start()
        try:
            async with AsyncExitStack() as doors:
                await doors.enter_async_context(self._syslog(tell))
                await self._http(reception, stop, tell)
        finally:
            self.inbox.close()
            over.set()
            self.roll.stranger.set()
            for thread in threads:
                await asyncio.to_thread(thread.join)

    @asynccontextmanager
    async def _syslog(self, tell: Told) -> AsyncIterator[None]:
        if not self._settings.signals_syslog:
            yield
            return
        senders = Senders(self.inbox, self.counts, networks(self._settings.signals_syslog_from), time.time)
        async with receiving(self._settings.signals_syslog, senders) as at:
            tell(f"signals: syslog at {at}, UDP and TCP, from {self._settings.signals_syslog_from}")
            yield

    async def _http(self, reception: Reception, stop: asyncio.Event, tell: Told) -> None:
        context = secured(self._settings)
        app = application(reception, hook(self._settings))
        with listener(self._settings.signals_listen, "signals_listen") as bound:
            server = SecureServer(app, context) if context is not None else Server(app)
            at = f"{'https' if context is not None else 'http'}://{address_of(bound)}"
            tell(f"signals: {at}")
            serving = asyncio.create_task(server.serve(sockets=[bound]))
            ends = [serving, asyncio.create_task(stop.wait()), asyncio.create_task(self._alive(at))]
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            server.should_exit = True
            for task in ends[1:]:
                task.cancel()
            await asyncio.gather(serving)

    async def _alive(self, at: str) -> None:
        """Say again and again that this listener lives, and how much waits."""
        while True:
            parcels, size = self.inbox.waiting()
            self.counts.add(LISTENER, at, time.time(), 1, f"{parcels} waiting, {size} bytes")
            await asyncio.sleep(ALIVE_SECONDS)


def run(settings: Settings, store: Store, read: Read, tell: Told) -> None:
    """Take signals until SIGINT or SIGTERM; `tell` takes sentences for whoever started it."""
    secured(settings)
    systemd = Systemd()

    async def until_signalled() -> None:
        stop = asked_to_end()
        async with told_of(systemd):
            await Listening(settings, store, read).serve(stop, tell)

    more_files()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(until_signalled())
    tell("signals: stopped; what was taken is in the store")
