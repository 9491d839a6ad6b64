"""One answer of a check: what it found and observed, and the evidence that it was drawn from."""

from typing import Annotated, Any, NamedTuple

from fastapi import APIRouter, Depends, HTTPException, Path, Query, Request, Response
from fastapi.responses import HTMLResponse

from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.excerpt import excerpt
from fleet_runner.core.checks.observed import rows
from fleet_runner.core.lifecycle.runs import Stored
from fleet_runner.core.lifecycle.spool import Evidence
from fleet_runner.web.access import Sees
from fleet_runner.web.api.bounds import Name
from fleet_runner.web.pages.node import known
from fleet_runner.web.rendering import page
from fleet_runner.web.site import Here, Site

router = APIRouter()

LONGEST = 200_000
"""Characters of a piece of evidence that a page shows; all of it can be saved."""

LOOKED_INTO = 2_000_000
"""Characters of a piece of evidence in which lines about a finding are looked for."""

PIECES, FINDINGS = 20, 50
"""Pieces of evidence, and findings, of a result that are shown."""

Number = Annotated[int, Path(ge=1, le=2**62)]
Asked = Annotated[int, Query(ge=0, le=2**62)]
Digest = Annotated[str, Path(pattern=r"^[0-9a-f]{1,64}$")]


@router.get("/nodes/{name}/results/{number}")
def result(request: Request, here: Here, who: Sees, name: Name, number: Number) -> HTMLResponse:
    """Show an answer of a check."""
    known(here, name)
    found = _stored(here, name, number)
    return page(
        request,
        who,
        "result.html",
        stored=found,
        question=CHECKS[found.result.check].question if found.result.check in CHECKS else "",
        findings=found.result.findings[:FINDINGS],
        more_findings=max(0, len(found.result.findings) - FINDINGS),
        observed=rows(found.result.observed),
        evidence=_pieces(here, found),
        more=max(0, len(found.result.evidence) - PIECES),
    )


class Read(NamedTuple):
    """A piece of evidence, and the answer that was drawn from it."""

    stored: Stored
    piece: Evidence


def read(here: Here, name: Name, digest: Digest, result: Asked = 0) -> Read:
    """Return a piece of evidence that a result was drawn from: one that is named, else the newest of a check.

    Of what other nodes' results were drawn from nobody is told here.
    """
    known(here, name)
    told = (_stored(here, name, result),) if result else here.store.latest_results(name)
    stored = next((each for each in told if digest in each.result.evidence), None)
    if stored is None:
        raise HTTPException(404, f"{name} has no such result from this piece of evidence")
    piece = here.store.pieces([digest]).get(digest)
    if piece is None:
        raise HTTPException(404, "this piece of evidence was deleted by retention; verdicts stay")
    return Read(stored, piece)


Found = Annotated[Read, Depends(read)]


@router.get("/nodes/{name}/evidence/{digest}")  # noqa: FAST003  `read` takes them
def evidence(request: Request, who: Sees, found: Found) -> HTMLResponse:
    """Show a piece of evidence, as far as a page can."""
    shown: dict[str, Any] = {"text": found.piece.text[:LONGEST], "size": len(found.piece.text), "longest": LONGEST}
    return page(request, who, "evidence.html", stored=found.stored, piece=found.piece, **shown)


@router.get("/nodes/{name}/evidence/{digest}/text")  # noqa: FAST003  as above
def text(who: Sees, found: Found) -> Response:
    """Give a piece of evidence as a file, as it was read."""
    del who
    headers = {"content-disposition": f'attachment; filename="evidence-{found.piece.hash[:12]}.txt"'}
    body = found.piece.text.encode(errors="replace")
    return Response(body, media_type="text/plain; charset=utf-8", headers=headers)


def _stored(here: Site, name: str, number: int) -> Stored:
    found = next(iter(here.store.stored([number])), None)
    if found is None or found.node != name:
        raise HTTPException(404, f"{name} has no result {number}; its page lists the newest of each check")
    return found


def _pieces(here: Site, stored: Stored) -> list[tuple[str, Evidence | None, tuple[str, ...]]]:
    """Return each piece, if it is kept still, with the lines that the findings are about."""
    hashes = stored.result.evidence[:PIECES]
    kept = here.store.pieces(hashes)
    return [(each, kept.get(each), _lines(kept.get(each), stored)) for each in hashes]


def _lines(piece: Evidence | None, stored: Stored) -> tuple[str, ...]:
    if piece is None or len(piece.text) > LOOKED_INTO:
        return ()
    found = (line for finding in stored.result.findings[:5] for line in excerpt(piece.text, finding.message))
    return tuple(dict.fromkeys(found))
