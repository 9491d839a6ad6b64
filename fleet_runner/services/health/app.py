"""The health pages as an ASGI application: /healthz and /readyz, and nothing else."""

import asyncio
import json
import time
from collections.abc import Callable, Mapping
from typing import Any

from fleet_runner.core.schedules.health import Alive, Part, ready
from fleet_runner.services.health.parts import Health
from fleet_runner.services.http.limits import Limits
from fleet_runner.services.http.requests import (
    JSON,
    Answer,
    App,
    Receive,
    Scope,
    Send,
    refusal,
    send_answer,
    source_of,
)

PAGES = frozenset({"/healthz", "/readyz"})


def application(health: Health, release: str, steady: Callable[[], float] = time.monotonic) -> App:
    """Return the application that answers whoever asks how a runner is."""
    limits = Limits()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        del receive
        if scope["type"] == "http":
            allowed = limits.take(source_of(scope), steady())
            answer = await _answer(scope, health, release) if allowed else refusal(429, "too many requests")
            await send_answer(scope, send, answer)

    return app


async def _answer(scope: Scope, health: Health, release: str) -> Answer:
    if scope["path"] not in PAGES:
        return refusal(404, "there is nothing here; expected /healthz or /readyz")
    if scope["method"] != "GET":
        return refusal(405, "expected GET")
    if scope["path"] == "/healthz":
        return _told(alive_page(health.alive(), release))
    return _told(ready_page(await asyncio.to_thread(health.parts), release))


def alive_page(alive: Alive, release: str) -> Mapping[str, Any]:
    """Return what /healthz says."""
    return {
        "ok": alive.ok,
        "said": alive.said,
        "seconds": round(alive.seconds, 3),
        "bound_seconds": round(alive.bound, 3),
        "release": release,
    }


def ready_page(parts: Mapping[str, Part], release: str) -> Mapping[str, Any]:
    """Return what /readyz says."""
    said = {name: {"ok": part.ok, "said": part.said} for name, part in parts.items()}
    return {"ok": ready(parts), "release": release, "parts": said}


def _told(page: Mapping[str, Any]) -> Answer:
    return Answer(200 if page["ok"] else 503, (json.dumps(page) + "\n").encode(), JSON)
