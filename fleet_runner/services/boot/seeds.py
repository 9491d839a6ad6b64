"""cloud-init's seed: four documents by a boot's key, of which user-data is given once; and its phone-home."""

from fleet_runner.core.base.errors import FleetError, JoinError, StoreError
from fleet_runner.core.boot import answers
from fleet_runner.core.boot.answers import Denied
from fleet_runner.core.boot.boots import Boot, Claim, Milestone, PhonedHome
from fleet_runner.core.boot.facts import instance_id
from fleet_runner.core.boot.form import ABSENT, PhonedForm, phoned
from fleet_runner.services.boot.answers import BootContext, log
from fleet_runner.services.boot.documents import PLAIN
from fleet_runner.services.boot.sessions import Session
from fleet_runner.services.http.requests import YAML, Answer, Request, Unanswerable, refusal

MOST_BODY = 64 * 1024
"""Bytes of a phone-home: a few public keys are a tenth of it."""

KEY_AND_NAME = 2


async def seed(desk: BootContext, request: Request) -> Answer:
    """Return a document of a boot: /seed/<key>/<document>."""
    if len(request.parts) != KEY_AND_NAME:
        raise Unanswerable(404, "expected /seed/<key>/<document>")
    key, document = request.parts
    found = await desk.keyed(key, request)
    if isinstance(found, Answer):
        return found
    boot, session = found
    if document == "user-data":
        return await _secrets(desk, request, boot, session)
    if document not in PLAIN:
        raise Unanswerable(404, "expected meta-data, vendor-data, network-config or user-data")
    boot, denied = await desk.judged(boot, session, request, lambda now, by: answers.document(now, by, document))
    if denied is not None:
        return desk.refuse(boot, denied, request)
    if document == "meta-data":
        desk.reached(session, Milestone.CLOUD_INIT, request.source)
    try:
        body = desk.document(document, desk.made(boot, session))
    except FleetError as error:
        return desk.refuse(boot, _trouble(error), request)
    return Answer(200, body, YAML)


async def _secrets(desk: BootContext, request: Request, boot: Boot, session: Session) -> Answer:
    """Give user-data, if this is who may have it, and has not had it."""
    plain = desk.plain(boot, request, "user-data")
    if plain is not None:
        return desk.refuse(boot, plain, request)
    async with session.filling:
        now, denied = await desk.judged(desk.ledger.boot(boot.id) or boot, session, request, answers.secrets)
        if denied is not None:
            return desk.refuse(now, denied, request)
        try:
            return await _claimed(desk, request, now, session)
        except StoreError:
            raise
        except FleetError as error:
            return desk.refuse(now, _trouble(error), request)


async def _claimed(desk: BootContext, request: Request, boot: Boot, session: Session) -> Answer:
    """Render and mint, then claim, then answer: what fails claims nothing, and what comes second is revoked."""
    filled = await desk.documents.user_data(desk.made(boot, session).facts)
    given = False
    try:
        given = await desk.ledger.tell(Claim(boot.id, desk.clock(), request.source))
    finally:
        if not given and filled.revoke is not None:
            await filled.revoke()
    if not given:
        return desk.refuse(boot, answers.claimed(boot), request)
    log.info("gave the document with secrets", node=boot.node, boot=boot.id, source=request.source)
    return Answer(200, filled.body, YAML)


async def phone_home(desk: BootContext, request: Request) -> Answer:
    """Take what cloud-init tells when it is done: /phone-home/<key>; told again, it changes nothing."""
    if len(request.parts) != 1:
        raise Unanswerable(404, "expected /phone-home/<key>")
    found = await desk.keyed(request.parts[0], request)
    if isinstance(found, Answer):
        return found
    boot, session = found
    boot, denied = await desk.judged(boot, session, request, answers.phone_home)
    denied = desk.plain(boot, request, "phone-home") or denied
    if denied is not None:
        return desk.refuse(boot, denied, request)
    form = phoned(await request.body(MOST_BODY))
    if isinstance(form, str) or form.instance_id not in (instance_id(boot), ABSENT):
        return _unreadable(desk, request, boot, form)
    if Milestone.PHONE_HOME not in boot.reached and await desk.ledger.tell(
        PhonedHome(boot.id, desk.clock(), request.source, form.host_keys)
    ):
        log.info("phoned home", node=boot.node, boot=boot.id, source=request.source, host_keys=len(form.host_keys))
    return Answer(200, b"")


def _unreadable(desk: BootContext, request: Request, boot: Boot, form: PhonedForm | str) -> Answer:
    why = (
        form if isinstance(form, str) else f"found instance {form.instance_id!r:.80}, expected {instance_id(boot)!r}"
    )
    desk.refused(
        boot.node, Denied("body", f"{boot.node}: phone-home of boot {boot.id}: {why}"), request.source, boot.id
    )
    return refusal(400, why)


def _trouble(error: FleetError) -> Denied:
    return Denied("join" if isinstance(error, JoinError) else "template", str(error))
