"""A stand-in NetBox's REST API: a request's method, path, query and body in, a status and an answer out."""

import traceback
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from tests.netbox import bulk, exporting, filtering
from tests.netbox.bulk import DeniedError, RefusedError
from tests.netbox.database import Database, ProtectedError, Row
from tests.netbox.description import Model, models, problems
from tests.netbox.showing import Shown, brief_fields
from tests.netbox.values import InvalidError, object_types

MAX_PAGE = 1000
PAGE = 50
ACTIONS = {"GET": "view", "POST": "add", "PATCH": "change", "DELETE": "delete"}


@dataclass(slots=True)
class Request:
    """What a client asked, and what the description of NetBox finds wrong with it."""

    method: str
    path: str
    query: dict[str, list[str]]
    body: Any
    authorization: str = ""
    if_match: str = ""
    status: int = 0
    write_enabled: bool = False
    problems: list[str] = field(default_factory=list[str])

    def __str__(self) -> str:
        query = f"?{urlencode(self.query, doseq=True)}" if self.query else ""
        return f"{self.method} /api/{self.path}/{query}"


@dataclass(slots=True)
class Answer:
    """What the stand-in says."""

    status: int
    body: Any = None
    kind: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict[str, str])


class Api:
    """The REST API of a database."""

    def __init__(self, database: Database, url: str, version: str) -> None:
        self.database, self.shown, self.url, self.version = database, Shown(database, url), url, version

    def answer(self, request: Request) -> Answer:  # noqa: PLR0911  one for each way in which it ends
        """Answer a request."""
        try:
            user = self._user(request)
            if request.path == "status":
                return Answer(
                    200, {"netbox-version": self.version, "netbox-full-version": self.version, "plugins": {}}
                )
            if request.path == "core/object-types":
                return self._page(request, self._object_types())
            path, _, end = request.path.partition("/")
            name, _, number = end.partition("/")
            model = models().get(f"{path}/{name}")
            if model is None or (number and not number.isdigit()):
                request.problems = [f"no such path in tests/netbox/openapi.json: {request.path}"]
                return Answer(
                    404, "<!DOCTYPE html><html><body>Page Not Found</body></html>", "text/html; charset=utf-8"
                )
            if request.method == "OPTIONS":
                return self._options(request, model, user)
            request.problems = problems(request.method, request.path, request.query, request.body)
            with self.database.as_one(user["id"]):
                return self._answer(request, model, int(number) if number else None, user)
        except RefusedError as error:
            return Answer(error.status, error.body, headers=error.headers)
        except DeniedError:
            return Answer(403, {"detail": "You do not have permission to perform this action."})
        except InvalidError as error:
            return Answer(400, error.detail)
        except ProtectedError as error:
            return Answer(409, {"detail": str(error)})
        except Exception as error:  # noqa: BLE001  a slip of the stand-in's own: the test that asked must fail
            request.problems = [f"the stand-in broke: {traceback.format_exc()}"]
            return Answer(500, {"error": str(error), "exception": type(error).__name__})

    def _answer(self, request: Request, model: Model, number: int | None, user: Row) -> Answer:
        if request.method.lower() not in model.methods:
            raise RefusedError(405, f'Method "{request.method}" not allowed.')
        allowed = self._allowed(model, ACTIONS[request.method], user)
        match request.method, number:
            case "GET", None:
                return self._list(request, model, allowed)
            case "POST", None:
                return self._create(request, model, user)
            case "PATCH", None:
                return self._bulk_change(request, model, allowed)
            case "DELETE", None:
                return self._bulk_delete(request, model, allowed)
            case _, None:
                raise RefusedError(405, f'Method "{request.method}" not allowed.')
            case _, int(single):
                row = next((each for each in allowed if each["id"] == single), None)
                if row is None:
                    raise RefusedError(404, f"No {model.schema} matches the given query.")
                return self._single(request, model, row)

    def _options(self, request: Request, model: Model, user: Row) -> Answer:
        """Say what a token may do in a list: the one place where NetBox says that without doing it."""
        may: dict[str, Any] = {}
        for method, name, action in (("POST", "post", "add"), ("PUT", "patch", "change")):
            if name in model.methods and request.write_enabled and self._granted(model, action, user) is not None:
                may[method] = {}
        answer = {"name": f"{model.schema} List", "description": "", "renders": [], "parses": []}
        return Answer(200, answer | ({"actions": may} if may else {}))

    def _single(self, request: Request, model: Model, row: Row) -> Answer:
        if request.method != "GET":
            self._matching(request, row)
        if request.method == "DELETE":
            message = request.body.get("changelog_message", "") if request.body else ""
            self.database.delete(model.path, row["id"], message)
            return Answer(204)
        if request.method == "PATCH":
            row = self.database.change(model.path, row["id"], _mapping(request.body), _fields(request))
        return Answer(200, self._row(request, model, row), headers=_tagged(row))

    def _list(self, request: Request, model: Model, allowed: list[Row]) -> Answer:
        rows = filtering.found(self.database, model.path, request.query)
        ids = {row["id"] for row in allowed}
        rows = [row for row in rows if row["id"] in ids]
        if "export" in request.query:
            name = request.query["export"][0]
            templates = self.database.where("extras/export-templates", name=name)
            fitting = [each for each in templates if model.object_type in each["object_types"]]
            if not fitting:
                raise RefusedError(404, "Not found.")
            text = exporting.rendered(self.database, model.path, fitting[0], rows)
            return Answer(200, text, fitting[0]["mime_type"] or "text/plain; charset=utf-8")
        return self._page(request, rows, model)

    def _page(self, request: Request, rows: list[Row], model: Model | None = None) -> Answer:
        limit = _number(request, "limit", PAGE)
        limit = min(limit, MAX_PAGE) or MAX_PAGE
        if "start" in request.query:
            start = _number(request, "start", 0)
            rows = sorted((row for row in rows if row["id"] >= start), key=lambda row: int(row["id"]))
            some = rows[:limit]
            more = self._link(request, start=some[-1]["id"] + 1, limit=limit) if len(some) == limit else None
            return Answer(
                200, {"count": None, "next": more, "previous": None, "results": self._rows(request, some, model)}
            )
        offset = _number(request, "offset", 0)
        some = rows[offset : offset + limit]
        more = self._link(request, offset=offset + limit, limit=limit) if offset + limit < len(rows) else None
        before = self._link(request, offset=max(offset - limit, 0), limit=limit) if offset > 0 else None
        body = {"count": len(rows), "next": more, "previous": before, "results": self._rows(request, some, model)}
        return Answer(200, body)

    def _link(self, request: Request, **changed: int) -> str:
        query = {**request.query, **{name: [str(each)] for name, each in changed.items()}}
        if query.get("offset") == ["0"]:
            del query["offset"]
        return f"{self.url}/api/{request.path}/?{urlencode(sorted(query.items()), doseq=True)}"

    def _create(self, request: Request, model: Model, user: Row) -> Answer:
        more = {"created_by": user["id"]} if model.path == "extras/journal-entries" else {}

        def make(given: Any) -> Row:
            row = self.database.create(model.path, _mapping(given), only=_fields(request), **more)
            if not self._allowed(model, "add", user, [row]):
                raise DeniedError
            return row | {"fresh": True} if model.path == "users/tokens" else row

        if isinstance(request.body, list):
            made = bulk.each("created", "index", enumerate(request.body), make)
            return Answer(201, self._rows(request, made, model))
        row = make(request.body)
        return Answer(201, self._row(request, model, row), headers=_tagged(row))

    def _bulk_change(self, request: Request, model: Model, allowed: list[Row]) -> Answer:
        wanted = bulk.wanted(request.body, allowed)

        def change(row: Row) -> None:
            self._matching(request, row)
            self.database.change(model.path, row["id"], wanted[row["id"]], _fields(request))

        bulk.each("updated", "id", self._numbered(model, wanted), change)
        return Answer(200, self._rows(request, [row for _, row in self._numbered(model, wanted)], model))

    def _bulk_delete(self, request: Request, model: Model, allowed: list[Row]) -> Answer:
        wanted = bulk.wanted(request.body, allowed)

        def delete(row: Row) -> None:
            self._matching(request, row)
            if row["id"] in self.database.lists[model.path]:  # it may have gone with one before it
                self.database.delete(model.path, row["id"], wanted[row["id"]].get("changelog_message", ""))

        bulk.each("deleted", "id", self._numbered(model, wanted), delete)
        return Answer(204)

    def _numbered(self, model: Model, ids: Iterable[int]) -> list[tuple[int, Row]]:
        """Return objects of a list in its order, each with its id."""
        rows = [self.database.lists[model.path][one] for one in ids]
        return [(row["id"], row) for row in filtering.ordered(self.database, model.path, rows)]

    def _matching(self, request: Request, row: Row) -> None:
        tags = [each.strip() for each in request.if_match.split(",") if each.strip()]
        if tags and tags != ["*"] and etag(row) not in tags:
            refused = RefusedError(412, "Precondition failed.")
            refused.headers["ETag"] = etag(row)
            raise refused

    def _rows(self, request: Request, rows: Iterable[Row], model: Model | None) -> list[Row]:
        return [self._row(request, model, row) if model else row for row in rows]

    def _row(self, request: Request, model: Model, row: Row) -> Row:
        fields = _fields(request) or (brief_fields(model) if "brief" in request.query else [])
        omit = [one for one in request.query.get("omit", [""])[0].split(",") if one]
        return self.shown.row(model.path, row, fields, omit)

    def _user(self, request: Request) -> Row:
        """Return the user whose token a request carries."""
        word, _, text = request.authorization.partition(" ")
        if word not in {"Token", "Bearer"}:
            raise RefusedError(403, "Authentication credentials were not provided.")
        tokens = self.database.lists["users/tokens"].values()
        two = text.startswith("nbt_")
        for token in tokens:
            whole = f"nbt_{token['key']}.{token['plaintext']}" if token["version"] == 2 else token["plaintext"]
            if whole == text and token["enabled"]:
                request.write_enabled = token["write_enabled"]
                if request.method not in {"GET", "OPTIONS"} and not token["write_enabled"]:
                    raise DeniedError
                return self.database.lists["users/users"][token["user"]]
        raise RefusedError(403, f"Invalid v{2 if two else 1} token")

    def _allowed(self, model: Model, action: str, user: Row, some: Iterable[Row] | None = None) -> list[Row]:
        """Return which of some or all objects a user may view, make, change or delete. Raises DeniedError."""
        rows = list(self.database.lists[model.path].values() if some is None else some)
        fitting = self._granted(model, action, user)
        if fitting is None:
            raise DeniedError
        if not fitting:
            return rows
        constraints = [one for each in fitting for one in _constraints(each["constraints"])]
        every = exporting.Several(self.database, model.path, rows)
        kept = {row["id"] for one in constraints for row in every.filter(**one).rows()}
        return [row for row in rows if row["id"] in kept]

    def _granted(self, model: Model, action: str, user: Row) -> list[Row] | None:
        """Return the permissions that let a user do something: none need be for an administrator, None if none do."""
        if user.get("is_superuser"):
            return []
        fitting = [
            each
            for each in self.database.lists["users/permissions"].values()
            if each["enabled"]
            and action in each["actions"]
            and model.object_type in each["object_types"]
            and (user["id"] in each["users"] or set(user["groups"]) & set(each["groups"]))
        ]
        return fitting or None

    def _object_types(self) -> list[Row]:
        found = [each.partition(".") for each in object_types()]
        return [
            {"id": number, "app_label": app, "model": name, "display": f"{app} | {name}"}
            for number, (app, _, name) in enumerate(found, 1)
        ]


def _fields(request: Request) -> list[str] | None:
    """Return the fields that the address names, None where it names none."""
    return [one for one in request.query["fields"][0].split(",") if one] if "fields" in request.query else None


def etag(row: Row) -> str:
    """Return an object's entity tag."""
    return f'W/"{row["last_updated"].isoformat()}"'


def _tagged(row: Row) -> dict[str, str]:
    return {"ETag": etag(row)} if row.get("last_updated") else {}


def _constraints(given: Any) -> list[Row]:
    if not given:
        return [{}]
    return given if isinstance(given, list) else [given]


def _mapping(given: Any) -> Mapping[str, Any]:
    if not isinstance(given, Mapping):
        text = f"Invalid data. Expected a dictionary, but got {type(given).__name__}."
        raise InvalidError({"non_field_errors": [text]})
    return given


def _number(request: Request, name: str, otherwise: int) -> int:
    try:
        return max(int(request.query.get(name, [str(otherwise)])[0]), 0)
    except ValueError:
        return otherwise
