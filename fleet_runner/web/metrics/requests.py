"""What this process is asked, and how long answers take: by the template of the route, never by its address."""

from collections import Counter
from collections.abc import Callable
from threading import Lock
from typing import Any

from fleet_runner.core.lifecycle.metrics import OTHER, Spread
from fleet_runner.services.http.requests import App, Message, Receive, Scope, Send
from fleet_runner.web.metrics.samples import ScrapeSamples

BOUNDS = (0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
"""Seconds that answers are told apart by."""

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})

NONE = "none"
"""The route of what no route answers: an address that is not there, or a request that was held back."""

STREAM = b"text/event-stream"


class RequestCounter:
    """Counts around an application."""

    def __init__(self, steady: Callable[[], float]) -> None:
        self._steady = steady
        self._lock = Lock()
        self._requests = Counter[tuple[str, str, str]]()
        self._seconds: dict[str, Spread] = {}
        self._streams = 0

    def around(self, app: App) -> App:
        """Return the application, counted."""

        async def counted(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] != "http":
                return await app(scope, receive, send)
            began, told, streams = self._steady(), "5xx", False

            async def seen(message: Message) -> None:
                nonlocal told, streams
                if message["type"] == "http.response.start":
                    told = f"{message['status'] // 100}xx"
                    streams = any(
                        key == b"content-type" and value.startswith(STREAM) for key, value in message["headers"]
                    )
                    self._stream(streams, 1)
                await send(message)

            try:
                await app(scope, receive, seen)
            finally:
                self._stream(streams, -1)
                self._take(scope, told, None if streams else self._steady() - began)

        return counted

    def tell(self, sheet: ScrapeSamples) -> None:
        """Put what was counted into a sheet."""
        with self._lock:
            for (route, method, status), count in self._requests.items():
                sheet.put("fleet_web_requests", count, route=route, method=method, status=status)
            for route, spread in self._seconds.items():
                sheet.spread("fleet_web_request_seconds", spread.copy(), route=route)
            sheet.put("fleet_web_streams", self._streams)

    def _stream(self, streams: bool, more: int) -> None:  # noqa: FBT001  what was seen, not an option
        if streams:
            with self._lock:
                self._streams += more

    def _take(self, scope: Scope, told: str, seconds: float | None) -> None:
        route = _template(scope)
        method = scope["method"] if scope["method"] in METHODS else OTHER
        with self._lock:
            self._requests[route, method, told] += 1
            if seconds is not None:
                self._seconds.setdefault(route, Spread(BOUNDS)).add(seconds)


def _template(scope: Scope) -> str:
    """Return the route as it is written in the code: whatever is asked for, there are no more of them."""
    found: Any = scope.get("route")
    return str(getattr(found, "path", "")) or NONE
