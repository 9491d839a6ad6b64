"""What a client and a NetBox said to each other, so that it can be kept in a file and compared."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

FOLDER = Path(__file__).resolve().parent / "exchanges"

TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?(Z|[+-]\d\d:\d\d)?")
UNIQUE = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
SECRETS = {"password", "token", "key", "plaintext", "pepper_id", "last_used", "last_login"}
"""Fields of tokens and users that are by chance, or by the NetBox's own set-up."""

LONGEST = 1500
"""Characters of a text that are kept as they are."""

UNORDERED = {"object_types"}
"""Lists that NetBox gives in any order; the rows of our export templates' columns are in any order, too."""

UNDESCRIBED = {"allowed_ips"}
"""Fields that NetBox shows and does not describe."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and its answer; times, ids of requests and the server's address are left out."""

    request: str
    body: Any
    if_match: str
    status: int
    answer: Any

    def line(self) -> str:
        """Return the exchange as a line of a file."""
        row = {"request": self.request, "status": self.status, "answer": self.answer}
        more = {"body": self.body} if self.body is not None else {}
        more |= {"if_match": self.if_match} if self.if_match else {}
        return json.dumps(row | more, sort_keys=True, separators=(",", ":"))


def exchange(  # noqa: PLR0917  as many as an exchange has parts
    method: str, target: str, body: Any, if_match: str, status: int, answer: Any, url: str
) -> Exchange:
    """Return an exchange in the form in which it is kept."""
    parts = urlsplit(target)
    query = urlencode(parse_qsl(parts.query, keep_blank_values=True), safe=",:")
    if isinstance(answer, dict) and "netbox-version" in answer:  # the rest says on what it runs
        answer = {"netbox-version": answer["netbox-version"]}
    if method == "OPTIONS" and isinstance(answer, dict):  # half of it is prose
        answer = {"actions": sorted(answer.get("actions", {}))}
    asked = f"{method} {parts.path}{'?' + query if query else ''}"
    return Exchange(_text(asked, url), _normal(body, url), _text(if_match, url), status, _normal(answer, url))


def save(name: str, version: str, exchanges: Iterable[Exchange]) -> Path:
    """Write what was recorded, one exchange a line."""
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f"{name}.jsonl"
    lines = [json.dumps({"netbox": version}), *(each.line() for each in exchanges)]
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def load(name: str) -> list[Exchange]:
    """Read what was recorded."""
    rows = [json.loads(line) for line in (FOLDER / f"{name}.jsonl").read_text("utf-8").splitlines()[1:]]
    return [
        Exchange(row["request"], row.get("body"), row.get("if_match", ""), row["status"], row["answer"])
        for row in rows
    ]


def _normal(value: Any, url: str, name: str = "") -> Any:  # noqa: PLR0911  one for each kind of value
    match value:
        case {"value": choice, "label": label} if len(value) == len(("value", "label")):  # thousands of them
            return f"{choice} ({label})"
        case dict():
            return {key: _normal(each, url, key) for key, each in _compact(value).items() if key not in UNDESCRIBED}
        case list() if name in UNORDERED:
            return sorted(value)
        case list() if name == "columns":
            columns = [_normal(column, url) for column in value if column is not None]
            rows = sorted(zip(*columns, strict=True), key=json.dumps)
            return [list(column) for column in zip(*rows, strict=True)]
        case list():
            return [_normal(each, url) for each in value]
        case None:
            return None
        case _ if name in SECRETS:
            return name.upper()
        case str():
            text = _text(value, url)
            digest = sha256(text.encode()).hexdigest()[:16]
            return text if len(text) <= LONGEST else f"{len(text)} characters: {digest}"
        case _:
            return value


def _compact(row: dict[str, Any]) -> dict[str, Any]:
    """Keep of an object before and after a change what differs; a token's name is by chance."""
    before, after = row.get("prechange_data"), row.get("postchange_data")
    if before and after:
        names = {name for name in {*before, *after} if before.get(name) != after.get(name)}
        data = [{name: each.get(name) for name in sorted(names)} for each in (before, after)]
        return row | {"prechange_data": data[0], "postchange_data": data[1]}
    if before or after:
        return row | {"prechange_data": "WHOLE" if before else None, "postchange_data": "WHOLE" if after else None}
    return row | {"display": "TOKEN"} if "write_enabled" in row and "display" in row else row


def _text(text: str, url: str) -> str:
    if "<!DOCTYPE html" in text:
        return "HTML"
    text = text.replace(url, "").replace("%3A", ":").replace("%2B", "+").replace("%2C", ",")
    return UNIQUE.sub("UUID", TIME.sub("TIME", text))
