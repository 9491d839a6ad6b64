"""What DHCP servers tell of their leases: POST /dhcp, with the token that they share with the boot service."""

import hmac
import json
from typing import Any

from fleet_runner.core.boot.boots import Heartbeat, Identity, Leased, Milestone
from fleet_runner.core.inventory.addresses import ip, mac
from fleet_runner.services.boot.answers import BootContext, log
from fleet_runner.services.http.requests import Answer, Request, Unanswerable

MOST_BODY = 4 * 1024

MOST_ADDRESSES = 8
"""Addresses that one boot may be leased: firmware, iPXE and the system each ask, some for two families."""

BEARER = b"Bearer "


def trusted(desk: BootContext, request: Request) -> bool:
    """Whether a request has the token of DHCP servers."""
    told = request.header(b"authorization")
    return bool(desk.dhcp_token) and hmac.compare_digest(told, BEARER + desk.dhcp_token)


async def lease(desk: BootContext, request: Request) -> Answer:
    """Take a lease: the boot of the node with this MAC address has an address, and a DHCP server lives."""
    if not trusted(desk, request):
        if desk.fresh("", "dhcp", request.source):
            log.warning("refused", code="dhcp", why="a lease was reported without the token", source=request.source)
        raise Unanswerable(401, "expected the bearer token of boot_dhcp_token")
    event, hardware, address = _read(await request.body(MOST_BODY))
    desk.ledger.note(Heartbeat("dhcp", desk.clock()))
    if event == "lease":
        await _leased(desk, hardware, address)
    return Answer(200, b"")


async def _leased(desk: BootContext, hardware: str, address: str) -> None:
    found, now = desk.who(Identity(frozenset({hardware}))), desk.clock()
    boot = await desk.ledger.boot_of(found, now) if isinstance(found, str) else None
    if boot is None:
        return
    session = desk.sessions.of(boot)
    known = session.leased | boot.leased
    if address in known or len(known) >= MOST_ADDRESSES:
        return
    session.leased |= {address}
    if known:
        desk.ledger.note(Leased(boot.id, now, address))
    else:
        desk.reached(session, Milestone.DHCP, address)


def _read(body: bytes) -> tuple[str, str, str]:
    """Return event, MAC address and address of what a DHCP server tells, or raise Unanswerable."""
    try:
        told: Any = json.loads(body)
    except ValueError:
        told = None
    if not isinstance(told, dict):
        raise Unanswerable(400, "expected a JSON object with event, mac and address")
    event, hardware, address = (told.get(name) for name in ("event", "mac", "address"))
    found = (mac(str(hardware)), ip(str(address)))
    if not isinstance(event, str) or found[0] is None or found[1] is None:
        raise Unanswerable(400, "expected event, mac and address, such as lease, 02:00:00:00:00:01 and 10.0.0.5")
    return event, found[0], found[1]
