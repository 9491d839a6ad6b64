"""A manifest is read, or it is said what of it is unusable; nothing in it can lead elsewhere."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.base.errors import ImageError
from fleet_runner.core.boot.manifest import File, named, parse

SUM = "0123456789abcdef" * 4
WHOLE: dict[str, Any] = {
    "kernel": {"file": "vmlinuz", "version": "6.1.0-56-cloud-amd64"},
    "initrd": "initrd.zst",
    "cmdline": "console=ttyS0,115200n8 quiet",
    "files": {"vmlinuz": {"size": 14, "sha256": SUM}, "initrd.zst": {"size": 0, "sha256": SUM}},
    "packages": {"systemd:amd64": "252.39-1~deb12u2"},
}
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda some: st.lists(some) | st.dictionaries(st.text(), some),
)


def whole(*keys: str, value: Any) -> str:
    """The manifest of an image with one value that is another."""
    told = json.loads(json.dumps(WHOLE))
    inside = told
    for key in keys[:-1]:
        inside = inside[key]
    inside[keys[-1]] = value
    return json.dumps(told)


@given(st.text() | ANYTHING.map(json.dumps))
def test_what_is_no_manifest_is_an_error_of_the_image_and_no_other(text: str) -> None:
    with pytest.raises(ImageError):
        parse(text)


@given(
    st.sampled_from([(key,) for key in WHOLE] + [("kernel", "file"), ("kernel", "version"), ("files", "vmlinuz")]),
    ANYTHING,
)
def test_whatever_one_value_is_the_rest_stays_safe_to_use(keys: tuple[str, ...], value: Any) -> None:
    try:
        found = parse(whole(*keys, value=value))
    except ImageError:
        return
    assert {found.kernel, found.initrd} <= found.files.keys()
    assert all("/" not in name and not name.startswith(".") for name in found.files)
    assert found.cmdline.isprintable()
    assert found.kernel_version.isprintable()
    assert all(len(file.sha256) == 64 and file.size >= 0 for file in found.files.values())


def test_a_manifest_says_what_its_image_is() -> None:
    found = parse(json.dumps(WHOLE))
    assert (found.kernel, found.kernel_version) == ("vmlinuz", "6.1.0-56-cloud-amd64")
    assert found.initrd == "initrd.zst"
    assert found.cmdline == "console=ttyS0,115200n8 quiet"
    assert found.files["vmlinuz"] == File(14, SUM)
    assert found.packages == {"systemd:amd64": "252.39-1~deb12u2"}


def test_an_image_of_other_means_needs_neither_packages_nor_a_version() -> None:
    told = {key: value for key, value in WHOLE.items() if key != "packages"}
    found = parse(json.dumps(told | {"kernel": {"file": "vmlinuz"}}))
    assert (found.kernel_version, found.packages) == ("", {})


@pytest.mark.parametrize(
    ("keys", "value", "says"),
    [
        (("kernel",), "vmlinuz", "kernel: found 'vmlinuz', expected a mapping"),
        (("kernel", "file"), "../vmlinuz", "file: found '../vmlinuz'"),
        (("kernel", "file"), "other", "files: other is not among them"),
        (("initrd",), 3, "initrd: found 3"),
        (("cmdline",), "quiet\nshell", r"cmdline: found 'quiet\nshell'"),
        (("files", "../passwd"), {"size": 1, "sha256": SUM}, "'../passwd' is no name of a file"),
        (("files", "vmlinuz", "size"), -1, "size of vmlinuz: found -1, expected a number of bytes"),
        (("files", "vmlinuz", "size"), True, "size of vmlinuz: found True"),
        (("files", "vmlinuz", "sha256"), SUM.upper(), "sha256: found '0123456789ABCDEF"),
    ],
)
def test_it_is_said_what_is_unusable(keys: tuple[str, ...], value: Any, says: str) -> None:
    with pytest.raises(ImageError) as error:
        parse(whole(*keys, value=value))
    assert says in str(error.value)


def test_what_is_nested_too_deep_is_no_manifest() -> None:
    with pytest.raises(ImageError, match="nested too deep"):
        parse("[" * 200_000)


@pytest.mark.parametrize("name", ["debian-12", "debian-12@0123456789abcdef", "a", "A_b.c-1"])
def test_images_and_their_builds_have_names(name: str) -> None:
    assert named(name)


@pytest.mark.parametrize("name", ["", ".", "..", ".builds", "a/b", "a@b", "@0123456789abcdef", "a\n", "a" * 65, "ä"])
def test_what_leads_elsewhere_is_no_name(name: str) -> None:
    assert not named(name)
