"""Where a release of NetBox is kept, and which Python it is given."""

import sys
from pathlib import Path

import pytest

from fleet_runner.lab.folder import LabError
from fleet_runner.lab.netbox import installation, serving
from fleet_runner.lab.netbox.configuration import Home, Options, Secrets, lay_down


def pretender(path: Path, version: str) -> None:
    """Write what answers as a Python of some version."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho {version}\n")
    path.chmod(0o755)


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A computer with no Python but ours, which is too old."""
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/nowhere")
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    pretender(tmp_path / "own", "3 11")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "own"))
    return tmp_path


def test_without_a_python_that_is_new_enough_the_reason_is_said(bare: Path) -> None:
    assert installation.python() is None
    assert serving.why_not() == "NetBox needs Python 3.12 or newer, and there is none; install python3.12"
    with pytest.raises(LabError, match=r"needs Python 3\.12 or newer; install python3\.12"):
        installation.install("9.9.9", lambda _: None)


@pytest.mark.parametrize(("version", "fits"), [("3 11", False), ("3 12", True), ("3 13", True), ("4 0", True)])
def test_a_python_is_one_that_says_it_is_new_enough(bare: Path, version: str, fits: bool) -> None:
    pretender(bare / "bin" / "python3.12", version)
    assert (installation.python() is not None) is fits


@pytest.mark.parametrize("said", ["", "no such version", "3"])
def test_a_name_on_path_that_runs_no_python_is_passed_over(bare: Path, said: str) -> None:
    """As pyenv's do for a version that is not switched on; the version itself is found where pyenv keeps it."""
    pretender(bare / "bin" / "python3.12", said)
    pretender(bare / "pyenv" / "versions" / "3.13.0" / "bin" / "python3", "3 13")
    assert installation.python() == str(bare / "pyenv" / "versions" / "3.13.0" / "bin" / "python3")


def test_each_release_has_a_folder_of_its_own_in_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert installation.cache("4.7.2") == tmp_path / "fleet-runner" / "netbox" / "4.7.2"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative, so no folder by its standard")
    assert installation.cache("4.7.2") == Path.home() / ".cache" / "fleet-runner" / "netbox" / "4.7.2"


def test_a_netbox_is_configured_with_its_own_secrets_and_a_plugins_lines(tmp_path: Path) -> None:
    """What it is told stays the same when it is started again, and is for its owner alone."""
    home = Home(tmp_path / "netbox")
    home.lay_out(Options("4.7.3", ("some-plugin",), ('PLUGINS = ["some_plugin"]',)))
    own = Secrets.of(home)
    lay_down(home, own, Path("/nowhere"), (6379, "word"))
    found: dict[str, object] = {}
    exec((home.root / "conf" / "configuration.py").read_text(), found)  # noqa: S102  as NetBox does
    assert found["PLUGINS"] == ["some_plugin"]
    assert (found["SECRET_KEY"], found["API_TOKEN_PEPPERS"]) == (own.key, {1: own.pepper})
    assert Secrets.of(home) == own
    assert home.options == Options("4.7.3", ("some-plugin",), ('PLUGINS = ["some_plugin"]',))
    for name in ("secrets.json", "conf/configuration.py"):
        assert (home.root / name).stat().st_mode & 0o777 == 0o600
