"""What goes around every request: its bounds, how much one address may ask, what is written, and headers."""

import re
from ipaddress import ip_address

from fleet_runner.core.access.roles import AuditLine
from fleet_runner.services.http.limits import Limits
from fleet_runner.services.http.listening import loopback
from fleet_runner.services.http.requests import (
    WHOLE,
    Answer,
    App,
    Message,
    Receive,
    Request,
    Scope,
    Send,
    Unanswerable,
    send_answer,
    source_of,
)
from fleet_runner.web.audit import REFUSED, Ledger, note_of
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

TLS_ALONE = {b"strict-transport-security": b"max-age=31536000"}
"""Of every answer where people come over TLS: for a year a browser asks this host in no other way."""

FILES = ("/static/", "/htmx/")
"""Below these lies what is the same for everybody; a browser keeps it and asks if it has changed."""

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods that change nothing: their bodies are not read, and they are written down only where they are refused."""

MOST_BODY = 64 * 1024
MOST_PATH, MOST_QUERY = 2_048, 4_096
"""Bytes of a request's body, path and query; its head has bounds of its own (`services.http.protocol`)."""

_FORM = b"form"
"""In the types of all that a form may be sent as."""

_HOST = re.compile(rb"(?:[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?")

PHOTOS = re.compile(r"/tickets/[0-9]{1,19}/photos")
"""Where a photo goes: larger than any other body, and read only once it is known who sends it."""

_UTF_8 = re.compile(rb";\s*charset=\"?utf-8\"?\s*(?=;|$)", re.IGNORECASE)


def around(app: App, here: Site) -> App:
    """Return an application with bounds, limits, an audit log and headers around another one."""
    limits, ledger = Limits(), Ledger(here.store)
    proxied = here.settings.web_url.startswith("https://") and here.settings.web_certificate is None
    more = TLS_ALONE if proxied or here.settings.web_certificate is not None else {}

    async def limited(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await app(scope, receive, send)
        said, _ = [0], note_of(scope)
        headed = _headed(scope, send, more, said)
        if proxied:
            _forwarded(scope)
        if not scope["path"].startswith(FILES) and not limits.take(source_of(scope), here.steady()):
            again = ((b"retry-after", b"2"),)
            return await send_answer(scope, headed, Answer(429, b"this address asks too often\n", headers=again))
        try:
            await _answered(app, scope, receive, headed)
        finally:
            _noted(here, ledger, scope, said[0])
            await ledger.written(here.steady())

    return limited


def _headed(scope: Scope, send: Send, more: dict[bytes, bytes], said: list[int]) -> Send:
    """Return what sends an answer with our headers, and notes its status; an answer to HEAD ends behind them."""
    head = scope["method"] == "HEAD"
    ours = HEADERS | more
    if scope["path"].startswith(FILES):
        ours[b"cache-control"] = b"no-cache"

    async def headed(message: Message) -> None:
        if message["type"] == "http.response.start":
            said[0] = message["status"]
            known = {name.lower() for name, _ in message["headers"]}
            message["headers"] = [*message["headers"], *(each for each in ours.items() if each[0] not in known)]
            await send(message)
            if not head:
                return
            message = {"type": "http.response.body", "body": b""}
        elif head:
            return
        await send(message)

    return headed


async def _answered(app: App, scope: Scope, receive: Receive, send: Send) -> None:
    """Have a request answered; one that is out of bounds, or whose body is, is refused before anybody looks at it."""
    try:
        _bounded(scope)
        if scope["method"] not in SAFE and not PHOTOS.fullmatch(scope["path"]):
            note_of(scope).body = body = await Request(scope, receive, (), "").body(MOST_BODY)
            _sound(scope, body)
            receive = replayed(body, receive)
    except Unanswerable as error:
        scope.pop(WHOLE, None)  # a whole answer would go past what adds headers and notes its status
        return await send_answer(scope, send, error.answer)
    if scope["method"] == "HEAD":  # routes say what they answer to GET
        scope = {**scope, "method": "GET"}
    return await app(scope, receive, send)


def _bounded(scope: Scope) -> None:
    """Refuse what no page of ours and no program in its right mind asks."""
    if len(scope.get("raw_path") or b"") > MOST_PATH or len(scope["query_string"]) > MOST_QUERY:
        raise Unanswerable(414, f"expected a path of at most {MOST_PATH} bytes, and {MOST_QUERY} of a query")
    path: str = scope["path"]
    if any(ord(letter) < ord(" ") or letter == "\x7f" for letter in path) or b"%00" in scope["query_string"]:
        raise Unanswerable(400, "the address has characters that no name has")
    hosts = [value for name, value in scope["headers"] if name == b"host"]
    if len(hosts) > 1 or any(not _HOST.fullmatch(each) for each in hosts):
        raise Unanswerable(400, "the header Host is none")
    # Some encodings of Python's make of bytes what is no text at all, such as half a surrogate pair, or fail.
    kinds = [value for name, value in scope["headers"] if name == b"content-type"]
    if any(b"charset" in _UTF_8.sub(b"", each).lower() for each in kinds):
        raise Unanswerable(415, "the body is in another encoding than UTF-8")


def _sound(scope: Scope, body: bytes) -> None:
    """Refuse a form with NUL in it, which PostgreSQL cannot keep and nobody types."""
    form = any(name == b"content-type" and _FORM in value.lower() for name, value in scope["headers"])
    if form and (b"%00" in body or b"\0" in body):
        raise Unanswerable(400, "the form has characters that no text has")


def replayed(body: bytes, receive: Receive) -> Receive:
    """Return what gives a body that was read already, once, and goes on with what comes."""
    waits = [body]

    async def once() -> Message:
        return {"type": "http.request", "body": waits.pop(), "more_body": False} if waits else await receive()

    return once


def _forwarded(scope: Scope) -> None:
    """Take the address that a proxy on this machine names, the last one: others before it are anybody's words."""
    if not loopback(source_of(scope)):
        return
    named = [value for name, value in scope["headers"] if name == b"x-forwarded-for"]
    last = named[-1].rpartition(b",")[2].strip().decode("ascii", "replace") if named else ""
    try:
        scope["client"] = (str(ip_address(last)), 0)
    except ValueError:
        return


def _noted(here: Site, ledger: Ledger, scope: Scope, status: int) -> None:
    """Have it written who asked, where that is worth a line; no body, no query, nothing of a secret."""
    note = note_of(scope)
    if note.token:
        ledger.used(note.token, here.clock())
    if scope["method"] in SAFE and status not in REFUSED and not note.detail:
        return
    who = note.who
    role = who.role.value if who.name else ""
    source, path = source_of(scope), scope["path"]
    asked = AuditLine(here.clock(), who.name, role, source, scope["method"], path, status, note.detail)
    ledger.add(asked, here.steady())
