"""A file with the BMCs' credentials that cannot be read: a tick says so once, whatever the number of nodes."""

from pathlib import Path
from shutil import copytree

import pytest

from fleet_runner.adapters.store import Store
from fleet_runner.settings import load
from tests.cli.conftest import Type


@pytest.fixture
def site(project: Path, tmp_path: Path, typed: Type) -> Path:
    """The documents' small site, in which no play begins."""
    copytree(project / "docs" / "examples" / "site", tmp_path / "site")
    Store.create(load().store_url).close()
    assert typed("queue", "pause", "--reason", "a test").code == 0
    return tmp_path


def test_a_tick_warns_once_of_credentials_that_cannot_be_read(
    site: Path, typed: Type, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = site / "bmc.yml"
    monkeypatch.setenv("FLEET_BMC_CREDENTIALS", str(file))
    said = typed("tick")
    told = f"warning: BMC credentials: bmc_credentials names {file}, which cannot be read: No such file or"
    assert (said.code, said.err.count("warning: "), told in said.err) == (0, 1, True)
    file.write_text("username: u\npassword: p\n", encoding="utf-8")
    file.chmod(0o644)
    assert "can be read by others than its owner" in typed("tick").err
    file.chmod(0o600)
    assert "warning" not in typed("tick").err
    file.write_text("username: u\npassword: 2026-13-45\n", encoding="utf-8")  # for YAML a date that there is not
    said = typed("tick")
    assert (said.code, f"{file} is not YAML; " in said.err, "2026" in said.err) == (0, True, False), said.err
    file.unlink()
    monkeypatch.setenv("FLEET_BMC_USERNAME", "u")
    assert "the variable FLEET_BMC_PASSWORD is not set, and its companion is" in typed("tick").err
    monkeypatch.setenv("FLEET_BMC_PASSWORD", "p")
    assert "warning" not in typed("tick").err


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "{file} must hold username and password as text"),
        ("username: u\n", "{file} must hold username and password as text"),
        ("username: u\npassword: 1234\n", "{file} must hold username and password as text; quote them if"),
        ("- topsecret\n", "{file} must hold username and password as text"),
        ("devices: [topsecret]\n", "devices in {file} must hold credentials by the devices' names"),
        ("devices: {gpu-9: {username: topsecret}}\n", "{file}, devices: 'gpu-9', must hold username and password"),
        ("{password: topsecret, devices: {gpu-9: {username: a, password: b}}}\n", "{file} must hold username and"),
        ("devices: {gpu-9: {username: a, password: b}}\n", ""),
    ],
)
def test_a_tick_warns_of_credentials_that_no_bmc_can_be_asked_with(
    site: Path, typed: Type, monkeypatch: pytest.MonkeyPatch, text: str, told: str
) -> None:
    """Each is told with its place, and not quoted; those of some devices alone are well."""
    file = site / "bmc.yml"
    file.write_text(text, encoding="utf-8")
    file.chmod(0o600)
    monkeypatch.setenv("FLEET_BMC_CREDENTIALS", str(file))
    said = typed("tick")
    assert (said.code, said.err.count("warning: BMC credentials: "), "secret" in said.err) == (0, bool(told), False)
    assert told.format(file=file) in said.err
