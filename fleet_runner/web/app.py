"""The web service as an ASGI application: its routes, what every answer carries, and how refusals look."""

from http import HTTPStatus
from importlib.metadata import version
from urllib.parse import quote

import structlog
from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, RedirectResponse
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException as AnyHTTPException

from fleet_runner.core.base.errors import ConflictError, FleetError, StoreError
from fleet_runner.services.http.limits import Limits
from fleet_runner.services.http.requests import App
from fleet_runner.web import metrics
from fleet_runner.web.access import refused_first
from fleet_runner.web.api import API
from fleet_runner.web.audit import NOBODY
from fleet_runner.web.middleware import around
from fleet_runner.web.pages import PAGES
from fleet_runner.web.rendering import page
from fleet_runner.web.site import Site

log = structlog.get_logger()

LONGEST = 256
"""Characters of a query that somebody who has to log in is led back to."""

UNREADABLE = frozenset({HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY})


def application(here: Site) -> App:
    """Return the application that answers people and programs."""
    app = routed(here)
    meter: metrics.Meter = app.state.meter
    return meter.around(around(app, here))


def routed(here: Site) -> FastAPI:
    """Return its routes, with nothing around them."""
    app = FastAPI(
        title="fleet-runner", version=version("fleet-runner"), docs_url=None, redoc_url=None, openapi_url=None,
        redirect_slashes=False,  # it would lead to whatever host the request names
    )  # fmt: skip
    app.state.site = here
    app.state.meter = metrics.Meter(here)
    app.state.tries = Limits(per_second=0.1, burst=10.0)  # logins of an address that may fail
    app.add_exception_handler(AnyHTTPException, _refused)
    app.add_exception_handler(RequestValidationError, _unreadable)
    app.add_exception_handler(FleetError, _trouble)
    app.mount("/static", StaticFiles(packages=[("fleet_runner.web", "static")]))
    # htmx comes with a package whose other parts, for Django, are never imported.
    app.mount("/htmx", StaticFiles(packages=[("django_htmx", "static/django_htmx")]))
    for each in PAGES:
        app.include_router(each, include_in_schema=False)
    app.include_router(metrics.router, include_in_schema=False)
    for each in API:
        app.include_router(each, prefix="/api/v1")
    return app


def _for_people(request: Request) -> bool:
    return "text/html" in request.headers.get("accept", "") and not request.url.path.startswith("/api/")


async def _refused(request: Request, error: Exception) -> Response:
    """A refusal, as a page where a browser asks; somebody who has not logged in is led there."""
    assert isinstance(error, AnyHTTPException)  # noqa: S101  FastAPI calls it with nothing else
    if error.status_code in UNREADABLE:
        try:
            await refused_first(request)
        except AnyHTTPException as first:
            error = first
        except StoreError as trouble:
            return await _trouble(request, trouble)
    if not _for_people(request):
        return JSONResponse({"detail": error.detail}, error.status_code, error.headers)
    if error.status_code == HTTPStatus.UNAUTHORIZED and request.method == "GET":
        path, query = request.url.path, request.url.query
        wanted = f"{path}?{query}" if query and len(query) < LONGEST else path  # what a label's code asks for, too
        return RedirectResponse(f"/login?next={quote(wanted)}" if path != "/" else "/login", 303)
    refused = page(request, NOBODY, "refused.html", status=error.status_code, said=str(error.detail))
    refused.headers.update(error.headers or {})
    return refused


async def _unreadable(request: Request, error: Exception) -> Response:
    """Say what of a request is not as expected, without repeating what it was."""
    assert isinstance(error, RequestValidationError)  # noqa: S101  as above
    told = [(".".join(map(str, each["loc"])), each["msg"].removeprefix("Value error, ")) for each in error.errors()]
    said = "; ".join(f"{where}: {why}" for where, why in told)[:500]
    return await _refused(request, HTTPException(422, said))


async def _trouble(request: Request, error: Exception) -> Response:
    """Say what a person can act on; trouble with the store is told in the log alone."""
    if isinstance(error, StoreError) and not isinstance(error, ConflictError):
        log.error("a page cannot be answered", path=request.url.path, error=str(error))
        return await _refused(request, HTTPException(503, "the store cannot be used now; the log says why"))
    return await _refused(request, HTTPException(409 if isinstance(error, ConflictError) else 400, str(error)))
