"""What machines get that boot over the network: the first script, and their own."""

import structlog

from fleet_runner.core.base.errors import FleetError, ImageError
from fleet_runner.core.base.printable import printable
from fleet_runner.core.boot import answers, ipxe
from fleet_runner.core.boot.answers import CONSOLE, Denied
from fleet_runner.core.boot.arguments import elsewhere
from fleet_runner.core.boot.boots import Boot, Discovered, Identity, Milestone, Reached
from fleet_runner.core.boot.form import fields
from fleet_runner.core.boot.identity import Doubt, serial, uuid
from fleet_runner.core.inventory.addresses import mac
from fleet_runner.services.boot.answers import BootContext
from fleet_runner.services.boot.sessions import Made, Session
from fleet_runner.services.http.requests import Answer, Request, Unanswerable

log = structlog.get_logger()

LONGEST = 128
"""Characters of what a machine says of itself that are kept."""

TRIES = 3
"""Times that a script is judged: more than one only where something happens to its boot in between."""


async def first(desk: BootContext, request: Request) -> Answer:
    """Return the script that every machine gets."""
    del request
    return Answer(200, ipxe.first(desk.url))


async def script(desk: BootContext, request: Request) -> Answer:
    """Return a machine's own script: the one that boots it, or the one that says why it waits."""
    says = {name: " ".join(printable(value).split())[:LONGEST] for name, value in fields(request.query).items()}
    said = _identity(says)
    if not (said.macs or serial(said.serial) or uuid(said.uuid)):
        raise Unanswerable(400, "expected mac, serial or uuid of the machine")
    match desk.who(said):
        case None:
            return _discovered(desk, request, said, says)
        case Doubt(nodes, code, sentence):
            for node in nodes:
                desk.refused(node, Denied(code, sentence), request.source)
            return _waits(desk, code)
        case node:
            return await _script_of(desk, request, node, said)


async def _script_of(desk: BootContext, request: Request, node: str, said: Identity) -> Answer:
    """Return the script of a node's boot, once it is durable that this boot is open and whom its script goes to.

    What the store takes no news of is over, or was begun by somebody else, both a moment ago: it is judged again.
    """
    for _ in range(TRIES):
        boot = await desk.ledger.boot_of(node, desk.clock())
        if boot is None:
            break
        session = desk.sessions.of(boot)
        boot, denied = await desk.judged(boot, session, request, lambda now, by: answers.script(node, now, said, by))
        if denied is not None:
            return _refused(desk, request, node, denied, boot)
        try:
            session.mac = next(iter(said.macs), "")
            body = await booting(desk, boot, session.key, desk.made_now(boot, session, session.mac))
        except ImageError as error:
            return _refused(desk, request, node, Denied("image", str(error)), boot)
        except FleetError as error:
            return _refused(desk, request, node, Denied("template", str(error)), boot)
        if await _begun(desk, request, boot, session):
            return Answer(200, body)
        await desk.ledger.look()
    return _refused(desk, request, node, answers.unarmed(node))


async def _begun(desk: BootContext, request: Request, boot: Boot, session: Session) -> bool:
    """Whether the store knows that the script goes to this address."""
    reached = Reached(boot.id, Milestone.SCRIPT, desk.clock(), request.source, session.mac)
    return Milestone.SCRIPT in boot.reached or await desk.ledger.tell(reached)


async def booting(desk: BootContext, boot: Boot, key: str, made: Made) -> bytes:
    """Return the script that boots a node; its config context may name another image, and add kernel arguments."""
    context = made.facts.context
    network = desk.document("network-config", made)
    image = await desk.images.image(str(context.get("boot_image") or desk.settings.boot_image))
    if made.script is None or made.script[0] is not image:
        more = str(context.get("boot_arguments") or "")
        if why := elsewhere(boot.node, more, (desk.settings.boot_url, desk.settings.boot_secure_url)):
            raise FleetError(why)
        arguments = f"{image.manifest.cmdline} {more}".split()
        line = ipxe.command_line(made.facts.boot["seed_url"], network, arguments)
        files = f"{desk.url}/image/{image.build}"
        kernel, initrd = (f"{files}/{each}?boot={key}" for each in (image.manifest.kernel, image.manifest.initrd))
        what = ipxe.Kernel(f"{boot.node} boots {image.name}", kernel, initrd, line)
        made.script = (image, ipxe.boots(what, desk.url))
    return made.script[1]


def _identity(says: dict[str, str]) -> Identity:
    found = mac(says.get("mac", ""))
    return Identity(frozenset({found} if found else ()), says.get("serial", ""), says.get("uuid", ""))


def _discovered(desk: BootContext, request: Request, said: Identity, says: dict[str, str]) -> Answer:
    """Write down a machine that nobody knows."""
    name = next(iter(said.macs), "")
    if name:
        kind = (says.get("manufacturer", ""), says.get("product", ""))
        desk.ledger.note(Discovered(name, desk.clock(), request.source, said.serial, said.uuid, *kind))
    if desk.fresh(name, "unknown", request.source):
        log.info("an unknown machine asks for a boot", mac=name, source=request.source, serial=said.serial)
    return _waits(desk, "unknown")


def _refused(desk: BootContext, request: Request, node: str, denied: Denied, boot: Boot | None = None) -> Answer:
    desk.refused(node, denied, request.source, boot.id if boot else None)
    return _waits(desk, denied.code)


def _waits(desk: BootContext, code: str) -> Answer:
    """Return the waiting script with 200: iPXE does not read what comes with anything else."""
    return Answer(200, ipxe.waits(CONSOLE[code], desk.url))
