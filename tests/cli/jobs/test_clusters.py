"""A job of one cluster of several: nothing is said of a node of the same name in another one."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fleet_runner.adapters.store import Store
from fleet_runner.cli.jobs.evidence import OfFleet
from fleet_runner.core.base.errors import SchedulerError
from fleet_runner.settings import Settings
from tests import kube
from tests.adapters.schedulers.test_kubernetes_answers import Server, kubeconfig

LABEL = "batch.kubernetes.io/job-name"
POD = {
    "metadata": {"namespace": "ml", "name": "train-0", "labels": {LABEL: "train"}},
    "spec": {"nodeName": "gpu-01"},
    "status": {"phase": "Running", "startTime": "2026-11-01T10:00:00Z"},
}


@pytest.fixture
def file(tmp_path: Path) -> Iterator[Path]:
    """The kubeconfig of a cluster in which a job runs on a node that is called gpu-01 there."""
    with Server() as server:
        server.says = {("GET", "/api/v1/namespaces/ml/pods"): (200, json.dumps({"items": [POD]}).encode())}
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield kubeconfig(tmp_path, server.server_address[1])
        server.shutdown()


@pytest.mark.parametrize(("job", "known"), [("ml/train", ("gpu-01",)), ("east:ml/train", ())])
def test_the_store_is_asked_of_the_nodes_that_are_of_the_jobs_cluster(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, job: str, known: tuple[str, ...]
) -> None:
    """The example's gpu-01 names no cluster, so it is of the one without a name."""
    made = Settings(
        scheduler="kubernetes",
        kubeconfig=file,
        kubernetes_clusters={"east": file},
        source=str(kube.RBAC.parent / "site"),
        state_dir=tmp_path,
    )
    asked: list[tuple[str, ...]] = []
    with Store.create(made.store_url) as store:
        about, measured = store.known_of_job, store.measured_of_job

        def spied(call: Any) -> Any:
            return lambda nodes, *more: asked.append(nodes) or call(nodes, *more)

        monkeypatch.setattr(store, "known_of_job", spied(about))
        monkeypatch.setattr(store, "measured_of_job", spied(measured))
        fleet = OfFleet(made, store)
        found = fleet.record(job)
        fleet.about(found.job)
        fleet.compared(found.job)
        with pytest.raises(SchedulerError, match="kubernetes_cluster is 'north', expected east"):
            fleet.record("north:ml/train")
    assert (found.job.id, found.job.nodes) == (job, ("gpu-01",))
    assert asked == [known, known]
    assert any("does not know 1 node of it by the name in that cluster" in each for each in found.notes) is not bool(
        known
    )
