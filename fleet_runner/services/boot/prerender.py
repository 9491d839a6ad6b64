"""What a node will ask for is made while it starts: from its arming to its first request it takes many seconds."""

import asyncio
import contextlib

from fleet_runner.core.base.errors import FleetError
from fleet_runner.core.boot.boots import Boot, Milestone
from fleet_runner.services.boot import ipxe
from fleet_runner.services.boot.answers import BootContext
from fleet_runner.services.boot.documents import PLAIN
from fleet_runner.services.boot.sessions import Origin

PAUSE_SECONDS = 0.5
"""Between two looks at the open boots: as often as the ledger looks for new ones."""

SLICE_SECONDS = 0.001
"""The longest it works before requests have their turn, for as long again."""

MOST_MACS = 4
"""A node that may ask with more MAC addresses is not prepared: for each of them it is told another network."""


async def prepare(desk: BootContext, pause: float = PAUSE_SECONDS) -> None:
    """Make scripts and documents of armed boots, and again when what they rest on changes, until cancelled.

    This decides nothing: who asks is judged as ever, and what has changed since is made anew. Secrets are not made.
    """
    loop = asyncio.get_running_loop()
    while True:
        await asyncio.sleep(pause)
        until = loop.time() + SLICE_SECONDS
        with contextlib.suppress(FleetError):  # who asks is told what is wrong
            origin = desk.origin()
            for boot in tuple(desk.ledger.open.values()):
                if Milestone.SCRIPT in boot.reached:
                    continue
                await _prepared(desk, boot, origin)
                if loop.time() > until:
                    await asyncio.sleep(SLICE_SECONDS)
                    until = loop.time() + SLICE_SECONDS


async def _prepared(desk: BootContext, boot: Boot, origin: Origin) -> None:
    """Make what one boot is going to ask for, unless that was tried before from the same origin."""
    if len(boot.expected.macs) > MOST_MACS:
        return
    session = desk.sessions.of(boot)
    for mac in boot.expected.macs:
        made = session.made.get(mac)
        if made is None or made.origin != origin:
            with contextlib.suppress(FleetError):
                made = desk.made_now(boot, session, mac)
                await ipxe.booting(desk, boot, session.key, made)
                for document in PLAIN:
                    desk.document(document, made)
