"""NodeRemediations of one namespace, and the objects that say which node each is about."""

from collections.abc import Iterator
from http import HTTPStatus
from typing import Any

from fleet_runner.adapters.schedulers.kubernetes import Kubernetes
from fleet_runner.adapters.schedulers.kubernetes_status import APPLY
from fleet_runner.adapters.schedulers.kubernetes_status import WHYS as OF_NODES
from fleet_runner.core.base.errors import EvidenceError, SchedulerError
from fleet_runner.core.checks.parsers.json_text import objects
from fleet_runner.core.lifecycle.node_remediations import GROUP, KIND, MACHINES, PLURAL, VERSION, Asked

MANAGER = "fleet-runner-remediations"
"""Our name in the API server's account of who sets what: the status, and nothing else."""

PAGE = 100
"""NodeRemediations in one answer: each may be a quarter of a megabyte, by its annotations."""

MOST = 20_000
"""NodeRemediations that are read; of a namespace with more, none is taken."""


CHANGED = frozenset({HTTPStatus.CONFLICT, HTTPStatus.NOT_FOUND})
"""Answers about one that is not what it was when it was read."""


WHYS = OF_NODES | {
    HTTPStatus.FORBIDDEN: "refused; give its user the rights of docs/examples/kubernetes-remediations.yml"
}
"""What one may be refused for while others are told."""


class Remediations:
    """The NodeRemediations of one namespace of a cluster; `nodes` is the cluster whose nodes they are about.

    `name` is what the settings call that one, "" where it has no name.
    """

    def __init__(self, cluster: Kubernetes, nodes: Kubernetes, namespace: str, name: str = "") -> None:
        import kubernetes  # noqa: PLC0415  whoever has a cluster has the client

        self._cluster, self._nodes, self.namespace = cluster, nodes, namespace
        self.place = f"{name}:{namespace}" if name else namespace
        self._api: Any = kubernetes.client.CustomObjectsApi(cluster.api.api_client)

    def listed(self) -> Iterator[dict[str, Any]]:
        """Yield all of them, a page in memory at a time; SchedulerError where not every one can be read."""
        after: str | None = None
        what = f"the NodeRemediations in {self.namespace}"
        for _ in range(MOST // PAGE):
            more = {"_continue": after} if after else {}
            page = self._cluster.ask(
                self._api.list_namespaced_custom_object, what, (), group=GROUP, version=VERSION, plural=PLURAL,
                namespace=self.namespace, limit=PAGE, **more,
            )[1]  # fmt: skip
            try:
                found = objects(page.get("items"), what)
                (meta,) = objects([page.get("metadata") or {}], what)
            except EvidenceError as error:
                raise SchedulerError(f"Kubernetes: {error}") from error
            yield from found
            after = str(meta.get("continue") or "") or None
            if after is None:
                return
        raise SchedulerError(f"Kubernetes has more than {MOST} NodeRemediations in {self.namespace}; delete old ones")

    def say(self, asked: Asked, status: dict[str, Any]) -> str | None:
        """Have one say this; return what is in the way of it, "" for nothing.

        None: it was changed or deleted since it was read, and another one may have its name by now.
        """
        what = f"the status of NodeRemediation {self.namespace}/{asked.name}"
        body = {
            "apiVersion": f"{GROUP}/{VERSION}",
            "kind": KIND,
            "metadata": {"name": asked.name, "namespace": self.namespace, "resourceVersion": asked.version},
            "status": status,
        }
        answer, _ = self._cluster.ask(
            self._api.patch_namespaced_custom_object_status, what, WHYS, group=GROUP, version=VERSION, plural=PLURAL,
            namespace=self.namespace, name=asked.name, body=body, field_manager=MANAGER, force=True,
            _content_type=APPLY,
        )  # fmt: skip
        if answer in CHANGED:
            return None
        return f"{what}: {WHYS[HTTPStatus(answer)]}" if answer in WHYS else ""

    def machine(self, name: str, version: str) -> dict[str, Any]:
        """Return a Machine of Cluster API's beside them, {} where there is none, or none that may be read."""
        status, found = self._cluster.ask(
            self._api.get_namespaced_custom_object, f"Machine {self.namespace}/{name}",
            {HTTPStatus.NOT_FOUND, HTTPStatus.FORBIDDEN}, group=MACHINES, version=version, plural="machines",
            namespace=self.namespace, name=name,
        )  # fmt: skip
        return found if status == HTTPStatus.OK else {}

    def node(self, name: str) -> dict[str, Any]:
        """Return a node of the cluster, {} where there is none."""
        status, found = self._nodes.ask(self._nodes.api.read_node, f"node {name}", {HTTPStatus.NOT_FOUND}, name=name)
        return {} if status == HTTPStatus.NOT_FOUND else found
