"""What the role left behind: an image that the boot service would serve, built once."""

from testinfra.host import Host

from fleet_runner.services.boot.images import names, verified
from tests.scenario import found

IMAGES = found.FOLDER / "images"


def test_there_is_an_image_as_described() -> None:
    """The boot service serves none whose files are not what its manifest says."""
    assert names(IMAGES) == ["small"]
    manifest = verified(IMAGES, "small").manifest
    assert manifest.cmdline == "console=tty0 console=ttyS0,115200n8"


def test_it_was_built_once_of_the_packages_that_are_asked_for() -> None:
    """The second run found it."""
    (call,) = (call for call in found.asked() if call.startswith("mmdebstrap"))
    assert "--include=linux-image-amd64,ca-certificates,cloud-init," in call
    assert ",slurmd " in call
    assert call.split()[-2:] == ["bookworm", "-"]


def test_its_recipe_lies_beside_it(host: Host) -> None:
    """With the programs that build it again."""
    recipe = host.file(str(IMAGES / ".recipes" / "small"))
    assert {"build-image", "certificates.pem", "customize", "image.conf"} <= set(recipe.listdir())
    assert host.file(f"{recipe.path}/build-image").is_executable
