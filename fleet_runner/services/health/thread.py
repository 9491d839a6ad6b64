"""The health pages in a thread beside the loop: a loop that hangs cannot keep them from saying so."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from threading import Thread

import uvloop

from fleet_runner.services.health.app import application
from fleet_runner.services.health.parts import Health
from fleet_runner.services.http.listening import address_of, listener
from fleet_runner.services.http.servers import Server


@contextmanager
def pages(listen: str, health: Health, tell: Callable[[str], None]) -> Iterator[None]:
    """Answer /healthz and /readyz for as long as it is open; SettingsError where nothing can listen there."""
    if not listen:
        yield
        return
    with listener(listen, "health_listen") as bound:
        server = Server(application(health, version("fleet-runner")))

        def serve() -> None:
            with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
                runner.run(server.serve(sockets=[bound]))

        thread = Thread(target=serve, name="health")
        tell(f"health: http://{address_of(bound)}/healthz and /readyz")
        thread.start()
        try:
            yield
        finally:
            server.should_exit = True
            thread.join()
