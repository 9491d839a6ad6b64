"""Jobs give way to pods that Kubernetes brings, before these take a GPU: a made-up kubelet, the real supervisor."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any
from uuid import uuid4

import pytest

from tests.chains import SUPERVISOR
from tests.plugins.test_giving_way import SECONDS, gave_way, holders, look, states

GPUS = ["nvidia.com/gpu", "nvidia.com/mig-*"]


@pytest.fixture(scope="session")
def module(plugin: Callable[[str], ModuleType]) -> ModuleType:
    """The module, as Python."""
    return plugin("modules/fleet_job")


class Kubelet:
    """What a kubelet leaves on its node; it names control groups as its driver does."""

    def __init__(self, root: Path, top: str = "sys/fs/cgroup", driver: str = "systemd") -> None:
        self.root, self.driver = root, driver
        self.groups = root / top / ("kubepods.slice" if driver == "systemd" else "kubepods")
        self.checkpoint = root / "var/lib/kubelet/device-plugins/kubelet_internal_checkpoint"
        self.checkpoint.parent.mkdir(parents=True, exist_ok=True)
        self.entries: list[Any] = []
        for each in ("burstable", "besteffort"):
            self._group(each, "").mkdir(parents=True, exist_ok=True)
        self.write()

    def _group(self, quality: str, uid: str) -> Path:
        if self.driver != "systemd":
            return self.groups / quality / (f"pod{uid}" if uid else "")
        names = ["kubepods", *([quality] if quality else [])]
        folder = self.groups / f"{'-'.join(names)}.slice" if quality else self.groups
        return folder / f"{'-'.join(names)}-pod{uid.replace('-', '_')}.slice" if uid else folder

    def takes(self, name: str, quality: str = "burstable", uid: str = "", *, logs: bool = True) -> str:
        """Take a pod: its control group, its folder, and the one of its logs."""
        uid = uid or str(uuid4())
        self._group(quality, uid).mkdir()
        (self.root / "var/lib/kubelet/pods" / uid).mkdir(parents=True)
        if logs:
            self.starts(name, uid)
        return uid

    def starts(self, name: str, uid: str) -> None:
        """Make the folder of a pod's logs, as right before its first process."""
        (self.root / "var/log/pods" / f"{name.replace('/', '_')}_{uid}").mkdir(parents=True)

    def ends(self, uid: str, quality: str = "burstable", *, deleted: bool = True) -> None:
        """See the last of a pod's processes end; only where somebody deletes the pod its folders go too."""
        self._group(quality, uid).rmdir()
        if deleted:
            (self.root / "var/lib/kubelet/pods" / uid).rmdir()
            [logs] = (self.root / "var/log/pods").glob(f"*_{uid}")
            logs.rmdir()

    def gives(self, uid: str, resource: str = "nvidia.com/gpu", ids: Any = None) -> None:
        """Give a pod devices, and write that down."""
        ids = {"0": ["GPU-1"]} if ids is None else ids
        entry = {"PodUID": uid, "ContainerName": "c", "ResourceName": resource, "DeviceIDs": ids, "AllocResp": "CgA="}
        self.entries.append(entry)
        self.write()

    def write(self, text: str = "") -> None:
        """Write the checkpoint as the kubelet does, in one piece."""
        data = {"PodDeviceEntries": self.entries or None, "RegisteredDevices": {"nvidia.com/gpu": ["GPU-1"]}}
        new = self.checkpoint.with_name("new")
        new.write_text(text or json.dumps({"Data": data, "Checksum": 7}))
        new.replace(self.checkpoint)


def watching(root: Path) -> str:
    """The watch's text, for a node whose files lie somewhere else."""
    text = SUPERVISOR["watch.py"]
    for folder in ("/var/", "/sys/"):
        assert f'"{folder}' in text
        text = text.replace(f'"{folder}', f'"{root}{folder}')
    return text


@pytest.fixture
def kubelet(tmp_path: Path) -> Kubelet:
    """The node's kubelet."""
    return Kubelet(tmp_path)


@pytest.fixture
def asked(tmp_path: Path, kubelet: Kubelet) -> Iterator[dict[str, Any]]:
    """Tests that would run for ten minutes."""
    chain = [{"name": name, "argv": ["sleep", "600"], "seconds": 600.0, "limit": 900.0} for name in ("load", "next")]
    yield {
        "key": "health_active-1",
        "jobs": chain,
        "dir": str(tmp_path / "jobs"),
        "tail_bytes": 100,
        "programs": SUPERVISOR | {"watch.py": watching(tmp_path)},
        "yield_to": {"resources": GPUS, "ignored": ["kube-system/*"]},
    }
    for pid in holders(tmp_path / "jobs/health_active-1/lock"):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def reason(module: ModuleType, asked: dict[str, Any]) -> str:
    """To whom all of the chain gave way."""
    [why] = {each["reason"] for each in look(module, asked).values()}
    return str(why)


def test_a_pod_that_was_given_a_gpu_has_the_node_within_seconds(
    module: ModuleType, asked: dict[str, Any], kubelet: Kubelet
) -> None:
    """It has no process yet, and its name is known; while it is there nothing begins, and after its end it does."""
    changed, found = module.ensure(asked)
    assert (changed, states(found)) == (True, ("running", "waiting"))
    uid = kubelet.takes("team-a/train-0")
    kubelet.gives(uid)
    assert gave_way(module, asked) < SECONDS
    assert reason(module, asked) == "the pod team-a/train-0, which was given nvidia.com/gpu"
    assert not module.ensure(asked)[0]
    assert reason(module, asked) == "the pod team-a/train-0, which was given nvidia.com/gpu"
    kubelet.ends(uid, deleted=False)
    assert module.ensure(asked)[0]


def test_a_pod_without_gpus_that_comes_makes_numbers_wrong_as_well(
    module: ModuleType, asked: dict[str, Any], kubelet: Kubelet
) -> None:
    """One that was there before is not in the way, nor one that takes its place."""
    agent = kubelet.takes("monitoring/agent-x7k2p")
    assert module.ensure(asked)[0]
    kubelet.ends(agent)
    kubelet.takes("monitoring/agent-b4d9z")
    time.sleep(1.5)  # a look has passed
    assert states(look(module, asked)) == ("running", "waiting")
    kubelet.takes("team-b/compile-6f9c7d8b5-hv2mq", "besteffort")
    assert gave_way(module, asked) < SECONDS
    assert reason(module, asked) == "the pod team-b/compile-6f9c7d8b5-hv2mq, which has come"
    assert module.ensure(asked)[0], "it is there before this chain, and may stay for good"


@pytest.fixture
def watch(tmp_path: Path) -> ModuleType:
    """The watch, as Python, on the made-up node."""
    made = ModuleType("watch")
    exec(compile(watching(tmp_path), "watch.py", "exec"), made.__dict__)  # noqa: S102  a text of ours
    return made


def sees(watch: ModuleType) -> Callable[[], str]:
    look: Callable[[], str] = watch.Pods(GPUS, ["kube-system/*"]).look
    return look


@pytest.mark.parametrize(
    ("top", "driver", "quality"),
    [
        ("sys/fs/cgroup", "systemd", "burstable"),
        ("sys/fs/cgroup", "systemd", ""),
        ("sys/fs/cgroup/memory", "systemd", "besteffort"),
        ("sys/fs/cgroup", "cgroupfs", "burstable"),
        ("sys/fs/cgroup/memory", "cgroupfs", ""),
        ("sys/fs/cgroup/kubelet", "cgroupfs", "besteffort"),
    ],
)
def test_a_pod_lives_while_it_has_a_control_group(
    watch: ModuleType, tmp_path: Path, top: str, driver: str, quality: str
) -> None:
    """However its kubelet names those; the pod's folder and its line of devices outlive it by days."""
    kubelet = Kubelet(tmp_path, top, driver)
    seen = sees(watch)
    uid = kubelet.takes("team-a/train-0", quality, logs=False)
    kubelet.gives(uid)
    assert seen() == f"the pod {uid}, which was given nvidia.com/gpu"
    kubelet.starts("team-a/train-0", uid)
    assert seen() == "the pod team-a/train-0, which was given nvidia.com/gpu"
    assert sees(watch)(), "it was there before, and has a GPU"
    kubelet.ends(uid, quality, deleted=False)
    assert seen() == ""


@pytest.mark.parametrize(
    ("resource", "ids", "counts"),
    [
        ("nvidia.com/gpu", {"-1": ["GPU-1"]}, True),
        ("nvidia.com/gpu", ["GPU-1", "GPU-2"], True),
        ("nvidia.com/mig-1g.10gb", {"0": [], "1": ["MIG-1"]}, True),
        ("nvidia.com/gpu", {"0": []}, False),
        ("nvidia.com/gpu", [], False),
        ("rdma/hca", {"0": ["mlx5_0"]}, False),
    ],
)
def test_both_formats_of_what_was_given_are_read(
    watch: ModuleType, kubelet: Kubelet, resource: str, ids: Any, counts: bool
) -> None:
    """A list up to Kubernetes 1.19, and since then one for each NUMA node."""
    uid = kubelet.takes("team-a/train-0")
    kubelet.gives(uid, resource, ids)
    assert bool(sees(watch)()) is counts


@pytest.mark.parametrize(
    "text",
    ["", "{", "null", "[]", '{"Data": []}', '{"Data": {"PodDeviceEntries": {"a": 1}}}', "[" * 100_000,
     '{"Data": {"PodDeviceEntries": [null, 7, {"PodUID": [], "ResourceName": "nvidia.com/gpu", "DeviceIDs": 3}]}}'],
)  # fmt: skip
def test_what_cannot_be_read_gives_nothing_to_anybody(watch: ModuleType, kubelet: Kubelet, text: str) -> None:
    kubelet.takes("team-a/train-0")
    kubelet.write(text or " ")
    assert sees(watch)() == ""


def test_what_was_known_stays_so_while_it_cannot_be_read(watch: ModuleType, kubelet: Kubelet) -> None:
    """Where the kubelet's list is gone, nobody was given anything, and the pod is one that has come."""
    kubelet.takes("team-a/web-0")
    seen = sees(watch)
    assert seen() == ""
    uid = kubelet.takes("team-a/train-0")
    kubelet.gives(uid)
    assert "was given" in seen()
    kubelet.write("{")
    assert seen()
    kubelet.write()
    assert seen()
    kubelet.checkpoint.unlink()
    assert seen() == "the pod team-a/train-0, which has come"


def test_pods_of_the_node_itself_are_nobodys_work(watch: ModuleType, kubelet: Kubelet) -> None:
    """Static pods bear a hash, those of kube-system are named in the settings; one that has no process yet waits."""
    seen = sees(watch)
    kubelet.takes("kube-system/kube-proxy-x7k2p")
    kubelet.takes("monitoring/etcd-gpu-01", uid="0123456789abcdef" * 2)
    late = kubelet.takes("team-a/web-0", logs=False)
    assert seen() == ""
    kubelet.starts("team-a/web-0", late)
    assert seen() == "the pod team-a/web-0, which has come"


def test_a_second_pod_of_a_set_is_not_the_first_one_anew(watch: ModuleType, kubelet: Kubelet) -> None:
    """Only as many as there were: a set that grows brings work."""
    kubelet.takes("team-a/web-6f9c7d8b5-x7k2p")
    seen = sees(watch)
    assert seen() == ""
    kubelet.takes("team-a/web-6f9c7d8b5-b4d9z")
    assert seen() == "the pod team-a/web-6f9c7d8b5-b4d9z, which has come"


def test_a_process_is_told_with_its_pod(watch: ModuleType, kubelet: Kubelet, monkeypatch: pytest.MonkeyPatch) -> None:
    uid = kubelet.takes("team-a/train-0")
    group = f"0::/kubepods.slice/kubepods-pod{uid.replace('-', '_')}.slice/cri-containerd-1.scope\n"
    monkeypatch.setattr(watch, "_text", lambda _: group)
    assert watch.described((0, 77, "pyth\x07n")) == "pyth?n (77) of the pod team-a/train-0"
    monkeypatch.setattr(watch, "_text", lambda _: "0::/kubepods/odd\n")
    assert watch.described((0, 77, "python")) == "python (77) of a Kubernetes pod"


def test_a_node_without_kubernetes_has_no_pods(watch: ModuleType, tmp_path: Path) -> None:
    assert watch.living() == set()
    assert watch.names() == {}
    assert sees(watch)() == ""


def test_it_runs_under_the_oldest_python_that_a_node_may_have(tmp_path: Path) -> None:
    """Where this computer has one."""
    found = sorted(Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")).glob("versions/3.8.*/bin/python"))
    if not found:
        pytest.skip("no Python 3.8 here")
    for name, text in SUPERVISOR.items():
        (tmp_path / name).write_text(text)
    chain = tmp_path / "chain"
    chain.mkdir()
    job = {"name": "load", "argv": [sys.executable, "-c", "print('went')"], "seconds": 1.0, "limit": 60.0}
    spec = {"jobs": [job], "yield_to": {"resources": GPUS}, "ending": 16.0}
    (chain / "spec.json").write_text(json.dumps(spec))
    subprocess.run([str(found[-1]), "-IB", str(tmp_path / "supervise.py"), str(chain)], check=True, timeout=30)
    assert (chain / "load/output").read_text() == "went\n"
    assert json.loads((chain / "over").read_text()) == {"reason": ""}
