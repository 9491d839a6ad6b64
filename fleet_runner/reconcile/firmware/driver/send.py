"""Sends the image of a flash that is written down, once, and writes down what came back."""

import time
from collections.abc import Callable
from dataclasses import replace

from fleet_runner.adapters.files import firmware_images, firmware_urls
from fleet_runner.adapters.redfish.updates import Offer, Upload
from fleet_runner.core.base.errors import BmcError, BmcRefused, ImageError
from fleet_runner.core.firmware import unsupported
from fleet_runner.core.firmware.catalogue import Transport
from fleet_runner.core.firmware.flash import Flash, Phase
from fleet_runner.core.firmware.planner import Step
from fleet_runner.core.firmware.progress_text import versions
from fleet_runner.reconcile.firmware.driver.lease import steady
from fleet_runner.reconcile.firmware.driver.visit import Unsent, Visit

Progress = Callable[[int, int], None]
"""Takes the bytes that are sent, and those there are."""


def _untold(_sent: int, _size: int) -> None:
    pass


def _at_ease() -> None:
    pass


def check(visit: Visit, step: Step) -> tuple[Transport, str]:
    """Hold the step's image against what catalogue, inventory and BMC say of it; return how and where it would go.

    Raises:
        ImageError: nothing may be sent.
        BmcError: the BMC does not say how it takes images.
    """
    named = {name: version for name, version in step.targets.items() if name not in step.along}
    software = {name: entry.software_id for name, entry in visit.looks.entries.items() if name in named}
    folder = visit.means.images
    # Without a lease nothing follows that somebody else could do as well.
    firmware_images.check(folder, step.image, named, software, visit.alive if visit.lease else _at_ease)
    offer = visit.looks.updates.offer()
    size = firmware_images.locate(folder, step.image.file).stat().st_size
    if offer.most_bytes is not None and size > offer.most_bytes:
        raise ImageError(f"{step.image.file} has {size} bytes, and the BMC takes at most {offer.most_bytes}")
    way, uri = _way(offer, step, visit.means.url)
    if why := unsupported.refusal(offer.maker, step.image.file, step.uris, way):
        raise ImageError(why)
    if way is Transport.SIMPLE:
        fetched = upload(visit, step)
        firmware_urls.check(fetched.url, step.image.sha256, size, visit.alive if visit.lease else _at_ease)
    return way, uri


def send(visit: Visit, flash: Flash, step: Step) -> None:
    """Send the image of an open flash; its driver alone may do so, and only while it has the lease.

    Whatever goes wrong leaves the flash as it is. What surely was not taken is remembered, and sent again later by
    this driver; of anything else only the BMC can tell.
    """
    what = f"{flash.component} {versions(flash.before, flash.targets)}"

    def progress(sent: int, size: int) -> None:
        visit.say(f"{what}: sending {flash.image}, {100 * sent // max(size, 1)} %")

    try:
        check(visit, step)
        visit.confirm()
        task = visit.looks.updates.send(upload(visit, step, progress))
    except (BmcRefused, ImageError) as error:
        tries = visit.unsent.tries if visit.unsent and visit.unsent.flash == flash.id else 0
        visit.unsent = Unsent(flash.id, tries + 1, str(error))
        visit.say(f"{what}: not sent: {error}")
    except BmcError as error:
        visit.unsent = None
        visit.say(f"{what}: whether the BMC took {flash.image} is not known yet: {error}")
    else:
        noted = replace(flash, phase=Phase.SENT, task=task, sent_at=steady())
        visit.write(lambda store: store.note_flash(noted, visit.target.holder, now=time.time()))


def upload(visit: Visit, step: Step, progress: Progress = _untold) -> Upload:
    """Return the image of a step as it goes to the BMC."""
    url = visit.means.url
    return Upload(
        path=visit.means.images / step.image.file,
        transport=step.transport,
        targets=step.uris,
        force=step.image.force,
        url=f"{url.rstrip('/')}/{step.image.file}" if url else "",
        on_progress=progress,
        alive=visit.alive,
        seconds=visit.means.pace.send,
        sha256=step.image.sha256,
        oem_parameters=dict(step.oem_parameters),
    )


def _way(offer: Offer, step: Step, url: str) -> tuple[Transport, str]:
    ways = {
        Transport.MULTIPART: offer.multipart,
        Transport.PUSH: offer.push,
        Transport.SIMPLE: offer.simple if url else "",
    }
    wanted = unsupported.ways(step.transport, step.image.file)
    for way in wanted:
        if ways[way]:
            return way, ways[way]
    needs = "; set firmware_url, where the BMC may fetch it" if offer.simple and not url else ""
    raise ImageError(f"the BMC takes no image by {' or '.join(wanted)}, so {step.image.file} cannot be sent{needs}")
