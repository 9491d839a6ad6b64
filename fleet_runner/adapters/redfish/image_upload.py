"""One image to a BMC: which way it goes, what goes with it, and the request itself, which is made once."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urljoin

from fleet_runner.adapters.redfish import lifecycle_controller, streamed_post
from fleet_runner.adapters.redfish.exchange import MOST_REDIRECTS, Reply
from fleet_runner.adapters.redfish.resources import Body, Resources
from fleet_runner.core.base.errors import BmcError, BmcRefused
from fleet_runner.core.firmware.catalogue import Transport

SIMPLE = "UpdateService.SimpleUpdate"
APPLY = "@Redfish.OperationApplyTime"
AT_ONCE = "Immediate"
ON_RESET = "OnReset"
"""What Dell is told: at once, it would restart the host by itself as soon as it has the image."""

MUST_SAY_WHEN = ("Supermicro",)
"""Vendors whose updates may wait for another request where nothing says that they are to begin at once."""

KEEP_METHOD = frozenset({307, 308})
"""Answers after which the same request is sent elsewhere; other redirects make a read of it, and are refused."""

HPE_FORM = "/cgi-bin/uploadFile"
"""Where HPE's iLO takes a form of its own, with the session's token in it and in a cookie."""

HPE_PARAMETERS = {"UpdateRepository": False, "UpdateTarget": True, "ETag": "fleet-runner", "Section": 0}
"""What that form says beside the image."""


@dataclass(frozen=True, slots=True)
class Offer:
    """How a BMC takes images: the URI of each way, "" where it has none.

    `targets_allowed` are what it says that SimpleUpdate may name (some are patterns; nothing where it does not say),
    `most_bytes` the largest image, None where it does not say.
    """

    multipart: str = ""
    push: str = ""
    simple: str = ""
    targets_allowed: tuple[str, ...] = ()
    most_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Upload:
    """One image for one request.

    `targets` are the URIs that it is for, none where the BMC is to find out. `url` is where the BMC fetches the image
    itself, for SimpleUpdate alone. `on_progress` gets the bytes that are sent and those there are; `alive` is called
    before each piece and while the BMC is waited for, and may raise to cut the connection. `seconds` is the longest
    that it may take. A file of another `sha256`, if one is given, never gets there whole. `oem_parameters` are a part
    of their own in a multipart form, as AMI's BMCs want it.
    """

    path: Path
    transport: Transport = Transport.AUTO
    targets: tuple[str, ...] = ()
    force: bool = False
    url: str = ""
    on_progress: Callable[[int, int], None] = lambda _sent, _all: None
    alive: Callable[[], None] = lambda: None
    seconds: float = 900.0
    sha256: str = ""
    oem_parameters: Mapping[str, object] = field(default_factory=dict)


class Request(NamedTuple):
    """What is sent to a BMC, or would be. In a form the image stands by its name; a bare one is the whole body."""

    method: str
    uri: str
    body: Body | str


def offer(at: Resources, service: Body) -> Offer:
    """Return how a BMC's UpdateService takes images."""
    simple = at.actions(service).get(SIMPLE)
    most = service.get("MaxImageSizeBytes")
    return Offer(
        multipart=_own(at, service.get("MultipartHttpPushUri")),
        push=_own(at, service.get("HttpPushUri")),
        simple=simple.target if simple else "",
        targets_allowed=tuple(at.allowed(simple.body, "Targets")) if simple else (),
        most_bytes=most if isinstance(most, int) and not isinstance(most, bool) and most > 0 else None,
    )


def way(url: str, offered: Offer, wanted: Upload) -> tuple[Transport, str]:
    """Return the way that an image goes, and where to.

    Raises:
        BmcError: the BMC does not take it so, or not one of its size.
    """
    ways = {
        Transport.MULTIPART: offered.multipart,
        Transport.PUSH: offered.push,
        Transport.SIMPLE: offered.simple if wanted.url else "",
    }
    chosen = wanted.transport
    if chosen is Transport.AUTO:
        chosen = next((each for each, uri in ways.items() if uri), Transport.MULTIPART)
    if not ways[chosen]:
        can = ", ".join(each for each, uri in ways.items() if uri) or "none that can be used"
        needs = "; for simple, set firmware_url" if offered.simple and not wanted.url else ""
        raise BmcError(f"{url} takes no image by {chosen}; it offers: {can}{needs}")
    size = wanted.path.stat().st_size if chosen is not Transport.SIMPLE and wanted.path.is_file() else 0
    if offered.most_bytes is not None and size > offered.most_bytes:
        raise BmcError(f"{wanted.path} has {size} bytes; {url} takes {offered.most_bytes} at most")
    return chosen, ways[chosen]


def requests(at: Resources, way: Transport, uri: str, service: Body, wanted: Upload) -> tuple[Request, ...]:
    """Return what would be sent for an image, in order; the same that `WAYS` sends."""
    file = wanted.path.name
    if way is not Transport.SIMPLE and uri.endswith(HPE_FORM):
        return (Request("POST", uri, {"sessionKey": "…", "parameters": dict(HPE_PARAMETERS), "file": file}),)
    if way is Transport.MULTIPART:
        return (Request("POST", uri, {**_parts(service, wanted), "UpdateFile": file}),)
    if way is Transport.SIMPLE:
        return (Request("POST", uri, _fetched(at, service, wanted)),)
    change = _announced(service, wanted)
    first = (Request("PATCH", str(at.service("UpdateService")), change),) if change else ()
    return (*first, Request("POST", uri, file))


def multipart(at: Resources, uri: str, service: Body, wanted: Upload) -> Reply:
    """Send the image with its parameters (DSP0266, multipart HTTP push)."""
    if uri.endswith(HPE_FORM):
        return _hpe(at, uri, wanted)
    return _post(at, uri, streamed_post.multipart(wanted.path, _parts(service, wanted)), wanted)


def push(at: Resources, uri: str, service: Body, wanted: Upload) -> Reply:
    """Send the bare image; what it is for, and if by force, is a property of the service before."""
    if uri.endswith(HPE_FORM):
        return _hpe(at, uri, wanted)
    if change := _announced(service, wanted):
        wanted.alive()
        try:
            at.patch(str(at.service("UpdateService")), change, "what the next image is for")
        except BmcError as error:
            raise BmcRefused(f"nothing was sent: {error}") from error
    return _post(at, uri, streamed_post.bare(wanted.path), wanted)


def simple(at: Resources, uri: str, service: Body, wanted: Upload) -> Reply:
    """Have the BMC fetch the image."""
    asked = _fetched(at, service, wanted)
    wanted.alive()  # after the last read, which may have taken long
    return at.wire.ask_once("POST", uri, asked)


WAYS = {Transport.MULTIPART: multipart, Transport.PUSH: push, Transport.SIMPLE: simple}


def _hpe(at: Resources, uri: str, wanted: Upload) -> Reply:
    """Send the image as HPE's own page does; iLO finds out by itself what it is for."""
    token = at.wire.headers().get("X-Auth-Token")
    if token is None:
        raise BmcRefused(f"nothing was sent: {at.wire.url} takes images at {uri} only in a session, and opens none")
    form = streamed_post.multipart(wanted.path, {"sessionKey": token, "parameters": HPE_PARAMETERS}, "file")
    return _post(at, uri, form, wanted, {"Cookie": f"sessionKey={token}"})


def _post(
    at: Resources, uri: str, form: streamed_post.Form, wanted: Upload, more: Mapping[str, str] | None = None
) -> Reply:
    """Send a form, and once more where the BMC has it elsewhere: it has not taken what it answers so (RFC 9110)."""
    until = time.monotonic() + wanted.seconds  # of all together
    checked = replace(form, sha256=wanted.sha256)
    for _ in range(MOST_REDIRECTS + 1):
        watch = streamed_post.UploadMonitor(wanted.alive, wanted.on_progress, until - time.monotonic())
        reply = streamed_post.post(at.wire.exchange, uri, checked, {**at.wire.headers(), **(more or {})}, watch)
        at.wire.begin()  # the image had a time limit of its own
        if reply.status not in KEEP_METHOD:
            return reply
        try:
            uri = at.wire.own(urljoin(at.wire.url + uri, reply.headers.get("Location", "")), anywhere=True)
        except BmcError as error:
            raise BmcRefused(f"{error}; nothing was accepted: check where the BMC accepts images") from error
    raise BmcRefused(f"{at.wire.url} points an image on more than {MOST_REDIRECTS} times; look at the BMC")


def _parts(service: Body, wanted: Upload) -> dict[str, Body]:
    """Return what goes with the image in one form, part by part."""
    said = service.get(f"MultipartHttpPushUri{APPLY}Support")
    if said is None and lifecycle_controller.updates_by_dell(service):
        said = {"SupportedValues": [ON_RESET]}  # Dell's form takes it, and does not say so
    asked = {"UpdateParameters": {**_parameters(wanted), **_when(service, said)}}
    return {**asked, "OemParameters": dict(wanted.oem_parameters)} if wanted.oem_parameters else asked


def _announced(service: Body, wanted: Upload) -> Body:
    """Return what the service must be told before a bare image; nothing where it needs nothing."""
    change: Body = {}
    if wanted.targets and "HttpPushUriTargets" in service:
        change["HttpPushUriTargets"] = list(wanted.targets)
    options = service.get("HttpPushUriOptions")
    if isinstance(options, Mapping) and "ForceUpdate" in options and options["ForceUpdate"] is not wanted.force:
        change["HttpPushUriOptions"] = {"ForceUpdate": wanted.force}
    return change


def _fetched(at: Resources, service: Body, wanted: Upload) -> Body:
    """Return what tells a BMC where it fetches the image."""
    action = at.actions(service)[SIMPLE].body
    body = {"ImageURI": wanted.url, **_parameters(wanted), **_when(service, action.get(f"{APPLY}Support"))}
    allowed = at.allowed(action, "TransferProtocol")
    scheme = wanted.url.partition(":")[0].upper()
    if not allowed or scheme in allowed:
        body["TransferProtocol"] = scheme
    return body


def _parameters(wanted: Upload) -> Body:
    targets: Body = {"Targets": list(wanted.targets)} if wanted.targets else {}
    return {**targets, **({"ForceUpdate": True} if wanted.force else {})}


def _when(service: Body, said: object) -> Body:
    """Return when the update is to begin, where the BMC can be told, or must."""
    values = said.get("SupportedValues") if isinstance(said, Mapping) else None
    if lifecycle_controller.updates_by_dell(service):
        return {APPLY: ON_RESET} if isinstance(values, list) and ON_RESET in values else {}
    oem = service.get("Oem")
    must = isinstance(oem, Mapping) and any(vendor in oem for vendor in MUST_SAY_WHEN)
    return {APPLY: AT_ONCE} if must or (isinstance(values, list) and AT_ONCE in values) else {}


def _own(at: Resources, found: object) -> str:
    return at.wire.own(found, anywhere=True) if isinstance(found, str) and found else ""
