"""Trees that emulators serve: read from files and folders, found by their links, and those of real machines."""

import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.lab.redfish import TreeError, images, load
from fleet_runner.lab.redfish.multipart import boundary, parse
from fleet_runner.lab.redfish.trees import ROOT, clean, merged
from tests.lab.redfish.talking import Client, emulator, over, own, wait

JSON = st.recursive(
    st.integers() | st.text(max_size=5), lambda inner: st.dictionaries(st.text(max_size=3), inner, max_size=3)
)


def test_a_tree_is_the_same_as_a_file_packed_or_not_and_as_a_folder(tmp_path: Path) -> None:
    bodies = dict(own().bodies)
    (tmp_path / "tree.json").write_text(json.dumps(bodies))
    (tmp_path / "tree.json.gz").write_bytes(gzip.compress(json.dumps(bodies).encode()))
    for prefix, folder in (("", "whole"), (ROOT, "short")):
        for uri, body in bodies.items():
            file = tmp_path / folder / uri.removeprefix(prefix).lstrip("/") / "index.json"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps(body))
    for name in ("tree.json", "tree.json.gz", "whole", "short"):
        assert load(tmp_path / name).bodies == bodies


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"/redfish/v1": 3}'])
def test_what_is_no_tree_is_said_to_be_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "tree.json").write_text(text)
    with pytest.raises(TreeError, match=r"tree\.json"):
        load(tmp_path / "tree.json")
    with pytest.raises(TreeError, match="cannot be read"):
        load(tmp_path / "missing.json")


@given(st.dictionaries(st.text(max_size=3), JSON, max_size=4), st.dictionaries(st.text(max_size=3), JSON, max_size=4))
def test_a_change_that_was_merged_is_there_and_changes_nothing_twice(body: Any, change: Any) -> None:
    once = merged(body, change)
    assert merged(once, change) == once
    assert set(once) == set(body) | set(change)


def test_changes_leave_the_tree_alone_that_they_are_made_to() -> None:
    tree = own()
    before = json.dumps(tree.bodies)
    changed = tree.changed({"/redfish/v1/UpdateService/": {"HttpPushUri": None}, "/redfish/v1/Chassis/1": None})
    assert "HttpPushUri" not in changed.get("/redfish/v1/UpdateService")
    assert "/redfish/v1/Chassis/1" not in changed.bodies
    assert json.dumps(tree.bodies) == before


@given(st.text("/abc#?", max_size=12))
def test_a_clean_uri_stays_as_it_is(uri: str) -> None:
    assert clean(clean(uri)) == clean(uri)


def test_every_link_of_our_own_tree_leads_somewhere() -> None:
    with emulator() as bmc, Client(bmc) as client:
        todo, seen = [ROOT], set[str]()
        while todo:
            uri = todo.pop()
            if uri not in seen:
                seen.add(uri)
                todo += _links(client.get(uri))
        assert len(seen) > 25


def _links(value: Any) -> list[str]:
    if isinstance(value, list):
        return [link for each in value for link in _links(each)]
    if not isinstance(value, dict):
        return []
    named = [value[name] for name in ("@odata.id", "@Redfish.ActionInfo") if name in value]
    return named + [link for each in value.values() for link in _links(each)]


@given(
    st.dictionaries(st.text("ab*_", min_size=1, max_size=5), st.text(max_size=5), max_size=3), st.integers(0, 9000)
)
def test_an_image_says_what_was_written_into_it(tmp_path_factory: Any, versions: dict[str, str], size: int) -> None:
    path = tmp_path_factory.mktemp("image") / "image"
    sha256 = images.write(path, versions, size=size, board="X*")
    raw = path.read_bytes()
    assert hashlib.sha256(raw).hexdigest() == sha256
    assert images.read(raw[: images.HEAD_BYTES], len(raw)) == images.Image(versions, "X*")
    first = len(raw.partition(b"\n")[0]) + 1
    assert len(raw) == max(size, first)


@given(st.binary(max_size=200))
def test_anything_else_is_no_image(raw: bytes) -> None:
    assert images.read(raw, len(raw)) is None


FILES = st.binary(max_size=3000) | st.binary(max_size=40).map(lambda raw: raw + b"\r\n--mark\r" + raw + b"\r\n--mar")


@given(FILES, st.binary(max_size=300), st.integers(1, 700))
def test_a_multipart_body_is_read_however_it_is_cut(file: bytes, small: bytes, step: int) -> None:
    def part(name: str, body: bytes) -> bytes:
        return b'--mark!x\r\nContent-Disposition: form-data; name="' + name.encode() + b'"\r\n\r\n' + body + b"\r\n"

    whole = part("UpdateParameters", small) + part("UpdateFile", file) + b"--mark!x--\r\n"
    found = _parse(whole, step)
    assert found is not None
    assert found.small.get("UpdateParameters", b"") == small
    got = found.file
    assert ((got.size, got.digest.hexdigest()) if got else (0, hashlib.sha256().hexdigest())) == (
        len(file),
        hashlib.sha256(file).hexdigest(),
    )
    assert _parse(whole[:-6], step) is None


def _parse(whole: bytes, step: int) -> Any:
    async def pieces() -> Any:
        for at in range(0, len(whole), step):
            yield whole[at : at + step]

    work = parse(pieces(), b"mark!x")
    try:
        work.send(None)
    except StopIteration as ended:
        return ended.value
    raise AssertionError


def test_a_boundary_stands_in_the_content_type_of_multipart_alone() -> None:
    assert boundary('multipart/form-data; boundary="a b"') == b"a b"
    assert boundary("multipart/form-data;boundary=ab; charset=x") == b"ab"
    assert boundary("application/octet-stream; boundary=ab") is None


@pytest.mark.parametrize(
    ("name", "bios", "reset"), [("dgx_h100", "HostBIOS_0", 202), ("supermicro_hgx_h100", "BIOS", 204)]
)
def test_the_tree_of_a_real_machine_comes_to_life(
    samples: Path, tmp_path: Path, name: str, bios: str, reset: int
) -> None:
    tree = load(samples / "redfish" / f"{name}.json.gz")
    with emulator(tree) as bmc, Client(bmc) as client:
        entries = client.get(tree.inventory)["Members"]
        assert {member["@odata.id"].rpartition("/")[2] for member in entries} >= set(bmc.versions())
        assert client.update(tmp_path, {bios: "9.9"}, targets=(bios,)).status_code == 202
        assert over(bmc) == "done"
        assert client.power("ForceRestart").status_code == reset
        wait(lambda: client.get(tree.entries[bios])["Version"] == "9.9")
        for uri, body in tree.bodies.items():
            reply = client.ask("GET", uri)
            assert reply.status_code == 200
            if uri not in (*tree.systems, *tree.managers) and "Tasks" not in uri and "Bios" not in uri:
                assert {**reply.json(), "@odata.etag": 0, "Version": 0} == {**body, "@odata.etag": 0, "Version": 0}
