"""What docs/firmware.md shows can be typed as it stands, and does what it says."""

import re
import runpy
import shlex
import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.main import get_command

from fleet_runner.cli import command_line, main
from fleet_runner.core.firmware import bios
from fleet_runner.lab.redfish import Durations, Emulator, load
from fleet_runner.lab.redfish.trees import OUR_OWN
from fleet_runner.settings import Settings

CREDENTIALS = ("admin", "correct horse")
CATALOGUE = "inventory/group_vars/device_type_example_hgx.yml"


@pytest.fixture(scope="module")
def page(project: Path) -> str:
    return (project / "docs" / "firmware.md").read_text(encoding="utf-8")


@pytest.fixture
def example(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The example as it is copied, with its images made, and with an emulated BMC where it looks for one."""
    folder = tmp_path / "try-firmware"
    shutil.copytree(project / "docs" / "examples" / "firmware", folder)
    runpy.run_path(str(folder / "images.py"))
    (folder / "bmc.yml").write_text(yaml.safe_dump(dict(zip(("username", "password"), CREDENTIALS, strict=True))))
    (folder / "bmc.yml").chmod(0o600)
    with Emulator(load(OUR_OWN), credentials=CREDENTIALS, pace=Durations.quick()) as bmc:
        devices = folder / "site" / "devices.yml"
        text = devices.read_text(encoding="utf-8")
        devices.write_text(text.replace("http://127.0.0.1:8443", bmc.url), encoding="utf-8")
        assert bmc.url in devices.read_text(encoding="utf-8")
        monkeypatch.setenv("FLEET_CONFIG", str(folder / "fleet.toml"))
        monkeypatch.setenv("FLEET_BMC_CREDENTIALS", str(folder / "bmc.yml"))
        monkeypatch.setenv("COLUMNS", "80")
        yield folder


def typed(words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Type a command that must succeed; the lines that it prints."""
    monkeypatch.setattr("sys.argv", shlex.split(words))
    code: object = 0
    try:
        main()
    except SystemExit as end:
        code = end.code
    out, err = capsys.readouterr()
    assert not code, err
    return [line.rstrip() for line in out.splitlines()]


def blocks(page: str, kind: str = "") -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)


def commands(page: str) -> list[str]:
    """Every command of fleet-runner in a block, without the path and the comment."""
    lines = [line for block in blocks(page) for line in block.splitlines()]
    found = [re.search(r"(?:^|/)(fleet-runner .*?)(?:\s+#.*)?$", line) for line in lines]
    return [match[1] for match in found if match]


def test_every_command_exists_with_its_options(page: str) -> None:
    """As the command line itself reads it; none is run."""
    assert len(commands(page)) > 15
    for words in commands(page):
        command: Any = get_command(command_line())
        rest = shlex.split(words)[1:]
        while known := getattr(command, "commands", None):
            assert rest, words
            assert rest[0] in known, words
            _, command, rest = command.resolve_command(command.context_class(command), rest)
        command.make_context(words, rest)


def test_the_catalogue_is_the_examples(page: str, project: Path) -> None:
    [shown] = [block for block in blocks(page, "yaml") if CATALOGUE in block]
    file = (project / "docs" / "examples" / "firmware" / CATALOGUE).read_text(encoding="utf-8")
    assert shown == f"# {CATALOGUE}\n{file.removeprefix('---' + chr(10))}"


def test_the_example_is_checked_and_planned_as_the_page_shows(
    page: str, example: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Line for line; where the page has an ellipsis, lines are left out."""
    typed("fleet-runner tick", monkeypatch, capsys)
    assert typed("fleet-runner firmware check", monkeypatch, capsys) == ["1 device type, 7 images: nothing is wrong"]
    said = typed("fleet-runner firmware plan gpu-01", monkeypatch, capsys)
    [shown] = [block for block in blocks(page, "text") if "would be sent" in block]
    at = 0
    for part in re.split(r"^…\n", shown, flags=re.MULTILINE):
        lines = part.splitlines()
        at = next(start for start in range(at, len(said)) if said[start : start + len(lines)] == lines) + len(lines)
    assert at == len(said)
    assert not list((example / "state").glob("batches/*")), "a tick must begin nothing on a planned node"


def test_settings_that_the_page_shows_can_be_read(page: str) -> None:
    [toml] = blocks(page, "toml")
    assert tomllib.loads(toml).keys() <= Settings.model_fields.keys()
    named = set(re.findall(r"`((?:firmware|bmc|max)_[a-z_]+)`", page))
    rows = {"bmc_reset", "firmware_failed", "firmware_pins"}
    assert named - rows <= Settings.model_fields.keys()


def test_bios_settings_that_the_page_shows_can_be_read(page: str) -> None:
    [shown] = [block for block in blocks(page, "yaml") if "QuietBoot" in block]
    assert bios.read(yaml.safe_load(shown)["fleet_profile"])
