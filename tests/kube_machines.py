"""Machines of Cluster API's in an API server, as far as the tests of NodeRemediations need them."""

from tests import kube, kube_standin

Server = kube.ApiServer | kube_standin.StandIn


def serve(server: Server) -> None:
    """Have the API server know what a Machine is."""
    kind = {"kind": "Machine", "listKind": "MachineList", "plural": "machines", "singular": "machine"}
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    version = {"name": "v1beta2", "served": True, "storage": True, "schema": schema}
    head = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
    meta = {
        "name": "machines.cluster.x-k8s.io",
        "annotations": {"api-approved.kubernetes.io": "unapproved, a test's stand-in"},
    }
    spec = {"group": "cluster.x-k8s.io", "scope": "Namespaced", "names": kind, "versions": [version]}
    server.ask(
        "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {**head, "metadata": meta, "spec": spec}
    )
    kube.until(lambda: server.serves("machines", "cluster.x-k8s.io/v1beta2"))


def add(server: Server, name: str, node: str | None) -> None:
    """Add a Machine that is a node, or has none yet."""
    whole = {"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Machine", "metadata": {"name": name}}
    whole["status"] = {"nodeRef": {"name": node}} if node else {}
    server.ask("POST", "/apis/cluster.x-k8s.io/v1beta2/namespaces/fleet-runner/machines", whole)


def owner(server: Server, name: str) -> dict[str, str]:
    """Return what an object says that a Machine owns."""
    found = server.ask("GET", f"/apis/cluster.x-k8s.io/v1beta2/namespaces/fleet-runner/machines/{name}")
    return {
        "apiVersion": "cluster.x-k8s.io/v1beta2",
        "kind": "Machine",
        "name": name,
        "uid": found["metadata"]["uid"],
    }
