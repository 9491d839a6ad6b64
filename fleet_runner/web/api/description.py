"""The description of the API in OpenAPI's terms."""

from typing import Any

from fastapi import APIRouter, HTTPException, Request
from fastapi.openapi.utils import get_openapi
from fastapi.responses import JSONResponse

from fleet_runner.core.access.roles import Role
from fleet_runner.web.access import Asker

router = APIRouter()

ABOUT = """What pages show and let people ask for, for programs.

Every request shows a token, which `fleet-runner web token add NAME --role ROLE` makes, as
`Authorization: Bearer frs_...`. Times are seconds since the epoch (UTC); ids grow with time. A list that may be long
comes in pages: `next` is the `cursor` of the following one, null at the end. A refusal is `{"detail": "a sentence"}`.
"""


@router.get("/openapi.json", include_in_schema=False)
def description(request: Request, who: Asker) -> JSONResponse:
    """Describe the API to whoever may ask it anything: every role but `ingest`."""
    if who.role is Role.INGEST:
        raise HTTPException(403, "senders of signals may not read")
    return JSONResponse(described(request))


def described(request: Request) -> dict[str, Any]:
    """Return the description, made once."""
    app = request.app
    if app.openapi_schema is None:
        made = get_openapi(
            title="fleet-runner", version=app.version, description=ABOUT, routes=app.routes, openapi_version="3.1.0"
        )
        made["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        made["security"] = [{"token": []}]
        app.openapi_schema = made
    found: dict[str, Any] = app.openapi_schema
    return found
