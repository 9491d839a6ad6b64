"""A NetBox that others hold: what the suite makes there, how it takes that away, and what it proves of the rest."""

import secrets
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import requests

Row = dict[str, Any]
CHUNK = 50
SECONDS = 120.0

OWN: tuple[tuple[str, str, str], ...] = (
    ("dcim/virtual-chassis", "name", "name"),
    ("dcim/devices", "name", "name"),
    ("ipam/ip-addresses", "description", "description"),
    ("dcim/mac-addresses", "description", "description"),
    ("extras/config-contexts", "name", "name"),
    ("dcim/racks", "name", "name"),
    ("dcim/locations", "name", "name"),
    ("dcim/sites", "name", "name"),
    ("dcim/device-types", "slug", "slug"),
    ("dcim/module-types", "model", "model"),
    ("dcim/manufacturers", "name", "name"),
    ("tenancy/tenants", "name", "name"),
    ("users/permissions", "name", "name"),
    ("users/users", "username", "username"),
)
"""Lists in the order in which they can be emptied, and the field in which all that is ours begins with the prefix."""

INIT = (
    "extras/event-rules", "extras/webhooks", "extras/custom-links", "extras/export-templates", "extras/custom-fields",
    "extras/custom-field-choice-sets", "extras/tags", "users/tokens", "users/permissions", "users/users",
)  # fmt: skip
"""Lists of what `netbox init` makes, in the order in which it can be taken away."""

NAMED = ("name", "slug", "username", "description")
"""The fields by one of which init knows what it made."""

COUNTED = (
    "dcim/sites", "dcim/devices", "dcim/interfaces", "dcim/inventory-items", "dcim/mac-addresses", "dcim/cables",
    "dcim/cable-terminations", "ipam/ip-addresses", "extras/journal-entries", "extras/custom-fields",
    "extras/export-templates", "users/users", "users/tokens", "users/permissions",
)  # fmt: skip
"""Lists that are as long afterwards as they were before: those that deleting could leave something in."""


CHANGE_FIELDS = "id,user_name,action,changed_object_type,changed_object_id,object_repr,postchange_data"
"""Not what changed itself: NetBox 4.6 answers a list with a front port's mapping in it by an error (HTTP 500).

NetBox 4.4 does not say how an object is shown; its name stands in its data.
"""


class Change(NamedTuple):
    """A line of NetBox's change log."""

    user: str
    action: str
    kind: str
    id: int
    name: str


class Place:
    """A session with a NetBox in which everything is named with a prefix of its own."""

    def __init__(self, url: str, token: str) -> None:
        self.url = url.rstrip("/").removesuffix("/api")
        self.token = token
        self.prefix = f"frt{secrets.token_hex(3)}-"
        self.shared: list[tuple[str, int]] = []
        self.session = requests.Session()
        self.session.auth = lambda request: request
        kind = "Bearer" if token.startswith("nbt_") else "Token"
        self.session.headers.update({"Authorization": f"{kind} {token}", "Accept": "application/json"})
        self.session.headers["Connection"] = "close"  # NetBox's server ends connections that wait for a while

    def ask(self, method: str, path: str, **how: Any) -> Any:
        """Send a request, and return what came; an answer that says no is an AssertionError."""
        answer = self.session.request(method, f"{self.url}/api/{path}/", timeout=SECONDS, **how)
        assert answer.ok, f"{method} {path} {how}: HTTP {answer.status_code} {answer.text[:500]}"
        return answer.json() if answer.content else None

    def rows(self, path: str, **which: Any) -> list[Row]:
        """Return every row of a list."""
        found: list[Row] = []
        while True:
            page = self.ask("GET", path, params={"limit": 500, "offset": len(found), **which})
            found += page["results"]
            if not page["results"] or len(found) >= page["count"]:
                return found

    def row(self, path: str, number: int) -> Row:
        """Return one object."""
        found: Row = self.ask("GET", f"{path}/{number}")
        return found

    def count(self, path: str) -> int:
        """Return how long a list is."""
        return int(self.ask("GET", path, params={"limit": 1, "fields": "id"})["count"])

    def make(self, path: str, **values: Any) -> Row:
        """Make an object, whose name begins with the prefix."""
        return self.make_all(path, [values])[0]

    def make_all(self, path: str, rows: Iterable[Mapping[str, Any]]) -> list[Row]:
        """Make several objects at once."""
        waiting, made = list(rows), list[Row]()
        while waiting:
            some, waiting = waiting[:CHUNK], waiting[CHUNK:]
            made += self.ask("POST", path, json=some)
        return made

    def find_or_make(self, path: str, slug: str, **more: Any) -> int:
        """Return the id of what may be there already under its real name; what is made is taken away at the end."""
        found = [row for row in self.rows(path, slug=slug) if row["slug"] == slug]
        if found:
            return int(found[0]["id"])
        made = int(self.make(path, slug=slug, name=slug, **more)["id"])
        self.shared.append((path, made))
        return made

    def change(self, path: str, number: int, **values: Any) -> Row:
        """Change an object, as a person would."""
        found: Row = self.ask("PATCH", f"{path}/{number}", json=values)
        return found

    def remove(self, path: str, ids: Iterable[int]) -> None:
        """Take objects away that are ours."""
        waiting = list(ids)
        while waiting:
            some, waiting = waiting[:CHUNK], waiting[CHUNK:]
            self.ask("DELETE", path, json=[{"id": each} for each in some])

    def ours(self, path: str, field: str, key: str) -> list[int]:
        """Return the ids of what is ours in a list; every row is looked at: NetBox may not know the filter."""
        rows = self.rows(path, **{f"{field}__isw": self.prefix})
        return [row["id"] for row in rows if str(row[key] or "").startswith(self.prefix)]

    def clear(self) -> None:
        """Take away everything that is ours; what cannot be removed does not keep the rest."""
        failed: list[str] = []

        def away(path: str, ids: Iterable[int]) -> None:
            try:
                self.remove(path, ids)
            except (AssertionError, requests.RequestException) as error:
                failed.append(str(error))

        sites = self.ours("dcim/sites", "name", "name")
        if sites:
            away("dcim/cables", [row["id"] for row in self.rows("dcim/cables", site_id=sites) if self._is_ours(row)])
            standing = self.rows("dcim/devices", site_id=sites)
            away("dcim/devices", [row["id"] for row in standing if row["site"]["id"] in sites])
        for path, field, key in OWN:
            away(path, self.ours(path, field, key))
        for path, number in reversed(self.shared):
            away(path, [number])
        assert not failed, f"could not be taken away: {failed}"

    def _is_ours(self, cable: Row) -> bool:
        ends = [end["object"]["device"]["name"] or "" for side in "ab" for end in cable[f"{side}_terminations"]]
        return bool(ends) and all(name.startswith(self.prefix) for name in ends)

    def last_change(self) -> int:
        """Return the id of the last line of the change log."""
        page = self.ask("GET", "core/object-changes", params={"limit": 1, "ordering": "-id", "fields": CHANGE_FIELDS})
        return int(page["results"][0]["id"]) if page["results"] else 0

    def changes_since(self, mark: int) -> list[Change]:
        """Return the lines of the change log after a mark, the newest first."""
        found: list[Change] = []
        while True:
            asked = {"limit": 500, "offset": len(found), "ordering": "-id", "fields": CHANGE_FIELDS}
            rows = self.ask("GET", "core/object-changes", params=asked)["results"]
            new = [row for row in rows if row["id"] > mark]
            found += [
                Change(
                    row["user_name"],
                    row["action"]["value"],
                    row["changed_object_type"],
                    row["changed_object_id"],
                    str(row.get("object_repr") or (row["postchange_data"] or {}).get("name") or ""),
                )
                for row in new
            ]
            if len(new) < len(rows) or not rows:
                return found
