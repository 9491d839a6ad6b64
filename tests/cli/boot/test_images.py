"""Which images nodes may boot, and whether each is what its manifest says, can be asked."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Type
from tests.services.boot.test_images import BUILD, an_image


@pytest.fixture
def images(tmp_path: Path) -> Path:
    """A folder with the image that nodes boot, and settings that name the folder."""
    (tmp_path / "fleet.toml").write_text('boot_images = "images"\n', "utf-8")
    an_image(tmp_path / "images" / ".builds" / BUILD)
    (tmp_path / "images" / "debian-12").symlink_to(f".builds/{BUILD}")
    return tmp_path / "images"


def test_images_are_listed(typed: Type, images: Path) -> None:
    said = typed("boot", "images")
    assert (said.code, said.err) == (0, "")
    assert [line.split()[:2] for line in said.out.splitlines()] == [
        ["IMAGE", "BUILD"],
        ["debian-12", "0123456789abcdef"],
    ]
    assert "as its manifest says" in said.out


def test_an_image_that_differs_from_its_manifest_is_an_answer_of_no(typed: Type, images: Path) -> None:
    an_image(images / "other")
    (images / "other" / "vmlinuz").write_bytes(b"A kernel")
    said = typed("boot", "images")
    assert said.code == 1
    assert "other: " in said.out
    assert "SHA-256 is " in said.out


def test_the_image_of_nodes_that_is_missing_is_an_answer_of_no(typed: Type, images: Path) -> None:
    (images / "debian-12").unlink()
    said = typed("boot", "images", "--json")
    assert said.code == 1
    [row] = json.loads(said.out)
    assert row["name"] == "debian-12"
    assert "build the image with playbooks/boot_image.yml" in row["trouble"]
