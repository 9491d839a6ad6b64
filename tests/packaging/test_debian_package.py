"""The Debian package, built with Debian's tools and installed from nothing: a Debian 12 without Python.

From nothing to a purge, one test after the other.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from fleet_runner.settings import PROJECT_DIR
from tests.packaging.machine import run

TOOLS = ("mmdebstrap", "dpkg-buildpackage", "dh", "lintian", "unshare")
UNITS = ("fleet-runner.service", "fleet-runner-subscribe.service", "fleet-runner-subscribe.timer")
SILENT = {"DEBIAN_FRONTEND": "noninteractive", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8"}

pytestmark = [
    pytest.mark.nightly,  # about six minutes, of which pip and dpkg-deb take four
    pytest.mark.timeout(3600),
    pytest.mark.skipif(
        os.geteuid() != 0 or None in map(shutil.which, TOOLS),
        reason="a chroot is made by root; Debian's packages are `mmdebstrap`, `dpkg-dev`, `debhelper` and `lintian`",
    ),
]


class Chroot:
    """A Debian 12 in a folder."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def said(self, *words: str, fails: bool = False) -> str:
        """Run a command inside, as it should end; return what it said."""
        apart = ("unshare", "--mount", "--pid", "--fork", f"--mount-proc={self.root}/proc")
        inside = (*apart, "chroot", str(self.root), *words)
        done = subprocess.run(inside, capture_output=True, text=True, check=False, env=SILENT)
        assert bool(done.returncode) == fails, f"{words}: {done.stdout[-3000:]}{done.stderr[-3000:]}"
        return done.stdout + done.stderr

    def account(self, *words: str) -> str:
        """Run the product as its account."""
        own = "HOME=/var/lib/fleet-runner", "FLEET_CONFIG=/etc/fleet-runner/fleet.toml", "COLUMNS=200"
        return self.said("runuser", "-u", "fleet-runner", "--", "env", *own, "fleet-runner", *words)

    def left(self) -> set[str]:
        """Return what there is of the package on the machine, what people own aside."""
        places = ("usr", "etc", "var/lib/fleet-runner")
        found = [path for place in places for path in (self.root / place).rglob("*fleet-runner*")]
        return {str(path.relative_to(self.root)) for path in found if "share/doc" not in str(path)}


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package, as `make deb` builds it."""
    folder = tmp_path_factory.mktemp("deb")
    run(PROJECT_DIR / "scripts" / "deb", folder)
    (found,) = folder.glob("*.deb")
    return found


@pytest.fixture(scope="module")
def debian(package: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chroot]:
    """A Debian 12 with no more than apt, and the package in its root."""
    root = tmp_path_factory.mktemp("chroot") / "root"
    run("setsid", "--wait", "mmdebstrap", "--quiet", "--variant=apt", "--mode=root", "bookworm", root)
    shutil.copy(package, root / "fleet-runner.deb")
    (root / "usr/sbin/policy-rc.d").write_text("#!/bin/sh\nexit 101\n")
    (root / "usr/sbin/policy-rc.d").chmod(0o755)
    yield Chroot(root)
    shutil.rmtree(root, ignore_errors=True)


def test_lintian_has_nothing_to_say(package: Path) -> None:
    (changes,) = package.parent.glob("*.changes")
    words = ("lintian", "--allow-root", "--fail-on", "error,warning", changes)
    assert run(*words) == ""


def test_it_is_installed_by_apt_alone_and_starts_nothing(debian: Chroot) -> None:
    assert not (debian.root / "usr/bin/python3").exists()
    debian.said("apt-get", "-qq", "update")
    said = debian.said("apt-get", "-y", "-q", "--no-install-recommends", "install", "./fleet-runner.deb")
    assert "Next: fleet-runner init /etc/fleet-runner" in said
    assert re.match(r"fleet-runner \d+\.\d+\.\d+\n", debian.said("fleet-runner", "--version"))
    assert ":/var/lib/fleet-runner:" in debian.said("getent", "passwd", "fleet-runner")
    listed = debian.said("stat", "-c", "%n %a %U %G", "/etc/fleet-runner", "/var/lib/fleet-runner")
    assert listed.splitlines() == [
        "/etc/fleet-runner 750 root fleet-runner",
        "/var/lib/fleet-runner 700 fleet-runner fleet-runner",
    ]
    for unit in UNITS:
        assert (debian.root / "lib/systemd/system" / unit).is_file()
    assert not list((debian.root / "etc/systemd").rglob("*fleet-runner*"))
    assert not list((debian.root / "usr/bin").glob("ansible*"))


def test_a_fleet_begins_with_it(debian: Chroot) -> None:
    debian.said("fleet-runner", "init", "/etc/fleet-runner", "--example")
    debian.said("chgrp", "-R", "fleet-runner", "/etc/fleet-runner")
    with (debian.root / "etc/fleet-runner/fleet.toml").open("a") as settings:
        settings.write('state_dir = "/var/lib/fleet-runner"\n')
    said = debian.account("doctor")
    assert " 0 wrong" in said
    assert "/usr/lib/fleet-runner/lib/python3.11/site-packages/fleet_runner/project" in said
    assert "starts this fleet-runner" in said
    debian.account("tick")
    assert "gpu-01" in debian.account("status")
    assert (debian.root / "var/lib/fleet-runner/fleet.db").is_file()


def test_its_units_are_understood(debian: Chroot) -> None:
    assert debian.said("systemd-analyze", "verify", "--man=no", *UNITS) == ""


def test_removed_it_leaves_settings_and_store_and_nothing_that_runs(debian: Chroot) -> None:
    debian.said("apt-get", "-y", "-q", "remove", "fleet-runner")
    assert (debian.root / "var/lib/fleet-runner/fleet.db").is_file()
    assert (debian.root / "etc/fleet-runner/fleet.toml").is_file()
    assert not (debian.root / "usr/lib/fleet-runner").exists()
    assert not (debian.root / "usr/bin/fleet-runner").is_symlink()


def test_purged_it_leaves_what_a_person_may_want_and_says_so(debian: Chroot) -> None:
    said = debian.said("apt-get", "-y", "-q", "purge", "fleet-runner")
    for folder in ("/etc/fleet-runner", "/var/lib/fleet-runner"):
        assert f"fleet-runner: {folder} is kept; delete it if nobody needs it" in said
    assert debian.left() == {"etc/fleet-runner"}
