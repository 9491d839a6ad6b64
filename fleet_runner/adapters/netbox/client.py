"""Lists of a NetBox's REST API, read patiently or changed; and said plainly why that could not be done."""

import re
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from itertools import chain, islice
from typing import Any, Self
from urllib.parse import urlsplit

import pynetbox
import requests
from pynetbox.core.query import Request
from requests.adapters import HTTPAdapter
from urllib3.exceptions import HTTPError, NewConnectionError
from urllib3.exceptions import TimeoutError as UrllibTimeoutError
from urllib3.util.retry import Retry

from fleet_runner.adapters.netbox.refusals import absent, permission, said
from fleet_runner.adapters.netbox.selections import plain
from fleet_runner.core.base.errors import SourceError, SourceUnavailableError
from fleet_runner.core.inventory.consistency import show

Json = dict[str, Any]

PAGE = 1000  # rows; a page of 50, NetBox's own default, costs three times as much per row
PAGES = 10_000  # of one list: more than any fleet has, and an end to a list that has none
BYTES = 1 << 29  # of one list: interfaces of 20,000 servers are a fifth of it
BODY_SECONDS = 600.0  # until an answer that has begun is there
OLDEST = (4, 2)  # before it, an interface had one MAC address and no object for it
ATTEMPTS = 3  # at a list that others change while it is read
TRANSIENT = (429, 500, 502, 503, 504)
REFUSED = (401, 403)
NOT_FOUND = 404
BAD_TOKEN = re.compile("invalid (v[12] )?token|token expired", re.IGNORECASE)
FAILED = 500  # a template, in what it says
CHANGED = 412  # since the entity tag that was sent


@dataclass(frozen=True, slots=True)
class Timeouts:
    """How long to wait for NetBox: seconds to connect, seconds for a page, and how often to try again."""

    connect_seconds: float = 10.0
    read_seconds: float = 120.0
    retries: int = 3
    backoff_seconds: float = 0.5


class NetBoxBusyError(SourceError):
    """A change was not made, because somebody else made one meanwhile or NetBox was busy; nothing was changed."""


class ForbiddenError(SourceError):
    """NetBox does not let this token do it; nothing was changed."""


class RefusedError(SourceError):
    """NetBox finds a value of a change wrong; nothing was changed."""


class Client:
    """A session with one NetBox. Its token goes to that NetBox only, and into no message."""

    def __init__(self, url: str, token: str, patience: Timeouts) -> None:
        self.url = _base(url)
        if not token or not token.isascii() or not token.isprintable() or " " in token:
            raise SourceError(f"{self.url}: the NetBox token is empty or holds spaces; put one token into its file")
        self._api = pynetbox.api(self.url, token=token)
        self._session = requests.Session()
        self._session.auth = lambda request: request  # else a ~/.netrc replaces the token
        self._adapter = _PatientAdapter(self.url, patience)
        self._session.mount("https://", self._adapter)
        self._session.mount("http://", self._adapter)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._session.close()

    @property
    def sent(self) -> int:
        """Return how many requests were sent."""
        return self._adapter.sent

    def rows(self, path: str, fields: str, **filters: Any) -> list[Json]:
        """Return every row of a list ("dcim/devices"), with these fields only. Raises SourceError."""
        found: list[Json] = []
        count = 0
        for _ in range(ATTEMPTS):
            found, count = self._read(path, {"fields": fields, **filters})
            if len(found) == count:
                return found
        text = f"{path} gave {len(found)} rows, expected the {count} that NetBox counts, {ATTEMPTS} times"
        raise SourceError(f"{self.url}: {text}; somebody is changing it; read it again later")

    def change(self, path: str, rows: list[Json], fields: str, match: Iterable[str]) -> list[Json]:
        """Change rows of a list, all or none, and return these fields of those that NetBox found.

        `match` are the rows' entity tags as they were read; a NetBox before 4.6 does not look at them. Raises
        AgainError where reading again and trying again may help, RefusedError if NetBox finds a value wrong, and
        SourceError for everything else.
        """
        known = list(match)
        if known:
            self._session.headers["If-Match"] = ", ".join(known)
        try:
            with self._plainly(path):
                return [plain(row) for row in self._request(path, {"fields": fields}).patch(rows)]
        except pynetbox.RequestError as error:
            if not (gone := absent(error.req.text)):
                raise self._unchanged(path, error.req) from None
        finally:
            self._session.headers.pop("If-Match", None)
        left = [
            at for at, row in enumerate(rows) if row["id"] not in gone
        ]  # NetBox 4.7 changes none, older ones these
        if len(left) == len(rows):
            raise RefusedError(f"NetBox reports rows of {path} as missing that were not sent; check its log")
        there = [rows[at] for at in left]
        return self.change(path, there, fields, [known[at] for at in left] if known else []) if there else []

    def add(self, path: str, rows: list[Json], fields: str) -> list[Json]:
        """Make rows of a list, all or none, and return these fields of them in the order they were given.

        It is never sent twice: who gets no answer reads again before trying again. Raises as `change` does.
        """
        try:
            with self._plainly(path):
                return [plain(row) for row in self._request(path, {"fields": fields}).post(rows)]
        except pynetbox.RequestError as error:
            raise self._unchanged(path, error.req, "add") from None

    def allowed(self, path: str) -> frozenset[str]:
        """Return which of "add" and "change" NetBox lets the token do in a list; it changes nothing."""
        try:
            with self._plainly(path):
                actions = self._request(path, {}).options().get("actions", {})
        except pynetbox.RequestError as error:
            raise self._refused(path, error.req) from None
        return frozenset(word for method, word in (("POST", "add"), ("PUT", "change")) if method in actions)

    def version(self) -> str:
        """Return the version that the NetBox says it has: "4.7.3". Raises SourceError, for a wrong token too."""
        try:
            with self._plainly("status"):
                return str(next(self._request("status", {}).get())["netbox-version"])
        except pynetbox.RequestError as error:
            if (status := error.req.status_code) in REFUSED:
                text = f"{self.url}: NetBox does not accept the token (HTTP {status}); put a valid one into its file"
                raise ForbiddenError(text) from None
            raise self._refused("status", error.req) from None

    def render(self, path: str, template: str, **filters: Any) -> object:
        """Return what an export template makes of a list: None where there is none, "" where it fails."""
        request = self._request(path, {"export": template, **filters})
        try:
            with self._plainly(path):
                try:
                    return next(request.get(), None)
                except pynetbox.ContentError as error:
                    if "html" in error.req.headers.get("content-type", "html"):
                        raise  # a page to log in at
                    return ""
        except pynetbox.RequestError as error:
            if error.req.status_code in {NOT_FOUND, FAILED}:
                return None if error.req.status_code == NOT_FOUND else ""
            raise self._refused(path, error.req) from None

    def newest(self, path: str, fields: str, most: int, **filters: Any) -> list[Json]:
        """Return the newest rows of a list, at most so many, the newest first. Raises SourceError."""
        request = self._request(path, {"fields": fields, "ordering": "-id", **filters})
        found: list[Json] = []
        try:
            with self._plainly(path):
                while len(found) < most:  # a NetBox whose MAX_PAGE_SIZE is small gives fewer at once
                    request.limit, request.offset = most - len(found), len(found)
                    page = [plain(row) for row in request.get()]
                    found += page
                    if not page or len(found) >= int(request.count):
                        break
        except pynetbox.RequestError as error:
            raise self._refused(path, error.req) from None
        return found

    def _read(self, path: str, filters: Json) -> tuple[list[Json], int]:
        request = self._request(path, filters)
        try:
            with self._plainly(path):
                rows = request.get()
                first = list(islice(rows, 1))
                if (count := int(request.count)) > PAGE:
                    return self._long(path, filters)
                return [plain(row) for row in chain(first, rows)], count
        except pynetbox.RequestError as error:
            raise self._refused(path, error.req) from None

    def _long(self, path: str, filters: Json) -> tuple[list[Json], int]:
        """Read a list of many pages, each from the last row of the one before: a row that is deleted moves others."""
        request = self._request(path, {**filters, "ordering": "id"})
        found: list[Json] = []
        while True:
            request.offset = max(len(found) - 1, 0)
            page = [plain(row) for row in request.get()]
            if page[:1] != found[-1:] and found:
                return [], int(request.count)
            more = page[1:] if found else page
            found += more
            if not more or len(found) >= int(request.count):
                return found, int(request.count)

    def _request(self, path: str, filters: Json) -> Any:
        self._adapter.pages = self._adapter.bytes = 0
        return Request(
            base=f"{self._api.base_url}/{path}",
            filters=filters,
            limit=PAGE,
            token=self._api.token,
            http_session=self._session,
        )

    @contextmanager
    def _plainly(self, path: str) -> Iterator[None]:
        """Say in one sentence why there was no answer, or none that NetBox gives."""
        try:
            yield
        except pynetbox.ContentError as error:
            raise SourceError(self._not_netbox(path, error.req)) from None
        except requests.exceptions.SSLError as error:
            text = f"{self.url}: cannot trust its certificate ({show(_reason(error))})"
            raise SourceError(f"{text}; name the file of its CA in REQUESTS_CA_BUNDLE") from None
        except requests.exceptions.RequestException as error:
            raise SourceUnavailableError(self._unreached(path, _reason(error))) from None
        except OSError as error:  # before anything is sent: the file of CAs is not there
            text = f"{self.url}: cannot be asked for {path} ({show(error)})"
            raise SourceError(f"{text}; check whether REQUESTS_CA_BUNDLE names a file that can be read") from None
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
            text = f"{self.url}: {path} is not a list of NetBox 4; check that source is the address of a NetBox"
            raise SourceError(text) from None

    def _unreached(self, path: str, reason: object) -> str:
        if isinstance(reason, UrllibTimeoutError) and not isinstance(reason, NewConnectionError):
            return f"{self.url}: no answer for {path} in time; check whether NetBox is overloaded, then read again"
        return f"{self.url}: cannot be reached for {path} ({show(reason)}); check the address and the network"

    def _refused(self, path: str, answer: requests.Response) -> SourceError:
        status = answer.status_code
        if status in REFUSED and BAD_TOKEN.search(answer.text[:1000]):
            text = f"{self.url}: does not accept the token (HTTP {status}); put a valid one into its file"
            return ForbiddenError(text)
        if status in REFUSED:
            needed = f"the permission {permission(path, 'view')}"
            next_step = f"give the token's user {needed}, or write a valid token into its file"
            text = f"{self.url}: NetBox refuses to show {path} to this token (HTTP {status}); {next_step}"
            return ForbiddenError(text)
        if status == NOT_FOUND:
            text = f"{self.url}: has no {path} (HTTP 404); check that source is the address of a NetBox 4"
            return SourceError(text)
        kind = SourceUnavailableError if status in TRANSIENT else SourceError
        return kind(f"{self.url}: {path} gave HTTP {status}; check NetBox's log, then read again")

    def _unchanged(self, path: str, answer: requests.Response, action: str = "change") -> SourceError:
        status = answer.status_code
        if status in REFUSED:
            text = f"{self.url}: this token may not {action} anything in {path} (HTTP {status})"
            needed = f"give the token's user the permission {permission(path, action)}, and let the token write"
            return ForbiddenError(f"{text}; {needed}")
        if status in {CHANGED, *TRANSIENT}:
            return NetBoxBusyError(f"{self.url}: {path} could not be changed now (HTTP {status})")
        return RefusedError(f"NetBox refuses the change (HTTP {status}: {said(answer.text)})")

    def _not_netbox(self, path: str, answer: requests.Response) -> str:
        kind = answer.headers.get("content-type", "no content type")
        return f"{self.url}: {path} gave {show(kind)}, expected JSON; check that source is the address of a NetBox"


class _PatientAdapter(HTTPAdapter):
    """Gives every request a time limit and retries, and none to another server than the one that was named."""

    def __init__(self, url: str, patience: Timeouts) -> None:
        self.origin = urlsplit(url)[:2]
        self.pages = self.bytes = 0
        self.sent = 0
        self.limits = (patience.connect_seconds, patience.read_seconds)
        retries = Retry(
            total=patience.retries,
            backoff_factor=patience.backoff_seconds,
            status_forcelist=TRANSIENT,
            allowed_methods=("GET",),
            raise_on_status=False,
        )
        super().__init__(max_retries=retries)

    def send(self, request: requests.PreparedRequest, *args: Any, **kwargs: Any) -> requests.Response:
        """Send a request within the time limits, if it is for the NetBox."""
        if urlsplit(request.url or "")[:2] != self.origin:
            raise requests.exceptions.InvalidURL(f"it points to another server, {show(request.url)}")
        self.pages += 1
        self.sent += 1
        if self.pages > PAGES:
            raise requests.exceptions.InvalidURL(f"its list has more than {PAGES} pages")
        kwargs |= {"timeout": self.limits, "stream": True}
        answer = super().send(request, *args, **kwargs)
        version = answer.headers.get("API-Version", "")
        if _old(version):
            answer.close()
            oldest = ".".join(map(str, OLDEST))
            url = "://".join(self.origin)
            raise SourceError(f"{url}: found NetBox {show(version)}, expected {oldest} or newer; upgrade it")
        answer.raw = self._body(answer)
        return answer

    def _body(self, answer: requests.Response) -> BytesIO:
        """Return what an answer holds, which is neither too long nor without an end."""
        body, until = BytesIO(), time.monotonic() + BODY_SECONDS
        try:
            while part := answer.raw.read1(1 << 16, decode_content=True):
                self.bytes += body.write(part)
                if self.bytes > BYTES or time.monotonic() > until:
                    answer.close()
                    limit = f"{BYTES} bytes" if self.bytes > BYTES else f"{BODY_SECONDS:.0f} seconds"
                    raise requests.exceptions.InvalidURL(f"its list takes more than {limit}")
        except HTTPError as error:
            raise requests.exceptions.ConnectionError(error, request=answer.request) from error
        body.seek(0)
        return body


def _old(version: str) -> bool:
    """Whether a NetBox is too old for what is asked of it; one that does not say is tried."""
    found = re.fullmatch(r"(\d{1,4})\.(\d{1,4})", version)
    return found is not None and (int(found[1]), int(found[2])) < OLDEST


def _reason(error: Exception) -> object:
    """Return why a request failed, without what requests and urllib3 wrap around it."""
    wrapped = error.args[0] if error.args else error
    return getattr(wrapped, "reason", wrapped)


def _base(url: str) -> str:
    """Return the address of a NetBox without its end, so that paths can follow it."""
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.username or parts.query:
        safe = url.rpartition("@")[2]
        raise SourceError(f"source {show(safe)} is not the address of a NetBox; expected https://netbox.example")
    return url.rstrip("/").removesuffix("/api")
