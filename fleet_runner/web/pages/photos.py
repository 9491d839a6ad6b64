"""Photos of a ticket: taken from a technician's phone, shown to those who mend, and to nobody else."""

from asyncio import to_thread
from typing import Annotated

from fastapi import APIRouter, HTTPException, Path, Request, Response
from fastapi.responses import JSONResponse

from fleet_runner.core.tickets.photos import MOST, MOST_BYTES, Photo, picture
from fleet_runner.services.http.requests import Request as Plain
from fleet_runner.services.http.requests import Unanswerable
from fleet_runner.web.access import Mends
from fleet_runner.web.audit import note_of
from fleet_runner.web.pages.pictures import Number, known
from fleet_runner.web.site import Here, Site

router = APIRouter()

Digest = Annotated[str, Path(pattern=r"^[0-9a-f]{64}$")]

POLICY = {"content-security-policy": "default-src 'none'; sandbox", "content-disposition": "inline"}


@router.post("/tickets/{number}/photos")
async def add(request: Request, here: Here, who: Mends, number: Number) -> Response:
    """Take a photo: the body is a JPEG, and what is kept of it is the picture alone. One that is here stays once."""
    try:
        sent = await Plain(request.scope, request.receive, (), "").body(MOST_BYTES)
    except Unanswerable as error:
        said = error.answer.body.decode().strip()
        raise HTTPException(error.answer.status, said, headers={"connection": "close"}) from error
    photo = await to_thread(_kept, here, number, sent, who.name)  # a hostile one takes half a second to look at
    note_of(request.scope).detail = f"photo, SHA-256 {photo.digest}"
    return JSONResponse({"sentence": f"Ticket {number}: your photo is there."})


@router.get("/tickets/{number}/photos/{digest}.jpg")
def show(here: Here, who: Mends, number: Number, digest: Digest) -> Response:
    """Return a photo; whatever its bytes are, a browser takes them for a picture and runs nothing."""
    del who
    found = here.store.photo(number, digest)
    if found is None:
        raise HTTPException(404, f"ticket {number} has no such photo; it may have been kept for long enough")
    return Response(found, media_type="image/jpeg", headers=POLICY)


def _kept(here: Site, number: int, sent: bytes, by: str) -> Photo:
    photo = here.store.add_photo(known(here, number).id, picture(sent), by, here.clock())
    if photo is None:
        raise HTTPException(409, f"ticket {number} has {MOST} photos, which is as many as are kept of one")
    return photo
