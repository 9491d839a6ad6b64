"""fleet-runner bmc look, as a person types it: addresses, files, certificates, passwords, exit codes."""

import gzip
import json
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fleet_runner.adapters.redfish.certificate import fingerprint
from fleet_runner.cli.base.session import Exit
from fleet_runner.cli.bmc import reading
from fleet_runner.core.bmc.tree import ROOT
from tests.adapters.redfish.replay import PASSWORD, USER, Replay, replayed
from tests.adapters.redfish.test_survey import INVENTORY, SYSTEM, captured
from tests.adapters.redfish.test_tls import address, keys
from tests.cli.conftest import Type

__all__ = ["keys"]

SAMPLES = {
    "dell_r750": (Exit.OK, "Dell Inc. PowerEdge R750, serial PKQWA3833Q0396", "GPUs 1 x NVIDIA H100 PCIe"),
    "dgx_h100": (Exit.OK, "NVIDIA DGXH100, serial SNC4A9A5F919F1", "GPUs 8 x H100 80GB HBM3"),
    "hpe_dl385": (Exit.NO, "the BMC reports Critical for Drive DA00001C, expected OK", "NVMe Drive (16): MPK7625Q"),
    "nvidia_gb200": (Exit.NO, "the leak detector Chassis 0 LeakDetector 1 ColdPlate says Critical", "GPUs 4 x"),
    "supermicro_hgx_h100": (Exit.OK, "Supermicro SYS-821GE-TNHR, serial SN3E9D25880F12", "8 x MCX75310AAS-NEAT"),
}  # fmt: skip


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    """A user and a password in the environment."""
    monkeypatch.setenv("FLEET_BMC_USERNAME", USER)
    monkeypatch.setenv("FLEET_BMC_PASSWORD", PASSWORD)


@pytest.fixture
def server() -> Iterator[Replay]:
    """A BMC."""
    with replayed(captured()) as made:
        yield made


def broken() -> dict[str, Any]:
    """Return a tree with a broken memory module."""
    found = captured()
    found[f"{SYSTEM}/Memory/1"]["Status"] = {"Health": "Critical", "State": "Enabled"}
    return found


@pytest.mark.parametrize("name", SAMPLES)
def test_a_real_bmcs_answers_are_shown_on_80_columns_and_nothing_was_changed(
    samples: Path, typed: Type, name: str
) -> None:
    tree = json.loads(gzip.decompress((samples / "redfish" / f"{name}.json.gz").read_bytes()))
    with replayed({f"{uri.rstrip('/')}{end}": body for uri, body in tree.items() for end in ("", "/")}) as bmc:
        said = typed("bmc", "look", bmc.url)
    code, *told = SAMPLES[name]
    assert said.code == code
    assert all(each in said.words for each in told), said.out
    assert max(map(len, said.out.splitlines())) <= 80
    assert {verb for verb, uri, _, _ in bmc.asked if "/Sessions" not in uri} == {"GET"}
    saved = typed("bmc", "look", str(samples / "redfish" / f"{name}.json.gz"))
    assert saved.code == code
    assert all(each in saved.words for each in told)


def test_a_bmc_is_shown_without_any_settings(typed: Type, server: Replay, tmp_path: Path) -> None:
    said = typed("bmc", "look", server.url)
    assert (said.code, said.err) == (Exit.OK, "")
    assert said.out.startswith("Supermicro SYS-821GE-TNHR, serial S900000X0000001\n")
    assert list(tmp_path.iterdir()) == []


def test_what_is_bad_ends_with_1_and_what_was_not_read_with_3(typed: Type, server: Replay) -> None:
    server.statuses["GET", f"{INVENTORY}/BIOS"] = [500] * 9
    part = typed("bmc", "look", server.url)
    assert part.code == Exit.TROUBLE
    assert "not read: UpdateService/FirmwareInventory/BIOS: answered 500: as told" in part.words
    assert "No problem found in what was read." in part.out
    server.tree = broken()
    server.statuses["GET", f"{INVENTORY}/BIOS"] = [500] * 9
    assert typed("bmc", "look", server.url).code == Exit.NO


def test_json_holds_all_of_it(typed: Type, server: Replay) -> None:
    server.tree = broken()
    said = json.loads(typed("bmc", "look", server.url, "--json").out)
    assert said["end"] == "bad"
    assert said["look"]["machine"]["model"] == "SYS-821GE-TNHR"
    assert [each["code"] for each in said["look"]["bad"]] == ["health.dimm"]


@pytest.mark.parametrize("name", ["bmc.json", "bmc.json.gz"])
def test_what_is_saved_reads_back_has_no_secret_and_is_its_owners_alone(
    typed: Type, server: Replay, tmp_path: Path, name: str
) -> None:
    server.tree[SYSTEM]["Oem"] = {"SharedSecret": "hush"}
    server.statuses["GET", f"{INVENTORY}/BIOS"] = [500] * 9
    first = typed("bmc", "look", server.url, "--save", name)
    path = tmp_path / name
    raw = gzip.decompress(path.read_bytes()) if name.endswith("gz") else path.read_bytes()
    assert b"hush" not in raw
    assert PASSWORD.encode() not in raw
    assert json.loads(raw)[f"{INVENTORY}/BIOS"] is None
    assert path.stat().st_mode & 0o777 == 0o600
    assert first.err == f"saved in {name}: serial numbers and addresses are in it, passwords are not\n"
    again = typed("bmc", "look", name)
    assert again.code == Exit.TROUBLE
    assert again.out.splitlines()[:20] == first.out.splitlines()[:20]
    assert [file.name for file in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (b"{", "is not JSON"),
        (b"[]", "expected a JSON object of URIs and bodies"),
        (b"{}", "it has no /redfish/v1"),
        (None, "cannot be read: No such file"),
    ],
)
def test_a_file_that_is_none_is_unusable_input(typed: Type, tmp_path: Path, text: bytes | None, told: str) -> None:
    if text is not None:
        (tmp_path / "x.json").write_bytes(text)
    said = typed("bmc", "look", "x.json")
    assert (said.code, told in said.err) == (Exit.USAGE, True), said.err


def test_a_compressed_file_that_is_cut_short_is_unusable_input(typed: Type, tmp_path: Path) -> None:
    (tmp_path / "x.json.gz").write_bytes(gzip.compress(b"{}" * 99)[:-9])
    (tmp_path / "y.json.gz").write_bytes(b"plain")
    assert "cut short" in typed("bmc", "look", "x.json.gz").err
    assert typed("bmc", "look", "y.json.gz").code == Exit.USAGE


@pytest.mark.parametrize("where", ["folder", "missing/x.json"])
def test_a_file_that_cannot_be_written_is_said(typed: Type, server: Replay, tmp_path: Path, where: str) -> None:
    (tmp_path / "folder").mkdir()
    said = typed("bmc", "look", server.url, "--save", where)
    assert said.code == Exit.USAGE
    assert where in said.err


def test_who_cannot_be_reached_or_used_ends_with_2_and_says_which(
    typed: Type, server: Replay, monkeypatch: pytest.MonkeyPatch
) -> None:
    with replayed({}) as gone:
        no_redfish = typed("bmc", "look", gone.url)
    refused = typed("bmc", "look", gone.url)
    monkeypatch.setenv("FLEET_BMC_PASSWORD", "wrong")
    password = typed("bmc", "look", server.url)
    plain = typed("bmc", "look", "http://192.0.2.1")
    assert [each.code for each in (no_redfish, refused, password, plain)] == [Exit.USAGE] * 4
    assert "has no Redfish service" in no_redfish.err
    assert "refused: nothing listens on that port" in refused.err
    assert "(401); do not retry" in password.err
    assert "would send the password unencrypted" in plain.err


def test_a_password_is_asked_for_only_on_a_terminal_and_never_shown(
    typed: Type, server: Replay, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FLEET_BMC_PASSWORD")
    monkeypatch.delenv("FLEET_BMC_USERNAME")
    monkeypatch.setattr("sys.stdin.isatty", lambda: False, raising=False)
    said = typed("bmc", "look", server.url, "--user", USER)
    assert said.code == Exit.USAGE
    assert "set FLEET_BMC_PASSWORD" in said.err
    asked: list[str] = []
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr(reading.getpass, "getpass", lambda text: asked.append(text) or PASSWORD)
    monkeypatch.setattr(reading.typer, "prompt", lambda *_, **__: USER)
    assert typed("bmc", "look", server.url, "--user", USER).code == Exit.OK
    assert typed("bmc", "look", server.url).code == Exit.OK
    assert asked == [f"Password of {USER} at {server.url}: "] * 2


def test_a_user_takes_the_password_of_the_environment_and_a_file_has_both(
    typed: Type, server: Replay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLEET_BMC_USERNAME", "somebody else")
    assert typed("bmc", "look", server.url, "--user", USER).code == Exit.OK
    monkeypatch.delenv("FLEET_BMC_PASSWORD")
    monkeypatch.delenv("FLEET_BMC_USERNAME")
    file = tmp_path / "bmc.yml"
    file.write_text(f"username: {USER}\npassword: {PASSWORD}\n")
    file.chmod(0o600)
    monkeypatch.setenv("FLEET_BMC_CREDENTIALS", str(file))
    assert typed("bmc", "look", server.url).code == Exit.OK


def test_a_certificate_that_nobody_signed_is_shown_and_can_be_accepted(
    keys: Path, typed: Type, server: Replay, tmp_path: Path
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(keys / "bmc.pem", keys / "bmc.key")
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    where = address(server)
    said = typed("bmc", "look", where)
    shown = fingerprint(where)
    assert (said.code, server.asked) == (Exit.USAGE, [])
    assert f"add --fingerprint {shown.upper()}" in said.err
    colons = ":".join(shown[place : place + 2] for place in range(0, 64, 2))
    other = typed("bmc", "look", where, "--fingerprint", "0" * 64)
    assert (other.code, server.asked) == (Exit.USAGE, [])
    assert "shows another certificate" in other.err
    for accepting in (
        ("--fingerprint", shown.upper()),
        ("--fingerprint", f"sha256 Fingerprint={colons}"),
        ("--ca", str(keys / "ours.pem")),
        ("--insecure",),
    ):
        assert typed("bmc", "look", where, *accepting).code == Exit.OK, accepting


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--insecure", "--fingerprint", "0" * 64), "exclude each other"),
        (("--fingerprint", "abc"), "expected 64 hex digits"),
        (("--ca", "none.pem"), "which is not a file"),
        (("--fingerprint", "0" * 64), "has no certificate; use https"),
    ],
)
def test_options_that_make_no_sense_are_refused(
    typed: Type, server: Replay, options: tuple[str, ...], told: str
) -> None:
    said = typed("bmc", "look", server.url, *options)
    assert (said.code, told in said.err) == (Exit.USAGE, True), said.err


@pytest.mark.parametrize(
    ("typed_in", "url"),
    [
        ("10.0.0.5", "https://10.0.0.5"),
        ("bmc.example:8443", "https://bmc.example:8443"),
        ("fe80::1", "https://[fe80::1]"),
        ("[fe80::1]:8443", "https://[fe80::1]:8443"),
        ("http://127.0.0.1:80", "http://127.0.0.1:80"),
    ],
)
def test_an_address_needs_no_scheme_and_no_brackets(typed_in: str, url: str) -> None:
    assert reading.url_of(typed_in) == url


def test_a_person_at_a_terminal_sees_how_far_it_is(server: Replay, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    monkeypatch.setattr(reading, "SOON", 0.0)
    monkeypatch.setattr(type(reading.errors), "is_terminal", property(lambda _: True))
    monkeypatch.setattr(type(reading.errors), "status", lambda *_: _Status(shown))
    reading.read(server.url, reading.Access("", insecure=False, ca=None, fingerprint=""))
    assert shown[0] == f"reads {server.url}: machine, 1 requests so far"
    assert f"reads {server.url}: firmware" in "".join(shown)
    assert ROOT not in shown[-1]


class _Status:
    """What would be on the screen."""

    def __init__(self, shown: list[str]) -> None:
        self.update = shown.append

    def start(self) -> None:
        """Show it."""

    def stop(self) -> None:
        """Take it away."""
