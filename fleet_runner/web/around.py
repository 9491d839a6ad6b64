"""What goes around every request: how much one address may ask, and the headers of every answer."""

from fleet_runner.http.asking import Answer, App, Message, Receive, Scope, Send, send_answer, source_of
from fleet_runner.http.limits import Limits
from fleet_runner.web.site import Site

HEADERS = {
    b"content-security-policy": b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    b"connect-src 'self'; font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"same-origin",
    b"cross-origin-opener-policy": b"same-origin",
    b"cross-origin-resource-policy": b"same-origin",
    b"cache-control": b"no-store",
}
"""Of every answer that says nothing else: nothing from elsewhere is loaded, nothing in a page is run."""

FILES = ("/static/", "/htmx/")
"""Below these lies what is the same for everybody; a browser keeps it and asks if it has changed."""


def around(app: App, here: Site) -> App:
    """Return an application with limits and headers around another one."""
    limits = Limits()

    async def limited(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await app(scope, receive, send)
        path: str = scope["path"]

        async def headed(message: Message) -> None:
            if message["type"] == "http.response.start":
                known = {name for name, _ in message["headers"]}
                more = {**HEADERS, b"cache-control": b"no-cache"} if path.startswith(FILES) else HEADERS
                message["headers"] = [*message["headers"], *(each for each in more.items() if each[0] not in known)]
            await send(message)

        if not path.startswith(FILES) and not limits.take(source_of(scope), here.steady()):
            again = ((b"retry-after", b"2"),)
            return await send_answer(scope, headed, Answer(429, b"this address asks too often\n", headers=again))
        return await app(scope, receive, headed)

    return limited
