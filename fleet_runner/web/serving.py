"""The web service in a thread beside a runner's loop, or alone in a process."""

import asyncio
import gc
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread

import uvloop

from fleet_runner.core.base.errors import SettingsError
from fleet_runner.services.http.listening import address_of, listener, more_files, placed, tls
from fleet_runner.services.http.servers import SecureServer, Server
from fleet_runner.settings import Settings
from fleet_runner.web.app import application
from fleet_runner.web.pages.oidc import configured
from fleet_runner.web.site import Site

PROXIED = 2_000
"""Connections of a proxy on this machine, which are those of all people; who holds many is limited behind it."""


def secured(settings: Settings) -> ssl.SSLContext | None:
    """Return what TLS is spoken with, None where none is; SettingsError where that may not be.

    Tokens and sessions are secrets: beyond this machine they go over TLS alone, or through a proxy that speaks it.
    """
    at = placed(settings.web_listen, "web_listen")
    chain, key = settings.web_certificate, settings.web_certificate_key
    if (chain is None) is not (key is None):
        raise SettingsError("TLS needs both web_certificate and web_certificate_key; set the missing one")
    if chain is not None and key is not None:
        return tls(chain, key, "web_certificate")
    if at.own:
        return None
    raise SettingsError(
        f"setting 'web_listen': {settings.web_listen} is reached from other machines, and tokens would come in the"
        " clear; set web_certificate and web_certificate_key, or listen at 127.0.0.1 behind a proxy that speaks TLS"
    )


@contextmanager
def pages(here: Site, tell: Callable[[str], None]) -> Iterator[str]:
    """Answer people and programs for as long as it is open; give where, as a URL."""
    context = secured(here.settings)
    more_files()
    with listener(here.settings.web_listen, "web_listen") as bound:
        app = application(here)
        gc.collect()
        gc.freeze()  # the fleet stays: it need not be looked through again and again
        proxied = here.settings.web_url.startswith("https://")
        server = Server(app, PROXIED if proxied else None) if context is None else SecureServer(app, context)

        def serve() -> None:
            with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
                runner.run(server.serve(sockets=[bound]))

        thread = Thread(target=serve, name="web")
        url = f"{'http' if context is None else 'https'}://{address_of(bound)}"
        tell(f"pages: {url}/")
        _say_half_a_provider(here.settings, tell)
        thread.start()
        try:
            yield url
        finally:
            here.stop.set()
            server.should_exit = True
            thread.join()
            gc.unfreeze()


def _say_half_a_provider(settings: Settings, tell: Callable[[str], None]) -> None:
    """Say at once, and not when somebody first tries, that nobody can log in with the provider; tokens go on."""
    try:
        if settings.oidc_issuer:
            configured(settings)
    except SettingsError as error:
        tell(f"pages: OpenID Connect logins do not work: {error}")
