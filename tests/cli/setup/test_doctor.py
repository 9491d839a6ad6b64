"""The doctor: every part has its line, what is wrong is named with what to type, and nothing is changed."""

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from fleet_runner.cli.setup.doctor.finding import Finding, Grade, limited, ok
from fleet_runner.core.base.errors import FleetError
from tests.commands import Said, entered


@pytest.fixture
def fleet(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """The example's folder, which is the working directory, in a home of its own."""
    for name in [name for name in os.environ if name.startswith(("FLEET_", "SSH_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    root = tmp_path / "fleet"
    entered(monkeypatch, capsys, "init", str(root), "--example")
    monkeypatch.chdir(root)
    return root


def graded(said: Said) -> dict[str, set[str]]:
    """Return the grades of each part."""
    found: dict[str, set[str]] = {}
    for each in json.loads(said.out)["findings"]:
        found.setdefault(each["part"], set()).add(each["grade"])
    return found


def test_a_new_fleet_has_warnings_and_nothing_wrong_and_stays_as_it_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], fleet: Path
) -> None:
    before = sorted(fleet.rglob("*"))
    said = entered(monkeypatch, capsys, "doctor", "--json")
    found = graded(said)
    assert said.code == 0, said.out
    assert {"software", "settings", "playbooks", "source", "inventory", "policy", "scheduler", "clock"} <= set(found)
    assert found["source"] == found["inventory"] == found["policy"] == {"ok"}
    assert found["store"] == found["bmc"] == {"warning"}
    assert sorted(fleet.rglob("*")) == before


@pytest.mark.parametrize(
    ("file", "text", "part"),
    [
        ("fleet.toml", 'sauce = "site"\n', "settings"),
        ("fleet.toml", 'source = "nowhere"\n', "source"),
        ("site/devices.yml", "- {name: gpu-01}\n", "source"),
        ("inventory/policy.yml", "ladder: [NONSENSE]\n", "policy"),
        ("inventory/trackers.yml", "- {name: one, kind: nonsense}\n", "trackers"),
        ("inventory/notifications.yml", "- {name: one, kind: nonsense}\n", "notifications"),
        ("inventory/group_vars/device_type_example_hgx_h100.yml", "{}\n", "inventory"),
    ],
)
def test_what_is_wrong_is_found_in_its_part(  # noqa: PLR0917  a row of the table, beside the fixtures
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    fleet: Path,
    file: str,
    text: str,
    part: str,
) -> None:
    (fleet / file).write_text(text)
    said = entered(monkeypatch, capsys, "doctor", "--json")
    assert said.code == 1
    assert "wrong" in graded(said)[part], said.out


def test_credentials_that_others_can_read_are_wrong_and_are_not_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], fleet: Path
) -> None:
    (fleet / "bmc.yml").write_text("username: fleet\npassword: made-up\n")
    (fleet / "bmc.yml").chmod(0o644)
    with (fleet / "fleet.toml").open("a") as settings:
        settings.write('bmc_credentials = "bmc.yml"\n')
    said = entered(monkeypatch, capsys, "doctor")
    assert said.code == 1
    assert f"chmod 600 {fleet / 'bmc.yml'}" in said.out
    assert "made-up" not in said.out + said.err
    (fleet / "bmc.yml").chmod(0o600)
    assert entered(monkeypatch, capsys, "doctor").code == 0


def test_a_look_that_does_not_end_is_a_finding_and_so_is_one_that_fails() -> None:
    def hangs() -> Iterator[Finding]:
        yield ok("one", "fine")
        time.sleep(5)

    def fails() -> Iterator[Finding]:
        raise FleetError("no such thing")
        yield

    def breaks() -> Iterator[Finding]:
        raise ZeroDivisionError
        yield

    assert [each.grade for each in limited("one", hangs, 1.0)] == [Grade.OK, Grade.WRONG]
    assert [each.found for each in limited("two", fails, 60.0)] == ["no such thing"]
    assert "ZeroDivisionError" in limited("three", breaks, 60.0)[0].found


def test_the_version_is_shown(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    said = entered(monkeypatch, capsys, "--version")
    assert (said.code, said.out.split()[0]) == (0, "fleet-runner")
