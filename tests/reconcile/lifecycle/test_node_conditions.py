"""Nodes of a real API server told of their machines, with the rights of docs/examples and no others."""

import json
import threading
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fleet_runner.adapters.schedulers import kubernetes
from fleet_runner.adapters.schedulers.kubernetes import Kubernetes
from fleet_runner.core.base.errors import SchedulerError, SettingsError
from fleet_runner.core.budgets.modes import Mode, Scope, Setting
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result, Verdict
from fleet_runner.core.lifecycle.clusters import Names
from fleet_runner.core.lifecycle.clusters import names as names_there
from fleet_runner.core.lifecycle.node_conditions import CONDITIONS, LABELS, STATE
from fleet_runner.core.lifecycle.spool import Judged
from fleet_runner.core.lifecycle.states import Stage
from fleet_runner.reconcile.lifecycle import cluster_loops, node_conditions
from fleet_runner.reconcile.lifecycle.node_conditions import LOOK, ConditionsTeller
from fleet_runner.reconcile.loop.context import TickContext
from tests import kube
from tests.commands import Said, entered
from tests.reconcile.scripted import a_fleet

pytestmark = [kube.needed, pytest.mark.nightly]

RBAC = Path(__file__).resolve().parents[3] / "docs" / "examples" / "kubernetes-rbac.yml"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[kube.ApiServer]:
    """An API server with three nodes, the third one not ours, and a user who has our role."""
    with kube.running(tmp_path_factory.mktemp("kube")) as found:
        found.grant()
        for name in ("gpu-01", "gpu-02", "elsewhere"):
            found.add_node(name)
        yield found


@pytest.fixture
def world(make_world: Callable[..., TickContext]) -> TickContext:
    """Two nodes in a store."""
    made = make_world(count=2)
    made.store.register(list(a_fleet(2).devices.values()), 1.0)
    return made


class Counting(Kubernetes):
    """The cluster, with a list of what it was asked."""

    asked: list[str]

    def ask(self, call: Callable[..., Any], what: str, expected: Collection[int] = (), **asked: Any) -> Any:
        """Note what is asked, and ask it."""
        self.asked.append(what)
        return super().ask(call, what, expected, **asked)


@pytest.fixture
def teller(server: kube.ApiServer, world: TickContext) -> ConditionsTeller:
    """What tells the cluster, after whatever an earlier test said was taken away."""
    cluster = Counting(kubernetes.opened(server.kubeconfig(kube.DRAINER)).api)
    cluster.asked = []
    found = ConditionsTeller(world.store, cluster)
    found.clear()
    return found


def said(server: kube.ApiServer, node: str) -> tuple[dict[str, str], dict[str, Any]]:
    """Return our labels of a node, and our conditions by their types."""
    found = server.node(node)
    labels = {key: value for key, value in found["metadata"].get("labels", {}).items() if key in LABELS}
    return labels, {each["type"]: each for each in found["status"]["conditions"] if each["type"] in CONDITIONS}


def judged(world: TickContext, node: str, verdict: Verdict, *findings: Finding) -> None:
    """Have a check of a node end."""
    result = Result("gpu_errors", verdict, "as seen", findings)
    world.store.record_by_hand(Stage.HEALTH_PASSIVE, "kim", [Judged(node, 2.0, result)], 2.0)


FAULT = Finding("gpu.remap_failed", "GPU 0000:9b:00.0", "x", Remedy.RMA, "gpu-01/gpu.remap_failed", ("gpu-01",))


def test_nodes_say_what_the_store_knows_and_nothing_is_written_twice(
    server: kube.ApiServer, world: TickContext, teller: ConditionsTeller
) -> None:
    assert teller.visit() == 2
    labels, found = said(server, "gpu-01")
    assert labels[STATE] == "registered"
    assert set(found) == set(CONDITIONS)
    assert found["GpuHealthy"]["status"] == "Unknown"
    assert said(server, "elsewhere") == ({}, {})
    assert isinstance(teller.cluster, Counting)
    teller.cluster.asked.clear()
    assert [teller.visit() for _ in range(20)] == [0] * 20
    assert teller.cluster.asked == []
    judged(world, "gpu-01", Verdict.FAIL, FAULT)
    assert teller.visit() == 1
    now = said(server, "gpu-01")[1]
    assert (now["GpuHealthy"]["status"], now["GpuHealthy"]["reason"]) == ("Unknown", "NotConfirmed")
    assert now["HostHealthy"] == found["HostHealthy"]
    judged(world, "gpu-01", Verdict.PASS)
    assert teller.visit() == 1
    assert said(server, "gpu-01")[1]["GpuHealthy"]["reason"] == "ChecksPassed"


def test_what_somebody_changed_comes_back_and_what_others_set_stays(
    server: kube.ApiServer, world: TickContext, teller: ConditionsTeller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the next look at the cluster; a heartbeat of the kubelet's and a label of a person's are theirs."""
    server.patch("/api/v1/nodes/gpu-02", {"metadata": {"labels": {"team": "a", STATE: "mine"}}})
    assert teller.visit() == 2
    server.patch("/api/v1/nodes/gpu-02", {"metadata": {"labels": {STATE: "other"}}})
    assert teller.visit() == 0
    clock = world.store.clock
    monkeypatch.setattr(world.store, "clock", lambda: clock() + LOOK)
    assert teller.visit() == 1
    assert said(server, "gpu-02")[0][STATE] == "registered"
    whole = server.node("gpu-02")
    assert whole["metadata"]["labels"]["team"] == "a"
    assert any(each["type"] == "Ready" for each in whole["status"]["conditions"])


def test_a_condition_that_somebody_else_owns_is_left_and_said(
    server: kube.ApiServer, teller: ConditionsTeller, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is tried again at the next look, not all the time."""
    theirs = {"type": "GpuHealthy", "status": "False", "reason": "Theirs", "message": "theirs"}
    body = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "gpu-02"}, "status": {"conditions": [theirs]}}
    way = "/api/v1/nodes/gpu-02/status?fieldManager=npd"
    server.ask("PATCH", way, body, "application/apply-patch+yaml")
    try:
        assert teller.visit() == 1
        assert teller.visit() == 0
        assert said(server, "gpu-02")[1]["GpuHealthy"]["reason"] == "Theirs"
        assert "they belong to somebody else and are left" in capsys.readouterr().out
    finally:
        server.ask("PATCH", way, body | {"status": {"conditions": []}}, "application/apply-patch+yaml")


def test_all_of_it_goes_by_one_command(server: kube.ApiServer, teller: ConditionsTeller) -> None:
    assert teller.visit() == 2
    assert teller.clear(dry=True) == 2
    assert said(server, "gpu-01")[0]
    assert teller.clear() == 2
    for name in ("gpu-01", "gpu-02"):
        assert said(server, name) == ({}, {})
        assert any(each["type"] == "Ready" for each in server.node(name)["status"]["conditions"])
    assert teller.clear() == 0


def test_a_node_is_known_by_its_name_there_and_one_without_a_name_is_not_told_of(
    server: kube.ApiServer, teller: ConditionsTeller
) -> None:
    fleet = a_fleet(2)
    names = {"gpu-01": "elsewhere", "gpu-02": ""}
    devices = {
        name: replace(each, context={"scheduler_node": names[name]}) if name in names else each
        for name, each in fleet.devices.items()
    }
    teller.theirs = lambda: names_there(replace(fleet, devices=devices), "", [""])
    assert teller.visit() == 1
    assert said(server, "elsewhere")[0][STATE] == "registered"
    assert said(server, "gpu-02") == said(server, "gpu-01") == ({}, {})


def test_a_node_of_which_nothing_may_be_told_is_not(server: kube.ApiServer, teller: ConditionsTeller) -> None:
    """One that is only observed; what was said of it before goes."""
    teller.may = lambda name: name != "gpu-01"
    assert teller.visit() == 1
    assert said(server, "gpu-01") == ({}, {})
    teller.may = lambda _: True
    assert teller.visit() == 1
    teller.may = lambda name: name != "gpu-01"
    assert [teller.visit(), teller.visit()] == [1, 0]
    assert said(server, "gpu-01") == ({}, {})
    assert said(server, "gpu-02")[0]


def test_nothing_more_is_told_once_another_runner_decides(server: kube.ApiServer, teller: ConditionsTeller) -> None:
    answers = iter([True, False])
    teller.go_on = lambda: next(answers)
    assert teller.visit() == 1
    teller.go_on = lambda: True
    assert teller.visit() == 1
    assert said(server, "gpu-02")[0]


def test_a_node_that_the_cluster_refuses_keeps_nobody_back(server: kube.ApiServer, teller: ConditionsTeller) -> None:
    server.add_node("aaa-gone")
    teller.theirs = lambda: Names({"gpu-01": "aaa-gone"})
    teller.look()
    server.ask("DELETE", "/api/v1/nodes/aaa-gone")
    teller._looked = teller.store.clock()
    assert teller.visit() == 1
    assert said(server, "gpu-02")[0]


def test_an_api_server_that_is_away_changes_nothing_and_is_told_later(
    server: kube.ApiServer, world: TickContext, teller: ConditionsTeller
) -> None:
    cluster = teller.cluster
    file = server.kubeconfig(kube.DRAINER)
    dead = file.with_name("dead")
    dead.write_text(file.read_text(encoding="utf-8").replace(server.url, "https://127.0.0.1:9"), encoding="utf-8")
    dead.chmod(0o600)
    teller.cluster = kubernetes.opened(dead)
    with pytest.raises(SchedulerError, match="does not answer about the nodes"):
        teller.visit()
    teller.cluster = cluster
    assert teller.visit() == 2
    assert world.store.node("gpu-01") is not None


def test_the_role_has_no_right_that_is_not_needed(server: kube.ApiServer) -> None:
    """It can neither make nor remove a node, nor read a secret."""
    api = kubernetes.opened(server.kubeconfig(kube.DRAINER)).api
    from kubernetes.client import ApiException  # noqa: PLC0415  only here

    forbidden: tuple[Callable[[], Any], ...] = (
        lambda: api.delete_node("gpu-01"),
        lambda: api.create_node({"metadata": {"name": "new"}}),
        lambda: api.replace_node("gpu-01", {"metadata": {"name": "gpu-01"}}),
        api.list_secret_for_all_namespaces,
        lambda: api.delete_namespaced_pod("x", "default"),
    )
    for call in forbidden:
        with pytest.raises(ApiException) as error:
            call()
        assert error.value.status == 403


def test_serve_tells_beside_the_work_and_only_where_it_decides(
    server: kube.ApiServer, world: TickContext, teller: ConditionsTeller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And ends with it."""
    assert said(server, "gpu-01") == ({}, {})
    monkeypatch.setattr(node_conditions, "PULSE", 0.05)
    world.settings = world.settings.model_copy(
        update={"scheduler": "kubernetes", "kubeconfig": server.kubeconfig(kube.DRAINER)}
    )
    world.fleet = a_fleet(2)
    world.decides, world.unaccepted = lambda: False, ""
    world.store.set_mode(Setting(Scope.FLEET, "", None, Mode.ACT, 1.0, "kim"))
    with node_conditions.telling(world):
        time.sleep(0.5)
        assert said(server, "gpu-01") == ({}, {})
        world.decides = lambda: True
        until = time.monotonic() + 60
        while not said(server, "gpu-01")[1] and time.monotonic() < until:
            time.sleep(0.05)
    assert said(server, "gpu-01")[0][STATE] == "registered"
    assert not [thread for thread in threading.enumerate() if thread.name == "kubernetes"]
    teller.clear()


def test_a_cluster_that_the_settings_do_not_name_is_told_nothing(world: TickContext) -> None:
    with pytest.raises(SettingsError, match="scheduler is not kubernetes, or kubeconfig is not set"):
        cluster_loops.kubeconfigs(world.settings)


def test_a_person_sees_what_is_to_be_said_and_takes_it_off(
    server: kube.ApiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the site of the examples; nothing is taken off while serve would put it on again."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FLEET_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("FLEET_SOURCE", str(RBAC.parent / "site"))
    monkeypatch.setenv("FLEET_SCHEDULER", "kubernetes")
    monkeypatch.setenv("FLEET_KUBECONFIG", str(server.kubeconfig(kube.DRAINER)))

    def typed(*words: str) -> Said:
        return entered(monkeypatch, capsys, *words)

    assert typed("tick").code == 0
    assert typed("kubernetes", "show").out == "0 nodes to be corrected; nothing was written\n"
    assert typed("mode", "advise", "--fleet", "-r", "tests").code == 0
    shown = typed("kubernetes", "show")
    assert shown.code == 1, shown.err
    assert "gpu-01: fleet-runner.dev/state=registered" in shown.out
    assert "UnderRemediation False NothingAsked: No remedy is asked for." in shown.out
    (first, *_) = json.loads(typed("kubernetes", "show", "--json").out)
    assert (first["node"], first["scheduler_node"], first["labels"][STATE]) == ("gpu-01", "gpu-01", "registered")
    assert typed("kubernetes", "clear", "--check").out == "0 nodes would be cleared\n"
    monkeypatch.setenv("FLEET_KUBERNETES_CONDITIONS", "true")
    refused = typed("kubernetes", "clear")
    assert refused.code != 0
    assert "kubernetes_conditions is on: serve would write them again" in " ".join(refused.err.split())
