"""Kubernetes, through its official client: nodes are cordoned and tainted, pods are evicted, never deleted.

Two marks, because two things keep work away. The taint is ours alone, so a person who uncordons a node that we
drained gives it no work, and one who cordons it as well is left that. The cordon is what people see, and is undone
only where we set it.
"""

import time
from collections.abc import Callable, Collection, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any

from fleet_runner.adapters.schedulers import kubernetes_refusals as refusals
from fleet_runner.adapters.schedulers.kubeconfig import Kubeconfig
from fleet_runner.core.base.errors import EvidenceError, SchedulerError, SettingsError
from fleet_runner.core.checks.parsers import kubernetes_node
from fleet_runner.core.checks.parsers.json_text import json_object, objects
from fleet_runner.core.checks.parsers.kubernetes_node import CORDONED, MANAGER, TAINT
from fleet_runner.core.inventory.consistency import show
from fleet_runner.core.lifecycle.scheduler import By, SchedulerOutcome, Seen, holds, lifted, listed, marked, name

PATIENCE = (5.0, 20.0)
"""Seconds to connect to the API server, and to wait for each piece of an answer."""

BODY_BYTES = 32_000_000
PAGE = 500
PATCH = "application/strategic-merge-patch+json"
TRIES = 4
"""Writes of a node that somebody else has written meanwhile; kubelets write theirs every few seconds."""

CONDITION = "FleetRunnerDrained"
PAUSE = 2.0
"""Seconds before a pod that a disruption budget keeps is asked for again, and before one that ends is looked at."""

ROUND = 60.0
"""Seconds in which one after the other is asked to end; the next look asks the rest."""

MOST_GRACE = 480
"""Seconds of grace of a pod that are waited for at most: a reset of GPUs has a quarter of an hour for all it does."""

HURRY = 1
"""Seconds of grace of a pod that wants none: with 0 the API server forgets it while its processes still run."""

BUDGET, LATER = "a disruption budget", "there was no time to ask for all"
BUSY = "the API server has too much to do"
AGAIN = frozenset({BUDGET, LATER, BUSY})
"""Why pods stay that are asked for again."""


def opened(file: Path) -> "Kubernetes":
    """Return the cluster that a kubeconfig's current context names; SettingsError where it cannot be used."""
    kubeconfig = Kubeconfig(file)
    chosen = kubeconfig.read()
    import kubernetes  # noqa: PLC0415  what reads a kubeconfig has it

    return Kubernetes(kubernetes.client.CoreV1Api(kubernetes.client.ApiClient(chosen)), kubeconfig)


class Kubernetes:
    """One cluster, by the rights of one kubeconfig."""

    def __init__(self, api: Any, kubeconfig: Kubeconfig | None = None) -> None:
        self.api = api
        self._kubeconfig = kubeconfig

    def drain(self, node: str, reason: str, by: By, *, dry: bool = False) -> SchedulerOutcome:
        """Taint and cordon a node; its pods stay, and new ones do not come."""
        for _ in range(TRIES):
            raw = self._node(node)
            said, seen = _said(node, raw, [])
            if seen.owner:
                return SchedulerOutcome(changed=False, told=f"it is left to {seen.owner}")
            if holds(seen.ours, by) and said["unschedulable"]:
                ended = self._dismiss(node, dry=dry)
                return SchedulerOutcome(changed=bool(ended), told=f"it is drained already: {seen.why}{ended}")
            if seen.ours is None and kubernetes_node.is_ours(said):
                return SchedulerOutcome(
                    changed=False, told=f"somebody has changed its reason, left as it is: {seen.why}"
                )
            text = seen.why if holds(seen.ours, by) else marked(node, reason, by)
            notes: dict[str, str | None] = {TAINT: text}
            notes |= {} if said["unschedulable"] else {CORDONED: "true"}
            taints = [*_others(raw), {"key": TAINT, "effect": "NoSchedule"}]
            if dry or self._write(node, raw, notes, {"unschedulable": True, "taints": taints}):
                if not dry:
                    self._say(node, "True", text)
                left = ", and cordoned by somebody else, which stays" if said["unschedulable"] else ""
                ended = self._dismiss(node, dry=dry)
                return SchedulerOutcome(changed=True, told=f"Kubernetes gives it no new pods{left}{ended}")
        raise SchedulerError(f"Kubernetes: node {node} is written by others all the time; it is tried again")

    def resume(self, node: str, by: By, *, dry: bool = False) -> SchedulerOutcome:
        """Take our taint away, and the cordon where it is ours."""
        for _ in range(TRIES):
            raw = self._node(node)
            said, seen = _said(node, raw, [])
            if seen.ours not in lifted(by):
                left = f"is {seen.state} by somebody else, left as it is: {seen.why}"
                return SchedulerOutcome(changed=False, told="it takes work" if seen.takes_work else f"it {left}")
            cordon = said["unschedulable"] and not kubernetes_node.is_cordoned_by_us(said)
            spec: dict[str, Any] = {"taints": _others(raw) or None}
            spec |= {} if cordon or not said["unschedulable"] else {"unschedulable": None}
            if dry or self._write(node, raw, {TAINT: None, CORDONED: None}, spec):
                if not dry:
                    self._say(node, "False", "it serves")
                left = "somebody else has cordoned it, which stays" if cordon else "Kubernetes may give it pods again"
                return SchedulerOutcome(changed=True, told=left)
        raise SchedulerError(f"Kubernetes: node {node} is written by others all the time; it is tried again")

    def evict(self, node: str, seconds: float, *, devices: bool = False, dry: bool = False) -> SchedulerOutcome:
        """Have the pods on a node evicted, and wait until they are gone, or the time is over: say which stay.

        Those that hear of it from their kubelet have their own grace period, too: a job may write its checkpoint.
        """
        begun, said = time.monotonic(), self.read(node)
        pods = said["pods"]
        found = kubernetes_node.standing(pods, devices=devices)
        if dry or not found:
            return SchedulerOutcome(changed=bool(found), told=f"{len(found)} pods to evict")
        version, left, kept = self._eviction(), found, dict[str, str]()
        hurried = kubernetes_node.hurried(pods)
        grace = kubernetes_node.grace(pods, found.keys() - hurried) if said["ready"] == "True" else 0
        until = begun + max(seconds, min(grace, MOST_GRACE))
        while left:
            kept = self._kept([pod for pod, ending in left.items() if not ending], version, hurried)
            left = kubernetes_node.standing(self.read(node)["pods"], devices=devices)
            may_end = any(kept.get(pod, BUDGET) in AGAIN for pod in left)
            if not may_end or time.monotonic() >= until:
                break
            time.sleep(PAUSE)
        ends = tuple(pod for pod in left if pod not in kept)
        told = f"{len(found)} pods were to end{_keeps({pod: why for pod, why in kept.items() if pod in left})}"
        told += f"; not ended yet: {listed(ends)}" if ends else ""
        return SchedulerOutcome(changed=len(left) < len(found), told=told)

    def _dismiss(self, node: str, *, dry: bool) -> str:
        """Have the pods of a drained node evicted that say that they may be; say of how many it was asked.

        What is refused is said and no more: the node is drained, and what is left on it is read after this.
        """
        try:
            pods = self.read(node)["pods"]
            found = [pod for pod, ending in kubernetes_node.willing(pods).items() if not ending]
            kept = self._kept(found, self._eviction(), kubernetes_node.hurried(pods)) if found and not dry else {}
        except SchedulerError as error:
            return f"; no pod was asked to end: {error}"
        asked = len(found) - len(kept)
        return (f"; {asked} pods that may be interrupted are to end" if asked else "") + _keeps(kept)

    def read(self, node: str) -> dict[str, Any]:
        """Return the node and its pods, without what tenants keep in them."""
        raw = self._node(node)
        return _said(node, raw, self._pods(node))[0]

    def _node(self, node: str) -> dict[str, Any]:
        try:
            asked = name(node)
        except EvidenceError as error:
            raise SchedulerError(f"Kubernetes: {error}") from error
        return self.ask(self.api.read_node, f"node {node}", name=asked)[1]

    def labelled(self, namespace: str, label: str, value: str, most: int) -> list[dict[str, Any]]:
        """Return the pods of a namespace that have a label, whole; of more than `most` at least one more."""
        asked = {"namespace": namespace, "label_selector": f"{label}={value}"}
        return self._paged(self.api.list_namespaced_pod, f"the pods {label}={value} in {namespace}", most, asked)

    def _pods(self, node: str) -> list[dict[str, Any]]:
        asked = {"field_selector": f"spec.nodeName={node}"}
        call = self.api.list_pod_for_all_namespaces
        return self._paged(call, f"the pods of node {node}", kubernetes_node.MOST_PODS, asked)

    def _paged(
        self, call: Callable[..., Any], what: str, most: int, asked: Mapping[str, Any]
    ) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        after: str | None = None
        while len(found) <= most:
            page = self.ask(call, what, (), **{**asked, "limit": PAGE, "_continue": after})[1]
            found += _objects(page.get("items"), what)
            (meta,) = _objects([page.get("metadata") or {}], what)
            after = str(meta.get("continue") or "") or None
            if after is None:
                break
        return found

    def _write(
        self, node: str, raw: Mapping[str, Any], notes: Mapping[str, str | None], spec: Mapping[str, Any]
    ) -> bool:
        """Write a node as it was read; False where somebody else has written it since."""
        metadata = {"resourceVersion": raw["metadata"].get("resourceVersion"), "annotations": notes}
        body = {"metadata": metadata, "spec": spec}
        status, _ = self.ask(
            self.api.patch_node, f"node {node}", {HTTPStatus.CONFLICT}, name=node, body=body, field_manager=MANAGER,
            _content_type=PATCH,
        )  # fmt: skip
        return status != HTTPStatus.CONFLICT

    def _say(self, node: str, status: str, message: str) -> None:
        """Keep a condition of the node, where our rights are enough; nothing depends on it."""
        condition = {"type": CONDITION, "status": status, "reason": "FleetRunner", "message": message}
        self.ask(
            self.api.patch_node_status, f"conditions of node {node}", {HTTPStatus.FORBIDDEN}, name=node,
            body={"status": {"conditions": [condition]}}, field_manager=MANAGER, _content_type=PATCH,
        )  # fmt: skip

    def _eviction(self) -> str:
        """Return the version of evictions that the API server takes: policy/v1 since 1.22."""
        said = self.ask(self.api.get_api_resources, "its resources")[1]
        known = _objects(said.get("resources"), "its resources")
        mine = next((each for each in known if each.get("name") == "pods/eviction"), {})
        return f"policy/{mine.get('version') or 'v1'}"

    def _kept(self, pods: Collection[str], version: str, hurried: Collection[str]) -> dict[str, str]:
        """Ask for evictions, some seconds long; return the pods that stay, each with why. One keeps no other."""
        until, kept = time.monotonic() + ROUND, dict[str, str]()
        for pod in pods:
            if time.monotonic() >= until:
                kept[pod] = LATER
            elif why := self._evict(pod, version, hurried=pod in hurried):
                kept[pod] = why
        return kept

    def _evict(self, pod: str, version: str, *, hurried: bool) -> str:
        """Ask for one eviction, with or without a grace period; return why it stays, "" where it is to end."""
        namespace, _, short = pod.partition("/")
        body: dict[str, Any] = {"apiVersion": version, "kind": "Eviction"}
        body |= {"metadata": {"name": short, "namespace": namespace}}
        body |= {"deleteOptions": {"gracePeriodSeconds": HURRY}} if hurried else {}
        try:
            status, said = self.ask(
                self.api.create_namespaced_pod_eviction, f"the eviction of pod {pod}",
                {HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.NOT_FOUND}, name=short, namespace=namespace, body=body,
            )  # fmt: skip
        except SchedulerError as error:
            return str(error)
        if status != HTTPStatus.TOO_MANY_REQUESTS:
            return ""
        return BUDGET if refusals.is_of_budget(said) else BUSY

    def ask(
        self, call: Callable[..., Any], what: str, expected: Collection[int] = (), **asked: Any
    ) -> tuple[int, dict[str, Any]]:
        """Return the status and the JSON of an answer, {} where a no has none.

        Raises:
            SchedulerError: a no that is not expected, or no answer.
        """
        from kubernetes.client import ApiException  # noqa: PLC0415  whoever has a client has this

        self._renew()
        try:
            answer = call(**asked, _preload_content=False, _request_timeout=PATIENCE)
            text = answer.read(BODY_BYTES + 1)
            answer.close()
        except ApiException as error:
            status = error.status or 0
            if status in expected:
                return status, refusals.said(error.body)
            if status == HTTPStatus.UNAUTHORIZED and self._kubeconfig is not None:
                self._kubeconfig.forget()
            no = SchedulerError(f"Kubernetes refused {what}: {refusals.no(status, error.body)}")
            no.seconds = refusals.rest(status, error.headers)
            raise no from None
        except Exception as error:  # noqa: BLE001  urllib3's, and those of the client's own checks
            why = show(f"{type(error).__name__}: {error}")
            raise SchedulerError(f"Kubernetes does not answer about {what}: {why}; is the API server up?") from None
        if len(text) > BODY_BYTES:
            raise SchedulerError(f"Kubernetes answers about {what} without end, expected at most {BODY_BYTES} bytes")
        try:
            return HTTPStatus.OK, json_object(text.decode(errors="replace"), f"what the API server says of {what}")
        except EvidenceError as error:
            raise SchedulerError(f"Kubernetes: {error}") from error

    def _renew(self) -> None:
        """Go on with what the kubeconfig says now, if it has changed: all that uses the client goes on with it."""
        if self._kubeconfig is None or self._kubeconfig.is_read:
            return
        from kubernetes.client.rest import RESTClientObject  # noqa: PLC0415  as above

        try:
            chosen = self._kubeconfig.read()
        except SettingsError as error:
            raise SchedulerError(str(error)) from error
        client = self.api.api_client
        client.configuration, client.rest_client = chosen, RESTClientObject(chosen)


def _said(node: str, raw: Mapping[str, Any], pods: list[dict[str, Any]]) -> tuple[dict[str, Any], Seen]:
    """Return what is kept of a node and its pods, and what it means."""
    try:
        said = kubernetes_node.kept(raw, pods)
        return said, kubernetes_node.parse(node, said)
    except EvidenceError as error:
        raise SchedulerError(f"Kubernetes: {error}") from error


def _keeps(kept: Mapping[str, str]) -> str:
    """Say which pods stay, and why: those of disruption budgets, and those that were refused, with the first no."""
    budgets = tuple(pod for pod, why in kept.items() if why == BUDGET)
    refused = tuple(pod for pod in kept if pod not in budgets)
    told = f"; kept by {BUDGET}: {listed(budgets)}" if budgets else ""
    return f"{told}; kept: {listed(refused)}: {kept[refused[0]]}" if refused else told


def _others(raw: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the taints of a node that are not ours, whole."""
    return [taint for taint in (raw.get("spec") or {}).get("taints") or [] if taint.get("key") != TAINT]


def _objects(value: Any, what: str) -> list[dict[str, Any]]:
    try:
        return objects(value or [], what)
    except EvidenceError as error:
        raise SchedulerError(f"Kubernetes: {error}") from error
