"""The rights of the example, proven: everything else that the API server has is tried with them, and refused."""

import ssl
import urllib.error
import urllib.request
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any, NamedTuple

import pytest

from tests import kube

pytestmark = [kube.needed, pytest.mark.nightly]

METHODS = {
    "get": "GET", "list": "GET", "watch": "GET", "create": "POST", "update": "PUT", "patch": "PATCH",
    "delete": "DELETE", "deletecollection": "DELETE",
}  # fmt: skip
WHOLE = frozenset({"list", "watch", "create", "deletecollection"})
"""Verbs that name no object."""

OURS = {
    *(("", "nodes", verb) for verb in ("get", "list", "patch")),
    ("", "nodes/status", "patch"),
    ("", "pods", "list"),
    ("", "pods/eviction", "create"),
}
THEIRS = {("fleet-runner.dev", "noderemediations", "list"), ("fleet-runner.dev", "noderemediations/status", "patch")}
"""In the namespace fleet-runner alone, by the roles of docs/examples/kubernetes-remediations.yml."""

EVENTS = {(group, "events", verb) for group in ("", "events.k8s.io") for verb in ("create", "get", "patch")}
"""In the namespace default alone."""

EVERYBODYS = {
    ("authorization.k8s.io", "selfsubjectaccessreviews", "create"),
    ("authorization.k8s.io", "selfsubjectrulesreviews", "create"),
}
"""What Kubernetes lets whoever has logged in ask of themselves."""


class Act(NamedTuple):
    """One verb on one resource."""

    group: str
    resource: str
    verb: str
    path: str
    namespace: str


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[kube.ApiServer]:
    """An API server with a user who has our roles."""
    with kube.running(tmp_path_factory.mktemp("kube")) as found:
        found.grant()
        found.extend()
        yield found


def acts(server: kube.ApiServer) -> Iterator[Act]:
    """Yield every verb on every resource that the server says it has, in three namespaces."""
    groups = [each["preferredVersion"]["groupVersion"] for each in server.ask("GET", "/apis")["groups"]]
    for version in ("v1", *groups):
        base = f"/api/{version}" if version == "v1" else f"/apis/{version}"
        for each in server.ask("GET", base)["resources"]:
            verbs = {*each["verbs"], *(["get"] if "/" in each["name"] else METHODS)}
            for namespace in ("default", "kube-system", "fleet-runner") if each["namespaced"] else ("",):
                for verb in sorted(verbs & METHODS.keys()):
                    group = version.partition("/")[0] if "/" in version else ""
                    yield Act(group, each["name"], verb, _path(base, each["name"], verb, namespace), namespace)


def _path(base: str, resource: str, verb: str, namespace: str) -> str:
    name, _, part = resource.partition("/")
    place = f"{base}/namespaces/{namespace}/{name}" if namespace else f"{base}/{name}"
    if part:
        return f"{place}/some/{part}"
    return place + ("?watch=1&timeoutSeconds=1" if verb == "watch" else "") if verb in WHOLE else f"{place}/some"


def is_allowed(act: Act) -> bool:
    known = act[:3]
    there = THEIRS if act.namespace == "fleet-runner" else EVENTS if act.namespace == "default" else frozenset()
    return known in OURS or known in EVERYBODYS or known in there


def status(server: kube.ApiServer, act: Act) -> int:
    """Return what the API server answers to our user."""
    context = ssl.create_default_context(cafile=str(server.ca))
    headers = {"Authorization": f"Bearer {kube.DRAINER}", "Content-Type": "application/json"}
    if act.verb == "patch":
        headers["Content-Type"] = "application/merge-patch+json"
    body = b"{}" if METHODS[act.verb] in {"POST", "PUT", "PATCH"} else None
    asked = urllib.request.Request(server.url + act.path, body, headers, method=METHODS[act.verb])  # noqa: S310  127.0.0.1
    try:
        with urllib.request.urlopen(asked, context=context, timeout=60) as answer:  # noqa: S310  likewise
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


def test_each_verb_that_is_not_ours_is_refused_and_each_of_ours_is_not(server: kube.ApiServer) -> None:
    """Whatever the object: who is refused does not learn whether there is one."""
    every = list(acts(server))
    answers: dict[Act, Any] = {act: status(server, act) for act in every}
    refused = {act for act, code in answers.items() if code == HTTPStatus.FORBIDDEN}
    assert {act for act in every if is_allowed(act)} == set(every) - refused
    assert {act[:3] for act in every if is_allowed(act)} == OURS | EVENTS | THEIRS | EVERYBODYS
    assert len(refused) > 400
