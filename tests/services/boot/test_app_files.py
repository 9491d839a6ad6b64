"""Firmware and iPXE ask for files: whole, in ranges, or only if they changed; and for nothing beside them."""

from pathlib import Path

from fleet_runner.core.boot.boots import Milestone
from fleet_runner.services.boot.images import Image, Images
from tests.services.boot.desks import OTHER, Hall, images, play

KERNEL = b"kernel" * 1000
PATHS = (
    "../secret",
    "..%2fsecret",
    "%2e%2e/secret",
    "%2e%2e%2fsecret",
    "..%5csecret",
    "%2fetc%2fpasswd",
    "//etc/passwd",
    "secret%00.efi",
    ".hidden",
    "loaders/../../secret",
    "a/b/c",
    "",
    ".",
    "folder",
    "missing.efi",
    "%0asecret",
)


def test_a_kernel_comes_whole_in_ranges_or_not_at_all_where_it_is_known(tmp_path: Path) -> None:
    async def story(hall: Hall) -> None:
        key = await hall.booting()
        url = f"/image/debian-12/vmlinuz?boot={key}"
        head = await hall.ask(url, "HEAD")
        assert (head.status_code, head.headers["content-length"], head.content) == (200, "6000", b"")
        whole = await hall.ask(url)
        assert (whole.content, whole.headers["accept-ranges"]) == (KERNEL, "bytes")
        part = await hall.ask(url, headers={"range": "bytes=6-11"})
        assert (part.status_code, part.content, part.headers["content-range"]) == (206, b"kernel", "bytes 6-11/6000")
        last = await hall.ask(url, headers={"range": "bytes=-3"})
        assert (last.status_code, last.content) == (206, b"nel")
        assert (await hall.ask(url, headers={"range": "bytes=6000-"})).status_code == 416
        tag = whole.headers["etag"]
        for known in (tag, f'"another", W/{tag}', "*"):
            kept = await hall.ask(url, headers={"if-none-match": known})
            assert (kept.status_code, kept.content, kept.headers["etag"]) == (304, b"", tag)
        assert (await hall.ask(url, headers={"if-none-match": '"another"'})).status_code == 200
        assert (await hall.ask(url, headers={"range": "bytes=0-5", "if-range": '"another"'})).status_code == 200

    play(tmp_path, story)


def test_asking_for_the_kernel_is_a_milestone_and_asking_for_the_file_system_is_none(tmp_path: Path) -> None:
    async def story(hall: Hall) -> None:
        key = await hall.booting()
        assert (await hall.ask(f"/image/debian-12/initrd.zst?boot={key}")).status_code == 200
        await hall.settled()
        assert Milestone.KERNEL not in hall.store.boots("gpu-01")[0].reached
        await hall.ask(f"/image/debian-12/vmlinuz?boot={key}")
        await hall.settled()
        assert Milestone.KERNEL in hall.store.boots("gpu-01")[0].reached

    play(tmp_path, story)


def test_an_image_is_for_boots_that_are_under_way_alone(tmp_path: Path) -> None:
    async def story(hall: Hall) -> None:
        key = await hall.booting()
        url = "/image/debian-12/vmlinuz"
        assert (await hall.ask(url)).status_code == 403
        assert (await hall.ask(f"{url}?boot=1-{'0' * 32}")).status_code == 403
        assert (await hall.ask(f"{url}?boot={key}", source=OTHER)).status_code == 403
        hall.now += 1800
        assert (await hall.ask(f"{url}?boot={key}")).status_code == 410

    play(tmp_path, story)


def test_an_image_whose_checksum_is_not_its_manifests_is_not_served(tmp_path: Path) -> None:
    async def story(hall: Hall) -> None:
        key = await hall.booting()
        url = f"/image/debian-12/vmlinuz?boot={key}"
        assert (await hall.ask(url)).status_code == 200
        (tmp_path / "images" / "debian-12" / "vmlinuz").write_bytes(b"kernex" * 1000)
        assert (await hall.ask(url)).status_code == 503
        await hall.settled()
        (event,) = [each for each in hall.store.boot_events("gpu-01") if each.kind == "refused"]
        assert event.code == "image"
        images(tmp_path / "images")
        assert (await hall.ask(url)).content == KERNEL

    play(tmp_path, story)


def test_a_file_that_vanishes_between_two_looks_is_one_that_is_not_there(tmp_path: Path) -> None:
    class Vanishing(Images):
        async def file(self, image: Image, name: str) -> tuple[Path, str]:
            path, checksum = await super().file(image, name)
            path.unlink()
            return path, checksum

    async def story(hall: Hall) -> None:
        key = await hall.booting()
        hall.desk.images = Vanishing(tmp_path / "images")
        assert (await hall.ask(f"/image/debian-12/vmlinuz?boot={key}")).status_code == 404

    play(tmp_path, story)


def test_no_path_leads_out_of_the_folder_of_loaders_or_images(tmp_path: Path) -> None:
    loaders = tmp_path / "loaders"
    (loaders / "folder").mkdir(parents=True)
    (loaders / ".hidden").write_bytes(b"SECRET")
    (tmp_path / "secret").write_bytes(b"SECRET")
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "secret").write_bytes(b"SECRET")

    async def story(hall: Hall) -> None:
        key = await hall.booting()
        for path in PATHS:
            for url in (f"/loader/{path}", f"/image/{path}?boot={key}", f"/image/debian-12/{path}?boot={key}"):
                answer = await hall.ask(url)
                assert answer.status_code in {403, 404, 503}, url
                assert b"SECRET" not in answer.content

    play(tmp_path, story, boot_loaders=loaders)


def test_loaders_are_served_to_every_machine_where_no_proof_is_asked(tmp_path: Path) -> None:
    (tmp_path / "snponly.efi").write_bytes(b"loader" * 200_000)

    async def story(hall: Hall) -> None:
        answer = await hall.ask("/loader/snponly.efi", source="192.0.2.7")
        assert answer.content == b"loader" * 200_000
        assert (await hall.ask("/loader/snponly.efi", headers={"range": "bytes=0-5"})).content == b"loader"

    play(tmp_path, story, boot_loaders=tmp_path)
