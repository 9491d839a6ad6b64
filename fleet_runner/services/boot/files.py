"""Files that firmware and iPXE ask for: iPXE's own, and the kernels and file systems of images."""

import asyncio
import os
import re
import stat
from hashlib import sha256
from pathlib import Path
from typing import ClassVar

from starlette.responses import FileResponse

from fleet_runner.core.base.errors import ImageError
from fleet_runner.core.boot import answers
from fleet_runner.core.boot.answers import Denied
from fleet_runner.core.boot.boots import Boot, Milestone, Proved
from fleet_runner.core.boot.form import fields
from fleet_runner.services.boot.answers import BootContext, log
from fleet_runner.services.http.requests import (
    Answer,
    App,
    Receive,
    Request,
    Scope,
    Send,
    Unanswerable,
    refusal,
    send_answer,
)

KEPT = "private, max-age=3600"
"""Who may keep a file, and for how long; its entity tag says whether it is still the same."""

MOST_FILES = 1024
"""Files that are sent at a time. Each holds two pieces at most, the next and one that the network has not taken."""

NONCE_AND_NAME, IMAGE_AND_NAME = 2, 2

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")
_NONCE = re.compile(r"[A-Za-z0-9_-]{16,128}")


class _File(FileResponse):
    """A file on its way, in pieces larger than Starlette's: each costs a turn of a thread."""

    chunk_size = 256 * 1024
    under_way: ClassVar[int] = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it, or refuse for now."""
        if _File.under_way >= MOST_FILES:
            await send_answer(scope, send, refusal(503, "too many files are being sent; ask again"))
            return
        _File.under_way += 1
        try:
            await super().__call__(scope, receive, send)
        except OSError as error:
            log.warning("a file cannot be sent to its end", path=str(self.path), why=str(error))
        finally:
            _File.under_way -= 1


async def image(desk: BootContext, request: Request) -> Answer | App:
    """Return a file of an image to a boot that is under way: /image/<image>/<file>?boot=<key>."""
    if len(request.parts) != IMAGE_AND_NAME:
        raise Unanswerable(404, "expected /image/<image>/<file>")
    found = await desk.keyed(fields(request.query).get("boot", ""), request)
    if isinstance(found, Answer):
        return found
    boot, session = found
    boot, denied = await desk.judged(boot, session, request, lambda now, by: answers.document(now, by, "an image"))
    if denied is not None:
        return desk.refuse(boot, denied, request)
    name, file = request.parts
    try:
        its = await desk.images.image(name)
        path, checksum = await desk.images.file(its, file)
    except ImageError as error:
        return desk.refuse(boot, Denied("image", str(error)), request)
    if file == its.manifest.kernel:
        desk.reached(session, Milestone.KERNEL, request.source)
    return await _sent(path, f'"{checksum}"', request)


async def loader(desk: BootContext, request: Request) -> Answer | App:
    """Return one of iPXE's files: /loader/<file>, or /loader/<nonce>/<file> where the BMC proves who boots."""
    *nonce, name = request.parts or ("",)
    if len(nonce) >= NONCE_AND_NAME or not _NAME.fullmatch(name):
        raise Unanswerable(404, "expected /loader/<file>")
    path = desk.settings.boot_loaders / name
    if not await asyncio.to_thread(path.is_file):
        raise Unanswerable(404, "there is no such file")
    if nonce:
        refused = await _proved(desk, nonce[0], request)
        if refused is not None:
            return refused
    elif desk.settings.boot_proof == "bmc":
        raise Unanswerable(403, "boots must be proved here")
    return await _sent(path, "", request)


async def _proved(desk: BootContext, nonce: str, request: Request) -> Answer | None:
    """Note that the machine at an address knows what only a BMC was given; a refusal where it does not."""
    boot = await _nonced(desk, nonce)
    if boot is None:
        desk.refused(
            "", Denied("unproved", "a loader is asked for with a nonce that no armed boot has"), request.source
        )
        return Answer(403, b"unproved\n")
    if desk.clock() >= boot.expires_at:
        denied = Denied("expired", f"{boot.node}: the loader of boot {boot.id} is asked for after it expired")
        return desk.refuse(boot, denied, request)
    news = not boot.proved_by and await desk.ledger.tell(Proved(boot.id, desk.clock(), request.source))
    by = request.source if news else (desk.ledger.boot(boot.id) or boot).proved_by
    if by == request.source:
        return None
    denied = Denied(
        "address", f"{boot.node}: boot {boot.id} was proved from {by}, and is asked for from {request.source}"
    )
    return desk.refuse(boot, denied, request)


async def _nonced(desk: BootContext, nonce: str) -> Boot | None:
    """Return the open boot that a nonce was made for."""
    if not _NONCE.fullmatch(nonce):
        return None
    wanted = sha256(nonce.encode()).hexdigest()
    found = next((boot for boot in desk.ledger.open.values() if boot.nonce_hash == wanted), None)
    if found is None:
        await desk.ledger.look()
        found = next((boot for boot in desk.ledger.open.values() if boot.nonce_hash == wanted), None)
    return found


async def _sent(path: Path, tag: str, request: Request) -> Answer | App:
    """Send a file, or say that who asks has it already."""
    found = await asyncio.to_thread(_readable, path)
    if found is None:
        raise Unanswerable(404, "there is no such file")
    headers = {"cache-control": KEPT, **({"etag": tag} if tag else {})}
    response = _File(path, headers=headers, media_type="application/octet-stream", stat_result=found)
    current = response.headers["etag"]
    known = request.header(b"if-none-match").decode("latin-1")
    if known == "*" or current in (each.strip().removeprefix("W/") for each in known.split(",")):
        kept = ((b"etag", current.encode()), (b"cache-control", KEPT.encode()))
        return Answer(304, b"", headers=kept)
    return response


def _readable(path: Path) -> os.stat_result | None:
    """Look at a file that can be sent; None where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found if stat.S_ISREG(found.st_mode) and os.access(path, os.R_OK) else None
