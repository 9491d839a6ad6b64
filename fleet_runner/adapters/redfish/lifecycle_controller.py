"""Dell's iDRAC: whether its Lifecycle Controller takes jobs now, where its jobs stay, and when they begin."""

import re
from collections.abc import Mapping
from http import HTTPStatus

from fleet_runner.adapters.redfish.resources import Body, Resources
from fleet_runner.adapters.redfish.wire import ROOT
from fleet_runner.core.base.printable import printable
from fleet_runner.core.firmware import makers
from fleet_runner.core.firmware.makers import Maker

VENDOR = "Dell"
ASK = "DellLCService.GetRemoteServicesAPIStatus"
READY = "Ready"

SAYS_NOTHING = frozenset(
    {HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED, HTTPStatus.NOT_IMPLEMENTED}
)
"""Answers of an iDRAC that does not tell, or not this account: its updates tell whether they are refused."""

HANDS = {
    "Disabled": "enable it in the iDRAC's settings",
    "Recovery": "repair it in the iDRAC's settings",
}
"""States that no wait ends, and what a person is to do."""

MOST_LETTERS = 40

_JOB = re.compile(r"[JR]ID_\d+")


def unready(at: Resources) -> str:
    """Say why a BMC's Lifecycle Controller takes no job now; "" where it does, or the BMC has none.

    For minutes after a restart of either it refuses every update, and while a person is in it.

    Raises:
        BmcError: the BMC does not answer, or answers that it failed.
    """
    if makers.maker(at.get(ROOT), {}) is not Maker.DELL:
        return ""
    managers = at.service("Managers")
    for uri in at.members(managers) if managers else ():
        under = at.get(uri).get("Links")
        lcs = at.find(at.link(under if isinstance(under, Mapping) else None, "Oem", VENDOR, "DellLCService"))
        if (action := at.actions(lcs).get(ASK)) is not None:
            reply = at.wire.ask("POST", action.target, {})
            return "" if reply.status in SAYS_NOTHING else _told(at.done(reply, action.name).body or {})
    return ""


def _told(said: Body) -> str:
    state = said.get("LCStatus")
    if state is None or state == READY:
        return ""
    shown = printable(str(state)[:MOST_LETTERS])
    return f"its Lifecycle Controller is {shown}{f': {HANDS[shown]}' if shown in HANDS else ', and is asked again'}"


def listed(uri: str, collection: str | None) -> str:
    """Return a job of Dell's as the collection of tasks names it, whichever of its addresses an answer gave."""
    job = uri.rstrip("/").rpartition("/")[2]
    return f"{collection.rstrip('/')}/{job}" if collection and _JOB.fullmatch(job) else uri


def kept(at: Resources, uri: str) -> str | None:
    """Return where a task's job stays; its own address is gone seconds after its end. None where it has none."""
    job = uri.rstrip("/").rpartition("/")[2]
    if not _JOB.fullmatch(job):
        return None
    jobs = at.link(at.find(at.service("JobService")), "Jobs")
    return f"{jobs.rstrip('/')}/{job}" if jobs else None
