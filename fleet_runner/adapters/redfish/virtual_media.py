"""A medium that is inserted at a BMC by its address, seen to be connected, and ejected again; nobody else's is."""

import time
from collections.abc import Callable
from http import HTTPStatus
from urllib.parse import urljoin

from fleet_runner.adapters.redfish.exchange import Reply, words
from fleet_runner.adapters.redfish.resources import Body, Resources, refuses
from fleet_runner.adapters.redfish.wire import ROOT
from fleet_runner.core.base.errors import BmcError, BmcRefused
from fleet_runner.core.base.fields import shown
from fleet_runner.core.boot import virtual_media
from fleet_runner.core.firmware import makers, tasks
from fleet_runner.core.firmware.flash import TaskEnd
from fleet_runner.core.firmware.makers import Maker

LOOKS = 30
"""Looks at a slot until its medium counts as not connected: a BMC first asks the address for it."""

PAUSE = 1.0

WITHOUT = "boot its device type without boot_medium"

Pause = Callable[[float], None]


def possible(at: Resources, system: Body, address: str) -> None:
    """Make sure that a medium can be inserted, as long as nothing has been done.

    Raises:
        BmcError: there is no slot for it, or another medium is in one.
    """
    _slot(at, system, address)


def insert(at: Resources, system: Body, address: str, pause: Pause = time.sleep) -> None:
    """Insert a medium, and wait until it is connected; one that is so already stays as it is.

    Raises:
        BmcError: it cannot be, is refused, or does not come to be connected; then it is not left inserted.
    """
    uri = _slot(at, system, address)
    body = at.get(uri)
    if virtual_media.taken(body):
        if virtual_media.connected(body):
            return
        _eject(at, uri, address, pause)
        body = at.get(uri)
    reply = _insert(at, uri, body, address)
    why = _unconnected(at, uri, reply, pause)
    if why:
        _eject(at, uri, address, pause)
        raise BmcError(
            f"{at.wire.url} took {address} at {uri}, and does not connect it ({why}); see that the BMC reaches the"
            f" boot service, or {WITHOUT}"
        )


def eject(at: Resources, system: Body, address: str, pause: Pause = time.sleep) -> bool:
    """Eject our medium wherever it is; return whether it was anywhere.

    Raises:
        BmcError: it stays in.
    """
    found = [uri for uri, body in _slots(at, system).items() if _ours(body, address)]
    for uri in found:
        _eject(at, uri, address, pause)
    return bool(found)


def _ours(body: Body, address: str) -> bool:
    return virtual_media.taken(body) and virtual_media.ours(body, address)


def _slot(at: Resources, system: Body, address: str) -> str:
    found = virtual_media.choose(_slots(at, system), address, patched=_patched(at))
    if found.why:
        managers = at.links(system, "ManagedBy")
        off = virtual_media.switched_off((at.find(managers[0]) if managers else None) or {}, system)
        raise BmcError(f"{at.wire.url}: {off or found.why}, or {WITHOUT}")
    return found.slot


def _slots(at: Resources, system: Body) -> dict[str, Body]:
    """Return the slots of a system, the ones that it names itself before those of its BMC."""
    owners = [system, *(at.find(uri) or {} for uri in at.links(system, "ManagedBy"))]
    collections = dict.fromkeys(at.link(owner, "VirtualMedia") for owner in owners)
    return {uri: body for each in collections if each and at.find(each) for uri, body in at.all(each).items()}


def _patched(at: Resources) -> bool:
    return makers.maker(at.get(ROOT), {}) is Maker.LENOVO


def _insert(at: Resources, uri: str, slot: Body, address: str) -> Reply:
    """Ask for a medium, with as little as the BMC takes."""
    target = virtual_media.insertion(slot)
    if not target:
        return at.patch(uri, {"Image": address, "Inserted": True, "WriteProtected": True}, "the virtual medium")
    where, asked = at.wire.own(target), {"Image": address}
    reply = at.wire.ask("POST", where, asked)
    while refuses(reply) and (again := virtual_media.more(asked, str(reply.body))):
        asked = dict(again)
        reply = at.wire.ask("POST", where, asked)
    if refuses(reply) and virtual_media.unlicensed(str(reply.body)):
        raise BmcRefused(
            f"{at.wire.url} has no licence for virtual media ({words(reply.body)}); add one (iLO Advanced,"
            f" Supermicro SFT-DCMS-SINGLE), or {WITHOUT}"
        )
    return at.done(reply, f"the virtual medium {address}")


def _unconnected(at: Resources, uri: str, reply: Reply, pause: Pause) -> str:
    """Wait for a medium to be connected; say why it is not, "" where it is."""
    for look in range(LOOKS):
        if look:
            pause(PAUSE)
        at.wire.begin()
        if why := _failed(at, reply):
            return why
        if virtual_media.connected(at.get(uri)):
            return ""
    return f"after {LOOKS} looks ConnectedVia is {shown(at.get(uri).get('ConnectedVia'))}"


def _failed(at: Resources, reply: Reply) -> str:
    """Say why the task of an insertion failed; "" as long as it did not, or there is none."""
    if reply.status != HTTPStatus.ACCEPTED or not (named := reply.headers.get("Location")):
        return ""
    where = at.wire.own(urljoin(at.wire.url, named), anywhere=True)
    answer = at.wire.get(where)
    if answer.status == HTTPStatus.NOT_FOUND:
        return ""
    task = tasks.answered(where, answer.status, answer.body)
    return "; ".join(task.messages) or "its task failed" if task.state is TaskEnd.FAILED else ""


def _eject(at: Resources, uri: str, address: str, pause: Pause) -> None:
    """Eject our medium. Whatever the BMC answers to that, only what it shows afterwards counts."""
    slot = at.get(uri)
    if not _ours(slot, address):
        return
    target, what, said = virtual_media.ejection(slot), f"the ejection of {uri}", "nothing wrong"
    try:
        if target:
            at.done(at.wire.ask("POST", at.wire.own(target), {}), what)
        else:
            at.patch(uri, {"Image": None, "Inserted": False}, what)
    except BmcError as error:
        said = str(error)
    for look in range(LOOKS):
        if look:
            pause(PAUSE)
        at.wire.begin()
        if not _ours(at.get(uri), address):
            return
    raise BmcError(f"{at.wire.url}: {uri} was to be ejected, and still has {address} in it; eject it ({said})")
