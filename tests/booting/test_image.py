"""What is in the image that the role builds, what is not, and that it is the same each time."""

import subprocess
from pathlib import Path

import pytest

from fleet_runner.services.boot.images import verified
from tests.booting import image
from tests.booting.image import Image

pytestmark = [pytest.mark.nightly, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def listing(boot_image: Image) -> dict[str, str]:
    """Each file of the root file system, with its mode as ls prints it; a link with where it leads."""
    lines = tar("-tvf", boot_image.initrd).splitlines()
    names = {line.split(maxsplit=8)[8].removeprefix("./"): line.split()[0] for line in lines}
    return {name.partition(" -> ")[0].rstrip("/"): name.partition(" -> ")[2] or mode for name, mode in names.items()}


@pytest.fixture(scope="module")
def settings(boot_image: Image, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder /etc of the root file system."""
    folder = tmp_path_factory.mktemp("image")
    tar("-C", folder, "-xf", boot_image.initrd, "./etc")
    return folder / "etc"


def tar(*words: str | Path) -> str:
    """Ask bsdtar."""
    return subprocess.run(["bsdtar", *words], capture_output=True, text=True, check=True).stdout


def test_the_image_is_what_its_manifest_says(boot_image: Image) -> None:
    found = verified(boot_image.images, boot_image.name)
    assert found.build == boot_image.folder.name
    assert found.manifest.kernel_version.endswith("-cloud-amd64")
    assert {"cloud-init:all", "openssh-server:amd64", "python3:amd64"} <= found.manifest.packages.keys()


@pytest.mark.nightly
def test_a_second_play_changes_nothing(boot_image: Image) -> None:
    assert "changed=0" in image.play(boot_image.images)
    assert (boot_image.images / boot_image.name).resolve() == boot_image.folder


def test_the_kernel_finds_a_program_to_start_and_its_own_modules(boot_image: Image, listing: dict[str, str]) -> None:
    assert listing["init"] == "-rwxr-xr-x"
    modules = {name.split("/")[3] for name in listing if name.startswith("usr/lib/modules/") and name.count("/") > 3}
    assert modules == {boot_image.manifest["kernel"]["version"]}
    assert not [name for name in listing if name.startswith(("boot/", "dev/"))]


def test_nothing_names_the_machine_that_built_it_or_one_that_boots_it(
    listing: dict[str, str], settings: Path
) -> None:
    assert (settings / "machine-id").read_bytes() == b""
    assert not (settings / "hostname").exists()
    assert listing["etc/resolv.conf"] == "../run/systemd/resolve/stub-resolv.conf"
    assert not list((settings / "ssh").glob("ssh_host_*"))
    assert not list((settings / "nvme").glob("host*"))
    logs = [name for name, mode in listing.items() if name.startswith("var/log/") and mode.startswith("-")]
    assert logs == []


def test_nobody_has_a_password_and_keys_alone_open_it(settings: Path) -> None:
    passwords = {line.split(":")[1] for line in (settings / "shadow").read_text().splitlines()}
    assert passwords <= {"*", "!", "!*"}
    [file] = (settings / "ssh" / "sshd_config.d").iterdir()
    assert "PasswordAuthentication no\n" in file.read_text()
    assert "Include /etc/ssh/sshd_config.d/*.conf\n" in (settings / "ssh" / "sshd_config").read_text()


def test_it_has_a_network_and_no_work_of_its_own(listing: dict[str, str]) -> None:
    units = "etc/systemd/system"
    assert f"{units}/multi-user.target.wants/systemd-networkd.service" in listing
    assert f"{units}/network-online.target.wants/systemd-networkd-wait-online.service" in listing
    assert listing[f"{units}/apt-daily.timer"] == "/dev/null"


@pytest.mark.nightly
def test_two_builds_are_the_same_to_the_last_bit_and_trust_the_certificates_they_are_given(
    boot_image: Image, tmp_path: Path
) -> None:
    """In another folder, at another time, with a certificate more in one than in the others."""
    certificate = Path("/etc/ssl/certs/ca-certificates.crt").read_text().partition("-----END CERTIFICATE-----\n")
    (tmp_path / "site.pem").write_text("".join(certificate[:2]))
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        image.play(folder, boot_image_certificates=[str(tmp_path / "site.pem")])
    one, two = ((folder / boot_image.name / "manifest.json").read_bytes() for folder in folders)
    assert one == two
    assert one != (boot_image.folder / "manifest.json").read_bytes()
    its = folders[0] / boot_image.name / "initrd.zst"
    found = tar("-xOf", its, "./usr/local/share/ca-certificates/site-1.crt")
    assert found == (tmp_path / "site.pem").read_text()
