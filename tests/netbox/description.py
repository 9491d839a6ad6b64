"""What the reduced OpenAPI description of NetBox says about each list, as the stand-in and the tests use it."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from tests.netbox.describe import DESCRIPTION

Json = Any

PLURALS = {"virtual-chassis": "virtualchassis", "permissions": "objectpermission"}
ALWAYS = ("export", "cf_", "format")
"""Query parameters, or how they begin, that NetBox takes and does not describe."""


@dataclass(frozen=True, slots=True)
class Shape:
    """What a field shows or takes: a plain value, a choice, one object of a list, or several."""

    kind: str
    of: str = ""
    nullable: bool = False
    empty: Any = None
    choices: Mapping[str, str] | None = None
    longest: int = 0
    shortest: int = 0


@dataclass(frozen=True, slots=True)
class Model:
    """One list: its objects' fields as they are shown, and as they are written; `schema` is as "DeviceType"."""

    path: str
    schema: str
    shown: Mapping[str, Shape]
    written: Mapping[str, Shape]
    required: tuple[str, ...]
    methods: frozenset[str]
    parameters: frozenset[str]

    @property
    def object_type(self) -> str:
        """Return the name of its kind of object, as "dcim.device"."""
        return object_type(self.path)

    @property
    def words(self) -> str:
        """Return the name of its kind of object, as "device type"."""
        text = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", self.schema)
        return " ".join(word if word.isupper() else word.lower() for word in _apart(text).split())


def object_type(path: str) -> str:
    """Return "dcim.devicetype" for "dcim/device-types"."""
    app, _, plural = path.partition("/")
    if plural in PLURALS:
        return f"{app}.{PLURALS[plural]}"
    name = plural.replace("-", "")
    for end, one in (("entries", "entry"), ("addresses", "address"), ("s", "")):
        if name.endswith(end):
            return f"{app}.{name.removesuffix(end)}{one}"
    return f"{app}.{name}"


def _apart(text: str) -> str:
    return text.replace("IPAddress", "IP Address").replace("MACAddress", "MAC Address")


@cache
def document() -> Json:
    """Return the reduced description."""
    return json.loads(DESCRIPTION.read_text("utf-8"))


@cache
def models() -> Mapping[str, Model]:
    """Return the lists by their paths ("dcim/devices")."""
    found = {}
    for place, operations in document()["paths"].items():
        path = place.removeprefix("/api/").strip("/")
        if "{" in path or path == "status":
            continue
        page = operations["get"]["responses"]["200"]["content"]["application/json"]["schema"]["x-page-of"]
        body = _body(operations.get("post"))
        schema = _named(page)
        found[path] = Model(
            path,
            page["$ref"].rpartition("/")[2],
            {name: _shape(each) for name, each in schema["properties"].items()},
            {name: _shape(each) for name, each in body.get("properties", {}).items()},
            tuple(body.get("required", ())),
            frozenset(operations),
            frozenset(operations["get"].get("x-query", ())),
        )
    return found


@cache
def by_object_type() -> Mapping[str, Model]:
    """Return the lists by the names of their objects' kinds ("dcim.device")."""
    return {model.object_type: model for model in models().values()}


@cache
def nested(schema: str) -> tuple[str, ...]:
    """Return the fields of an object that is shown inside another."""
    return tuple(document()["components"]["schemas"][schema]["properties"])


@cache
def listed(schema: str) -> str:
    """Return the list that holds objects shown as a schema ("BriefDevice"), or "" for a list left out here."""
    name = schema.removeprefix("Brief").removeprefix("Nested").removesuffix("Request")
    for model in models().values():
        if model.schema == name:
            return model.path
    return ""


def problems(method: str, path: str, query: Mapping[str, Any], body: Json) -> list[str]:
    """Say what of a request NetBox does not describe: it would silently ignore most of it."""
    place = f"/api/{path}/"
    parts = path.split("/")
    if parts[-1].isdigit():
        place = "/api/" + "/".join(parts[:-1]) + "/{id}/"
    if place not in document()["paths"]:
        return [f"{place}: no such path in tests/netbox/openapi.json"]
    if path == "status":
        return []
    if method.lower() not in document()["paths"][place]:
        return [f"{method} {place}: no such method"]
    model = models()["/".join(parts[:2])]
    allowed = model.parameters if method == "GET" else {"fields", "omit"}
    found = [f"{place}: no parameter {name}" for name in query if name not in allowed and not name.startswith(ALWAYS)]
    named = [one for text in query.get("fields", ()) for one in text.split(",")]
    shown = {*model.shown, "changelog_message"}
    found.extend(f"{place}: fields= names {name}, which is not shown" for name in named if name not in shown)
    known = {"id", "changelog_message"} | ({*model.written} if method != "DELETE" else set())
    for row in body if isinstance(body, list) else [body] if body else []:
        found.extend(f"{method} {place}: no field {name} in what it takes" for name in row if name not in known)
    return found


def _body(operation: Json) -> Json:
    if not operation:
        return {}
    schema = operation["requestBody"]["content"]["application/json"]["schema"]
    return _named(schema.get("oneOf", [schema])[0])


def _named(schema: Json) -> Json:
    return document()["components"]["schemas"][schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema


def _shape(schema: Json) -> Shape:  # noqa: PLR0911  one for each form of a field
    nullable = bool(schema.get("nullable"))
    if "x-choice" in schema:
        return Shape("choice", nullable=nullable, choices=_named(schema["x-choice"]).get("x-choices"), empty="")
    if inner := schema.get("oneOf") or schema.get("allOf"):
        last = _shape(inner[-1])
        return Shape(
            last.kind, last.of, nullable or last.nullable, None if nullable else last.empty, longest=last.longest
        )
    if reference := schema.get("$ref"):
        name = reference.rpartition("/")[2]
        if name.startswith("Choices"):
            return Shape("plain choice", choices=_named(schema)["x-choices"], empty="")
        return Shape("one", name, nullable)
    if schema.get("type") == "array":
        inner = schema["items"]
        if "$ref" in inner and "Choices" not in inner["$ref"]:
            return Shape("many", inner["$ref"].rpartition("/")[2], empty=())
        return Shape("values", empty=())
    empties = {"string": "", "boolean": False, "integer": None, "number": None, "object": {}}
    empty = None if nullable else empties.get(schema.get("type", ""))
    return Shape(
        "value",
        schema.get("type", ""),
        nullable,
        empty,
        longest=schema.get("maxLength", 0),
        shortest=schema.get("minLength", 0),
    )
