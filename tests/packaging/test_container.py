"""The container file for real: built without a registry on a base of this machine's making, run, asked, stopped."""

import json
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from fleet_runner.settings import PROJECT_DIR
from tests.packaging.machine import PIP, copied, fetched, run

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.timeout(3600),
    pytest.mark.skipif(
        os.geteuid() != 0 or None in map(shutil.which, ("mmdebstrap", "buildah", "podman", "runc")),
        reason="an image is built by root; Debian's packages are `mmdebstrap`, `buildah`, `podman` and `runc`",
    ),
]

IMAGE = "fleet-runner:test"
SLOW = """- name: Something that takes long
  hosts: all
  gather_facts: false
  tasks:
    - name: It takes long
      ansible.builtin.command: sleep 600
      delegate_to: localhost
"""
ASK = "from urllib.request import urlopen; print(urlopen('http://127.0.0.1:8491/readyz', timeout=5).read().decode())"


class Images:
    """Images and containers in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._store = ("--root", folder / "store", "--runroot", folder / "run", "--storage-driver", "overlay")

    def buildah(self, *words: str | Path) -> str:
        """Run buildah."""
        return run("buildah", *self._store, *words)

    def podman(self, *words: str | Path) -> str:
        """Run podman; cgroups are this machine's, whatever kind it has."""
        return run("podman", *self._store, "--runtime", "runc", "--cgroup-manager", "cgroupfs", *words)

    def container(self, *words: str | Path, mounted: tuple[str, ...] = (), name: str = "") -> str:
        """Run a container as docs/running.md has it: nothing of it can be written but its volume."""
        named = ("--detach", "--name", name) if name else ("--rm",)
        volumes = [word for each in mounted for word in ("--volume", each)]
        limits = ("--ulimit", "nofile=1024:1024", "--ulimit", "nproc=4096:4096")  # of a machine that allows no more
        safe = ("--read-only", "--tmpfs", "/tmp", "--cap-drop", "all", "--security-opt", "no-new-privileges")  # noqa: S108  its own
        apart = ("--network", "none", "--no-healthcheck")
        return self.podman("run", *named, *limits, *safe, *apart, *volumes, IMAGE, *words)


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Images]:
    """The image, built from the project as it is, on a Debian 12 under the name that the container file gives."""
    folder = tmp_path_factory.mktemp("images")
    made = Images(folder)
    base, wheels, project = folder / "base.tar", fetched(folder / "wheels"), folder / "project"
    (folder / "pip.conf").write_text(PIP)
    copied(project)
    run("setsid", "--wait", "mmdebstrap", "--quiet", "--variant=minbase", "--mode=root", "bookworm", base)
    try:
        empty = made.buildah("from", "scratch").strip()
        made.buildah("add", "--quiet", empty, base, "/")
        made.buildah("commit", "--quiet", empty, "debian:12-slim")
        mounts = ("-v", f"{wheels}:/wheels:ro", "-v", f"{folder}/pip.conf:/etc/pip.conf:ro")
        how = ("--pull-never", "--isolation", "chroot", "--network", "host", "--format", "docker")
        made.buildah("build", *how, *mounts, "--tag", IMAGE, project)
        yield made
    finally:
        made.podman("rm", "--all", "--force")
        made.buildah("rm", "--all")
        made.buildah("rmi", "--all", "--force")
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def fleet(tmp_path: Path) -> tuple[Path, Path]:
    """A folder with settings and site files, and one for the state."""
    etc, state = tmp_path / "etc", tmp_path / "state"
    shutil.copytree(PROJECT_DIR / "docs" / "examples" / "site", etc / "site")
    (etc / "bmc.yml").write_text("username: fleet\npassword: made-up\n")
    (etc / "bmc.yml").chmod(0o600)
    (etc / "fleet.toml").write_text('source = "site"\nbmc_credentials = "bmc.yml"\ntick_seconds = 0.5\n')
    (etc / "playbooks").mkdir()
    (etc / "playbooks" / "survey.yml").write_text(SLOW)
    state.mkdir(mode=0o700)
    for path in (etc / "bmc.yml", state):
        os.chown(path, 10001, 10001)
    return etc, state


def test_it_says_what_it_can_do_and_is_nobody_special(images: Images) -> None:
    """Not root, no ipmitool, nothing of the tests, and only what the lock file has."""
    assert "Takes GPU servers" in images.container("--help")
    config = json.loads(images.buildah("inspect", "--type", "image", IMAGE))["Docker"]["config"]
    assert (config["User"], config["Entrypoint"]) == ("10001:10001", ["tini", "--", "fleet-runner"])
    assert "healthz" in config["Healthcheck"]["Test"][-1]
    within = images.buildah("from", IMAGE).strip()
    root = Path(images.buildah("mount", within).strip())
    assert not list(root.glob("usr/bin/ipmitool"))
    assert (root / "usr/bin/ssh").is_file()
    assert not list(root.glob("build")) + list(root.glob("opt/fleet-runner/bin/pip*"))
    (package,) = root.glob("opt/fleet-runner/lib/python3*/site-packages/fleet_runner")
    assert (package / "project" / "playbooks").is_dir()
    images.buildah("rm", within)


def test_somebody_who_is_not_root_begins_a_fleet_in_it(images: Images, tmp_path: Path) -> None:
    """In a folder of their own; what was installed cannot be written, and need not be."""
    tmp_path.chmod(0o777)
    fleet = (f"{tmp_path}:/etc/fleet-runner",)
    assert images.container("--version").startswith("fleet-runner ")
    images.container("init", "/etc/fleet-runner", "--example", mounted=fleet)
    said = images.container("doctor", mounted=fleet)
    assert "/opt/fleet-runner/lib/python3" in said
    assert " 0 wrong" in said
    assert "gpu_errors" in images.container("check", "list", mounted=fleet)
    assert (tmp_path / "fleet.toml").stat().st_uid == 10001


def test_it_ticks_answers_for_its_health_and_ends_plays_in_order(images: Images, fleet: tuple[Path, Path]) -> None:
    """Whoever stops it finds how each play ended in the volume, and nothing was killed without a word."""
    etc, state = fleet
    mounted = (
        f"{etc}:/etc/fleet-runner:ro",
        f"{state}:/var/lib/fleet-runner",
    )
    images.container("serve", "--drain", "2", mounted=mounted, name="served")
    batches = state / "batches"
    end = time.monotonic() + 120
    while not [path for path in batches.glob("survey-*/log") if "PLAY [" in path.read_text()]:
        assert time.monotonic() < end, images.podman("logs", "served")
        time.sleep(0.5)
    page = json.loads(images.podman("exec", "served", "python3", "-c", ASK))
    assert page["ok"]
    images.podman("stop", "--time", "60", "served")
    said = images.podman("logs", "served")
    assert "0 did not" in said
    ended = [path.read_text() for path in batches.glob("survey-*/rc")]
    assert ended
    assert all(each.startswith("143 ") for each in ended)
    images.podman("rm", "served")
    told = images.container("tick", mounted=mounted)
    assert "lost" not in told.casefold()
    history = images.container("history", "gpu-01", mounted=mounted)
    assert "stopped on request" in history or "143" in history, history


def test_what_kills_it_leaves_plays_that_somebody_looks_at(images: Images, fleet: tuple[Path, Path]) -> None:
    """A kill ends supervisors too: their plays are lost, which the next start finds, and none is taken for done."""
    etc, state = fleet
    mounted = (
        f"{etc}:/etc/fleet-runner:ro",
        f"{state}:/var/lib/fleet-runner",
    )
    images.container(mounted=mounted, name="killed")
    end = time.monotonic() + 120
    while not list((state / "batches").glob("survey-*/started")):
        assert time.monotonic() < end, images.podman("logs", "killed")
        time.sleep(0.5)
    images.podman("kill", "killed")
    images.podman("rm", "--force", "killed")
    assert not list((state / "batches").glob("survey-*/rc"))
    images.container("tick", mounted=mounted)
    history = images.container("history", "gpu-01", mounted=mounted)
    assert "lost" in history.casefold(), history


def test_its_health_check_is_a_program_that_is_there(images: Images) -> None:
    """Where nothing listens it says no."""
    config = json.loads(images.buildah("inspect", "--type", "image", IMAGE))["Docker"]["config"]
    kind, *command = config["Healthcheck"]["Test"]
    assert kind == "CMD"
    words = ["--entrypoint", json.dumps(command)]
    with pytest.raises(AssertionError, match="Connection refused"):
        images.podman("run", "--rm", "--network", "none", "--no-healthcheck", "--ulimit", "nofile=1024:1024",
                      "--ulimit", "nproc=4096:4096", *words, IMAGE)  # fmt: skip
