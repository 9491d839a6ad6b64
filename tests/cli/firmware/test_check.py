"""Catalogues and images as `firmware check` reads them: a line for each slip, where an editor finds it."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

from fleet_runner.cli.base.session import Exit
from fleet_runner.cli.firmware import check as checking
from tests.cli.conftest import Said, Type

SHA = hashlib.sha256(b"firmware").hexdigest()
GOOD = f"""\
fleet_profile:
  firmware:
    components:
      - component: BIOS
        inventory_id: "BIOS"
        target: "2.1"
        images:
          "2.1": {{file: bios.bin, sha256: "{SHA}"}}
  bios:
    attributes: {{SRIOVEnable: Enabled}}
"""
FILE = "inventory/group_vars/device_type_x.yml"
Check = Callable[..., Said]


@pytest.fixture
def check(tmp_path: Path, typed: Type, monkeypatch: pytest.MonkeyPatch) -> Check:
    """Check one device type's file, beside an image that is as it should be."""
    monkeypatch.setenv("FLEET_INVENTORY", str(tmp_path / "inventory" / "fleet.yml"))
    monkeypatch.setenv("FLEET_FIRMWARE_IMAGES", str(tmp_path / "images"))
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "bios.bin").write_bytes(b"firmware")
    (tmp_path / FILE).parent.mkdir(parents=True)

    def run(text: str = GOOD, *words: str) -> Said:
        (tmp_path / FILE).write_text(text, encoding="utf-8")
        return typed("firmware", "check", *words)

    return run


def test_what_is_right_is_counted(check: Check) -> None:
    said = check()
    assert (said.code, said.out, said.err) == (0, "1 device type, 1 image: nothing is wrong\n", "")
    assert json.loads(check(GOOD, "--json").out) == []


def test_each_slip_is_one_line_with_file_and_line_first(check: Check) -> None:
    """Of the catalogue and of the BIOS settings, however narrow the terminal."""
    said = check(GOOD.replace("target", "targett").replace("Enabled", "{a: 1}"))
    assert said.code == Exit.NO
    first, second, third, last = said.out.splitlines()
    assert first.startswith(f"{FILE}:4: fleet_profile.firmware.components[0].target: found nothing")
    assert second.startswith(f"{FILE}:6: fleet_profile.firmware.components[0].targett: found the key")
    assert third.startswith(f"{FILE}:10: fleet_profile.bios.attributes.SRIOVEnable: found")
    assert last == "1 device type, 0 images: 3 slips"


def test_an_image_that_is_another_is_a_slip_in_the_line_that_names_it(check: Check, tmp_path: Path) -> None:
    """Unless only the catalogue is asked for, as where no images lie."""
    (tmp_path / "images" / "bios.bin").write_bytes(b"something else")
    [slip] = json.loads(check(GOOD, "--json").out)
    assert (slip["file"], slip["line"], slip["grave"]) == (str(tmp_path / FILE), 8, False)
    assert "has the SHA-256" in slip["text"]
    said = check(GOOD, "--no-images")
    assert (said.code, said.words) == (0, "1 device type, 0 images: nothing is wrong (images were not read)")


def test_a_folder_without_device_types_is_not_called_right(typed: Type, tmp_path: Path, check: Check) -> None:
    (tmp_path / FILE).unlink(missing_ok=True)
    said = typed("firmware", "check")
    assert said.code == Exit.USAGE
    assert "has no device_type_*.yml" in said.err


def test_a_terminal_is_told_what_takes_long(check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which image is read; the answer itself is as without."""
    monkeypatch.setattr(checking, "SOON", 0.0)
    monkeypatch.setattr(checking, "errors", Console(stderr=True, force_terminal=True))
    said = check()
    assert said.out == "1 device type, 1 image: nothing is wrong\n"
    assert "reads bios.bin" in said.err
