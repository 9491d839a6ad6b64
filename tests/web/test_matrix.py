"""Every route with every role: whoever may not ask gets the right code and nothing else, whatever is routed."""

import asyncio
import re
import threading
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute, iter_route_contexts
from starlette.routing import Mount

from fleet_runner.core.access.roles import RIGHTS, Right, Role
from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.faults.signals.tokens import Token
from fleet_runner.core.lifecycle.actions import OpenTicket
from fleet_runner.core.lifecycle.states import State
from fleet_runner.services.http.admission import make
from fleet_runner.settings import Settings
from fleet_runner.web.access import rights, who
from fleet_runner.web.app import application, routed
from fleet_runner.web.site import Site
from tests.web.hall import NOW, Hall, act

OPEN = {("GET", "/login"), ("POST", "/login"), ("GET", "/oidc/login"), ("GET", "/oidc/callback")}
"""Routes that whoever has not logged in may ask."""

ANYBODY = {("GET", "/"), ("POST", "/logout"), ("GET", "/api/v1/openapi.json")}
"""Routes that everybody may ask who has."""

MOUNTS = {"/static", "/htmx"}

NOBODIES = ("nobody", "expired", "revoked", "ingest", "of no tenant")
ROLES = (Role.OPERATOR, Role.TECHNICIAN, Role.VIEWER, Role.TENANT)

NODE = re.compile(r"gpu-\d{5}")


class Route(NamedTuple):
    """One method of one path, and the rights that it names."""

    method: str
    path: str
    rights: tuple[Right, ...]
    knows: bool


class Said(NamedTuple):
    """What was asked, by whom, and how it was answered."""

    route: Route
    url: str
    role: str
    status: int
    text: str


def routes(app: Any) -> list[Route]:
    """Return every method of every route of the application, also of routers in it."""
    found = []
    for each in iter_route_contexts(app.routes):
        if isinstance(each.original_route, Mount):
            continue
        assert isinstance(each.original_route, APIRoute), f"{each.path} is no route that could name a right"
        dependant = each.dependant
        found += [Route(method, each.path, rights(dependant), asks(dependant)) for method in sorted(each.methods)]
    return found


def asks(dependant: Dependant) -> bool:
    """Whether a route asks who it is."""
    return dependant.call is who or any(asks(each) for each in dependant.dependencies)


@pytest.fixture(scope="module")
def here(hall: Hall, tmp_path_factory: pytest.TempPathFactory) -> Site:
    """A site whose streams end at once, and whose minutes pass quickly: nobody asks too often."""
    folder: Path = tmp_path_factory.mktemp("state")
    settings = Settings(web_listen="127.0.0.1:0", state_dir=folder, source=str(folder / "site"))
    seconds, stop = count(), threading.Event()
    stop.set()
    mine, other = owned(hall, "Acme")[0], owned(hall, "Globex")[0]
    title, recable = f"{mine}: ib0 and {other} ib0 are swapped", Remedy.RECABLE.value
    act(
        hall.store, mine,
        OpenTicket("cabling/both", "cabling", title, f"1. Pull {other} ib0.", (mine, other), recable, NOW),
        at=NOW - 60, waiting=f"waits for {other}",
    )  # fmt: skip
    return Site(
        settings, hall.store, lambda: hall.fleet, clock=lambda: NOW, steady=lambda: 60.0 * next(seconds), stop=stop
    )


@pytest.fixture(scope="module")
def tokens(here: Site) -> dict[str, str]:
    """What each shows: roles, and those who are nobody."""
    shown: dict[str, str] = {"nobody": ""}
    for role in (*(each.value for each in ROLES), *NOBODIES[1:]):
        shown[role], digest = make()
        scope = {"expired": "operator", "revoked": "operator", "of no tenant": "tenant"}.get(role, role)
        name, until = role.replace(" ", "-"), NOW - 1 if role == "expired" else None
        tenant = "Acme" if role == "tenant" else ""
        here.store.add_token(Token(name, digest, NOW - 60, "tests", scope=scope, tenant=tenant, until=until))
    here.store.revoke_token("revoked", NOW - 1)
    return shown


def owned(hall: Hall, tenant: str) -> list[str]:
    """Return the names of a tenant's nodes."""
    return [name for name in hall.names if hall.fleet.devices[name].tenant == tenant]


def filled(path: str, values: dict[str, str]) -> str:
    """Return a route's path with its parameters filled."""
    return re.sub(r"\{(\w+)(?::\w+)?\}", lambda found: values.get(found[1], "1"), path)


def asked(here: Site, asking: list[tuple[Route, str, str]], tokens: dict[str, str]) -> Iterator[Said]:
    """Ask all of it, one after the other."""

    async def ask() -> list[Said]:
        transport = httpx.ASGITransport(application(here), raise_app_exceptions=False)  # type: ignore[arg-type]  # our own words for ASGI's
        async with httpx.AsyncClient(transport=transport, base_url="http://fleet.example") as client:
            said = []
            for route, url, role in asking:
                headers = {"authorization": f"Bearer {tokens[role]}"} if tokens[role] else {}
                answer = await client.request(route.method, url, headers=headers)
                said.append(Said(route, url, role, answer.status_code, answer.text))
            return said

    yield from asyncio.run(ask())


def values(hall: Hall, name: str) -> dict[str, str]:
    """Return what path parameters of the hall's things may be, of one node."""
    device = hall.fleet.devices[name]
    results = hall.store.results(hall.in_state(State.PRODUCTION)[2])
    digest = next((digest for each in results for digest in each.result.evidence), "0" * 64)
    return {
        "name": name, "node": name, "site": device.site, "rack": device.rack or "",
        "place": f"{device.site}/{device.rack}", "hash": digest, "digest": digest,
        "fabric": "infiniband", "schedule": "passive", "role": "operator", "check": "kernel_log",
    }  # fmt: skip


def test_every_route_names_its_right(here: Site) -> None:
    app = routed(here)
    assert {each.path for each in app.routes if isinstance(each, Mount)} == MOUNTS
    found = routes(app)
    assert len(found) > 40, "they are not all seen"
    unnamed = {(each.method, each.path) for each in found if not each.rights}
    assert unnamed - OPEN - ANYBODY == set()
    assert not {(each.method, each.path) for each in found if each.knows} & OPEN
    assert {(each.method, each.path) for each in found if each.knows} >= ANYBODY


def test_whoever_may_not_ask_gets_the_right_code_and_nothing_else(
    here: Site, hall: Hall, tokens: dict[str, str]
) -> None:
    found = [each for each in routes(routed(here)) if (each.method, each.path) not in OPEN]
    mine = values(hall, owned(hall, "Acme")[0])
    asking = [(route, filled(route.path, mine), role) for role in (*NOBODIES, *ROLES) for route in found]
    wrong = []
    for said in asked(here, asking, tokens):
        held = RIGHTS[Role(said.role)] if said.role in ROLES else frozenset[Right]()
        if said.role in NOBODIES:
            good = said.status == 401
        elif not held.issuperset(said.route.rights):
            good = said.status == 403
        else:
            good = said.status not in {401, 403} and said.status < 500
        if said.status in {401, 403}:
            good = good and not NODE.search(said.text) and len(said.text) < 200
        if not good:
            wrong.append((said.role, said.route.method, said.url, said.status, said.text[:200]))
    assert not wrong, "\n".join(map(str, wrong))


def test_a_tenant_sees_their_own_and_never_a_name_of_anothers(here: Site, hall: Hall, tokens: dict[str, str]) -> None:
    """By path and by search, of one tenant, of no tenant, and where one ticket is about nodes of two."""
    own, others = set(owned(hall, "Acme")), [name for name in hall.names if hall.fleet.devices[name].tenant != "Acme"]
    found = [each for each in routes(routed(here)) if each.method == "GET" and (each.method, each.path) not in OPEN]
    asking = []
    for route in found:
        some = (*sorted(own), *others) if "{" in route.path and Right.OWN in route.rights else (others[0],)
        for name in some:
            url = filled(route.path, values(hall, name))
            asking += [
                (route, url, "tenant"),
                (route, f"{url}?q={name}&name={name}&node={name}&tenant=Globex", "tenant"),
            ]
    seen: set[str] = set()
    for said in asked(here, asking, tokens):
        if Right.OWN not in said.route.rights and (said.route.method, said.route.path) not in ANYBODY:
            assert said.status == 403, (said.url, said.status)
        given, named = set(NODE.findall(said.url)), set(NODE.findall(said.text))
        assert named <= own | (given if said.status == 404 else set()), (said.url, named - own)
        if set(NODE.findall(said.url.partition("?")[0])) - own and "{name}" in said.route.path:
            assert said.status in {403, 404}, (said.url, said.status)
        seen |= named
    assert seen >= {owned(hall, "Acme")[0]}, "their own they do see"


def test_a_tenant_cannot_tell_anothers_node_from_one_that_is_not(
    here: Site, hall: Hall, tokens: dict[str, str]
) -> None:
    found = [each for each in routes(routed(here)) if Right.OWN in each.rights and "{name}" in each.path]
    assert found
    for route in found:
        names = (owned(hall, "Globex")[0], "gpu-99999")
        asking = [(route, filled(route.path, values(hall, names[0]) | {"name": name}), "tenant") for name in names]
        there, away = asked(here, asking, tokens)
        assert there.status == away.status
        assert there.text.replace(*names) == away.text, route.path
