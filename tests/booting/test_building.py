"""When an image is built, what is kept of those before it, and what a failure leaves: with a quick mmdebstrap.

The real one takes a minute; tests/booting/test_image.py looks at what it makes.
"""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from fleet_runner.services.boot.images import names, verified
from tests.booting import image

QUICK = r"""#!/bin/bash
set -e
for word; do case $word in --customize-hook=*) eval "words=(${word#*=})" ;; esac; done
cd "${words[3]}"
echo "kernel of $PACKAGES" >vmlinuz
echo 6.1.0 >kernel-version
printf '    "systemd:amd64": "%s",\n' "$PACKAGES" >packages
mkdir root
echo "$PACKAGES" >root/packages
touch -d @1 root/packages root
tar -C root --owner=0 --group=0 -cf - .
rm -r root
exit "${FAILS:-0}"
"""

CONF = """\
name=small
suite=bookworm
architecture=amd64
kernel=linux-image-amd64
packages=systemd
components=main
mirrors=()
cmdline={cmdline}
compression=1
epoch=1767225600
"""

pytestmark = pytest.mark.skipif(bool(image.why_not()), reason=image.why_not())


class Builder:
    """A folder of images with a recipe, and programs that make an image at once."""

    def __init__(self, root: Path) -> None:
        self.images = root / "images"
        self.recipe = self.images / ".recipes" / "small"
        self.programs = root / "programs"
        shutil.copytree(image.ROLE / "files" / "recipe", self.recipe)
        self.programs.mkdir()
        (self.programs / "mmdebstrap").write_text(QUICK)
        (self.programs / "mmdebstrap").chmod(0o755)
        self.describe("quiet")

    def describe(self, cmdline: str) -> None:
        """Write what is to be built."""
        (self.recipe / "image.conf").write_text(CONF.format(cmdline=cmdline))

    def __call__(self, *words: str, **variables: str) -> str:
        """Build, and return what came of it."""
        path = os.pathsep.join([str(self.programs), os.environ["PATH"]])
        answer = subprocess.run(
            [self.recipe / "build-image", *words],
            capture_output=True,
            text=True,
            check=False,
            env={"PACKAGES": "1", **variables, "PATH": path},
        )
        return answer.stdout.strip() if answer.returncode == 0 else "failed"

    def builds(self) -> set[str]:
        """Return what lies among the builds."""
        return {path.name for path in (self.images / ".builds").iterdir()}

    def current(self) -> str:
        """Return the build that the image's name means."""
        return (self.images / "small").resolve().name


@pytest.fixture
def build(tmp_path: Path) -> Builder:
    """A builder that has built nothing yet."""
    return Builder(tmp_path)


def test_an_image_is_built_once_and_again_when_asked_to(build: Builder) -> None:
    assert [build(), build(), build("refresh")] == ["built", "unchanged", "built"]
    assert verified(build.images, "small").build == build.current()
    assert names(build.images) == ["small"]


def test_the_same_packages_are_the_same_build(build: Builder) -> None:
    build()
    was = build.current()
    build("refresh")
    assert (build.current(), build.builds()) == (was, {was})


def test_whoever_boots_finds_the_build_before_this_one_and_none_before_that(build: Builder) -> None:
    build()
    first = build.current()
    build("refresh", PACKAGES="2")
    second = build.current()
    assert build.builds() == {first, second}
    build("refresh", PACKAGES="3")
    assert build.builds() == {second, build.current()}
    assert verified(build.images, second).manifest.packages == {"systemd:amd64": "2"}


def test_another_description_is_another_image(build: Builder) -> None:
    build()
    build.describe("debug")
    assert build() == "built"
    assert verified(build.images, "small").manifest.cmdline == "debug"
    (build.recipe / "root" / "etc" / "motd").write_text("welcome\n")
    assert build() == "built"
    (build.recipe / "root" / "etc" / "motd").chmod(0o600)
    assert build() == "built"


@pytest.mark.parametrize("file", ["vmlinuz", "initrd.zst", "manifest.json"])
@pytest.mark.parametrize("damage", [Path.unlink, lambda path: path.write_bytes(b"damaged")])
def test_an_image_of_which_a_file_is_missing_or_damaged_is_built_again(
    build: Builder, file: str, damage: Callable[[Path], object]
) -> None:
    build()
    damage(build.images / "small" / file)
    assert build() == "built"
    assert verified(build.images, "small").manifest.cmdline == "quiet"


def test_a_build_that_fails_leaves_the_image_that_was_there_and_nothing_of_its_own(build: Builder) -> None:
    build()
    was = build.current()
    assert build("refresh", PACKAGES="2", FAILS="1") == "failed"
    assert (build.current(), build.builds()) == (was, {was})
    assert build() == "unchanged"


def test_what_a_killed_build_left_is_no_image_and_goes_with_the_next_build(build: Builder) -> None:
    build()
    was = build.current()
    left = build.images / ".builds" / "building.abcdef"
    left.mkdir()
    assert (names(build.images), build()) == (["small"], "unchanged")
    build("refresh")
    assert build.builds() == {was}
