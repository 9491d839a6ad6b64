"""One image to a BMC: which way it goes, what goes with it, and the request itself, which is made once."""

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urljoin

from fleet_runner.adapters.redfish import streamed_post
from fleet_runner.adapters.redfish.exchange import MOST_REDIRECTS, Reply
from fleet_runner.adapters.redfish.resources import Body, Resources
from fleet_runner.adapters.redfish.wire import DONE, ROOT
from fleet_runner.core.base.errors import BmcError, BmcRefused
from fleet_runner.core.base.printable import printable
from fleet_runner.core.firmware import makers, push_settings, supermicro_update, upload_answer
from fleet_runner.core.firmware.catalogue import Transport
from fleet_runner.core.firmware.makers import Maker
from fleet_runner.core.firmware.unsupported import ways

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
    `most_bytes` the largest image, None where it does not say. `maker` is whose BMC it is.
    """

    multipart: str = ""
    push: str = ""
    simple: str = ""
    targets_allowed: tuple[str, ...] = ()
    most_bytes: int | None = None
    maker: Maker = Maker.UNKNOWN


@dataclass(frozen=True, slots=True)
class Upload:
    """One image for one request.

    `targets` are the URIs that it is for, none where the BMC is to find out. `url` is where the BMC fetches the image
    itself, for SimpleUpdate alone. `on_progress` gets the bytes that are sent and those there are; `alive` is called
    before each piece and while the BMC is waited for, and may raise to cut the connection. `seconds` is the longest
    that it may take. A file of another `sha256`, if one is given, never gets there whole. `oem_parameters` are a part
    of their own in a multipart form, as AMI's BMCs want it, or where the BMC's maker wants them.
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
        maker=maker(at, service),
    )


def maker(at: Resources, service: Body) -> Maker:
    """Return whose BMC it is."""
    return makers.maker(at.get(ROOT), service)


def way(url: str, offered: Offer, wanted: Upload) -> tuple[Transport, str]:
    """Return the way that an image goes, and where to.

    Raises:
        BmcError: the BMC does not take it so, or not one of its size.
    """
    uris = {**_uris(offered), **({} if wanted.url else {Transport.SIMPLE: ""})}
    open_to = ways(wanted.transport, wanted.path.name)
    chosen = next((each for each in open_to if uris[each]), open_to[0])
    if not uris[chosen]:
        can = ", ".join(each for each, uri in uris.items() if uri) or "none that can be used"
        needs = "; for simple, set firmware_url" if offered.simple and not wanted.url else ""
        raise BmcError(f"{url} takes no image by {chosen}; it offers: {can}{needs}")
    size = wanted.path.stat().st_size if chosen is not Transport.SIMPLE and wanted.path.is_file() else 0
    if offered.most_bytes is not None and size > offered.most_bytes:
        raise BmcError(f"{wanted.path} has {size} bytes; {url} takes {offered.most_bytes} at most")
    return chosen, uris[chosen]


def requests(at: Resources, way: Transport, offered: Offer, service: Body, wanted: Upload) -> tuple[Request, ...]:
    """Return what would be sent for an image, in order; the same that `WAYS` sends."""
    file, uri = wanted.path.name, _uris(offered)[way]
    if way is not Transport.SIMPLE and uri.endswith(HPE_FORM):
        return (Request("POST", uri, {"sessionKey": "…", "parameters": dict(HPE_PARAMETERS), "file": file}),)
    if way is Transport.MULTIPART:
        return (Request("POST", uri, {**_parts(at, offered.maker, service, wanted), "UpdateFile": file}),)
    if way is Transport.SIMPLE:
        return (Request("POST", uri, _fetched(at, offered.maker, service, wanted)),)
    change = _announced(at, service, wanted)
    first = (Request("PATCH", str(at.service("UpdateService")), change),) if change else ()
    return (*first, Request("POST", uri, file))


def multipart(at: Resources, offered: Offer, service: Body, wanted: Upload) -> Reply:
    """Send the image with its parameters (DSP0266, multipart HTTP push)."""
    uri = offered.multipart
    if uri.endswith(HPE_FORM):
        return _hpe(at, uri, wanted)
    with _unsent():
        parts = _parts(at, offered.maker, service, wanted)
    return _post(at, uri, streamed_post.multipart(wanted.path, parts), wanted)


def push(at: Resources, offered: Offer, service: Body, wanted: Upload) -> Reply:
    """Send the bare image; what it is for, and if by force, is a property of the service before."""
    uri = offered.push
    if uri.endswith(HPE_FORM):
        return _hpe(at, uri, wanted)
    with _unsent():
        if change := _announced(at, service, wanted):
            wanted.alive()
            _announce(at, str(at.service("UpdateService")), change)
    return _post(at, uri, streamed_post.bare(wanted.path), wanted)


def simple(at: Resources, offered: Offer, service: Body, wanted: Upload) -> Reply:
    """Have the BMC fetch the image."""
    with _unsent():
        asked = _fetched(at, offered.maker, service, wanted)
    wanted.alive()  # after the last read, which may have taken long
    return _certain(at, at.wire.ask_once("POST", offered.simple, asked))


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
            return _certain(at, reply)
        try:
            uri = at.wire.own(urljoin(at.wire.url + uri, reply.headers.get("Location", "")), anywhere=True)
        except BmcError as error:
            raise BmcRefused(f"{error}; nothing was accepted: check where the BMC accepts images") from error
    raise BmcRefused(f"{at.wire.url} points an image on more than {MOST_REDIRECTS} times; look at the BMC")


def _certain(at: Resources, reply: Reply) -> Reply:
    """Return an answer, unless it says in one that the BMC took the image and that it did not."""
    tells = reply.status in DONE and "Location" not in reply.headers  # one that names the task took it
    wrong = upload_answer.contradicted(reply.body or {}) if tells else ""
    if wrong:
        raise BmcError(
            f"{at.wire.url} answered {reply.status} to the image, and in its text an error: {printable(wrong)[:300]};"
            " whether it took the image is unknown; look at its tasks and its inventory"
        )
    return reply


def _parts(at: Resources, whose: Maker, service: Body, wanted: Upload) -> dict[str, Body]:
    """Return what goes with the image in one form, part by part."""
    said = service.get(f"MultipartHttpPushUri{APPLY}Support")
    if said is None and whose is Maker.DELL:
        said = {"SupportedValues": [ON_RESET]}  # Dell's form takes it, and does not say so
    when = _when(whose, service, said)
    oem = dict(wanted.oem_parameters)
    if whose is Maker.SUPERMICRO:
        when = {APPLY: AT_ONCE}
        told = supermicro_update.told(_named(at, wanted.targets), oem)
        if told.oem:
            targets: Body = {"Targets": list(told.targets)} if told.targets else {}
            return {"UpdateParameters": {**_parameters(wanted), **targets, **when, "Oem": told.oem}}
    asked = {"UpdateParameters": {**_parameters(wanted), **when}}
    return {**asked, "OemParameters": oem} if oem else asked


def _named(at: Resources, targets: Sequence[str]) -> dict[str, Body]:
    """Return the firmware of a BMC or BIOS as it is listed, by URI; of anything else nothing has to be read."""
    listed = {uri: "/FirmwareInventory/" in uri and bool(supermicro_update.kind(uri)) for uri in targets}
    return {uri: at.get(at.wire.own(uri)) if reads else {} for uri, reads in listed.items()}


def _announced(at: Resources, service: Body, wanted: Upload) -> Body:
    """Return what the service must be told before a bare image; nothing where it needs nothing."""
    if service.get(push_settings.BUSY) is True:
        raise BmcRefused(
            f"another client of {at.wire.url} has reserved its HttpPushUriTargets: look for a tool of the maker's or"
            " a person that sends it images, and wait for the end of that; if nobody does, set HttpPushUriTargetsBusy"
            " to false"
        )
    return push_settings.announced(service, wanted.targets, force=wanted.force)


def _announce(at: Resources, settings: str, change: Body) -> None:
    """Tell the service what the next image is for, and read whether it will do so: it may have said yes alone."""
    at.patch(settings, change, "what the next image is for")
    lost = push_settings.ignored(at.get(settings), change) and push_settings.ignored(at.get(settings), change)
    if lost:
        raise BmcRefused(f"{at.wire.url} {lost}")


@contextlib.contextmanager
def _unsent() -> Iterator[None]:
    """Say of whatever goes wrong before the image that nothing was sent."""
    try:
        yield
    except BmcError as error:
        raise BmcRefused(f"nothing was sent: {error}") from error


def _fetched(at: Resources, whose: Maker, service: Body, wanted: Upload) -> Body:
    """Return what tells a BMC where it fetches the image."""
    action = at.actions(service)[SIMPLE].body
    dpu = any(map(makers.is_dpu_os, wanted.targets))
    if dpu:
        _rshim(at)
    url = wanted.url.partition("://")[2] if dpu else wanted.url  # a BlueField's wants host and path alone
    body = {"ImageURI": url, **_parameters(wanted), **_when(whose, service, action.get(f"{APPLY}Support"))}
    allowed = at.allowed(action, "TransferProtocol")
    scheme = wanted.url.partition(":")[0].upper()
    if dpu and allowed and scheme not in allowed:
        said = printable(", ".join(allowed))[:200]
        raise BmcRefused(f"{at.wire.url} fetches a BFB by {said}, not {scheme}; set a firmware_url that it can fetch")
    if not allowed or scheme in allowed:
        body["TransferProtocol"] = scheme
    return body


def _rshim(at: Resources) -> None:
    """Raise BmcRefused where a BlueField's BMC says that it has no rshim, over which it installs a BFB."""
    said: list[object] = []
    with contextlib.suppress(BmcError):  # older ones have none of it, and install all the same
        managers = at.service("Managers")
        for manager in at.members(managers) if managers else ():
            where = at.link(at.find(manager), "Oem", "Nvidia")
            shim = (at.find(where) or {}).get("BmcRShim")
            said.append(shim.get("BmcRShimEnabled") if isinstance(shim, Mapping) else None)
    if False in said:
        raise BmcRefused(
            f"{at.wire.url} has no rshim (BmcRShimEnabled is false); stop rshim on the host, and switch the BMC's on,"
            f" or use {makers.TOOLS[Maker.BLUEFIELD]}"
        )


def _parameters(wanted: Upload) -> Body:
    targets: Body = {"Targets": list(wanted.targets)} if wanted.targets else {}
    return {**targets, **({"ForceUpdate": True} if wanted.force else {})}


def _when(whose: Maker, service: Body, said: object) -> Body:
    """Return when the update is to begin, where the BMC can be told, or must."""
    values = said.get("SupportedValues") if isinstance(said, Mapping) else None
    if whose is Maker.DELL:
        return {APPLY: ON_RESET} if isinstance(values, list) and ON_RESET in values else {}
    oem = service.get("Oem")
    must = isinstance(oem, Mapping) and any(vendor in oem for vendor in MUST_SAY_WHEN)
    return {APPLY: AT_ONCE} if must or (isinstance(values, list) and AT_ONCE in values) else {}


def _uris(offered: Offer) -> dict[Transport, str]:
    return {Transport.MULTIPART: offered.multipart, Transport.PUSH: offered.push, Transport.SIMPLE: offered.simple}


def _own(at: Resources, found: object) -> str:
    return at.wire.own(found, anywhere=True) if isinstance(found, str) and found else ""
