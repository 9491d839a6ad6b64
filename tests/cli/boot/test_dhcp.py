"""boot dhcp prints what a DHCP server takes, says which node has no address, and refuses what it cannot use."""

import io
import json
import os
import shutil
from pathlib import Path

import pytest

from fleet_runner.cli.boot.dhcp import Server
from fleet_runner.core.boot.dhcp import KINDS
from fleet_runner.core.boot.dhcp.firmware import FIRMWARES
from tests.cli.conftest import Type

NETWORKS = "{interfaces: [lo], server: 198.51.100.2, networks: [{subnet: 198.51.100.0/24}]}"


@pytest.fixture
def described(tmp_path: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The example site as source of truth, and a file of boot networks."""
    monkeypatch.setenv("FLEET_SOURCE", str(project / "docs" / "examples" / "site"))
    monkeypatch.setenv("FLEET_BOOT_URL", "http://198.51.100.2:8480")
    file = tmp_path / "networks.yml"
    file.write_text(NETWORKS)
    return str(file)


def test_the_command_line_has_every_kind() -> None:
    assert [each.value for each in Server] == list(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_is_printed_whole(typed: Type, described: str, kind: str) -> None:
    said = typed("boot", "dhcp", "--for", kind, "--networks", described)
    assert (said.code, said.err) == (0, "")
    assert "Written by fleet-runner" in said.out
    assert ("02:00:00:00:01:00" in said.out) == KINDS[kind].reserves
    assert ("boot.ipxe" in said.out) == (kind != "tftp")


def test_kea_reads_json(typed: Type, described: str) -> None:
    said = typed("boot", "dhcp", "--for", "kea", "--networks", described)
    assert len(json.loads(said.out)["Dhcp4"]["client-classes"]) == len(FIRMWARES) + 1


def test_networks_come_from_standard_input_too(typed: Type, described: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(NETWORKS))
    assert "dhcp-host=" in typed("boot", "dhcp", "--for", "dnsmasq", "--networks", "-").out


def test_a_node_without_an_address_is_named_and_the_others_have_theirs(typed: Type, described: str) -> None:
    Path(described).write_text(NETWORKS.replace("198.51.100.2,", "198.51.100.12,"))
    said = typed("boot", "dhcp", "--for", "dnsmasq", "--networks", described)
    assert said.code == 0
    assert "warning: gpu-02 has no reserved address: its primary address 198.51.100.12 belongs to" in said.err
    assert said.out.count("dhcp-host=") == 1


def needs(program: str) -> None:
    if shutil.which(program, path=f"{os.environ['PATH']}:/usr/sbin") is None:
        pytest.skip(f"{program} is not installed: apt-get install dnsmasq-base kea-dhcp4-server")


@pytest.mark.parametrize("kind", KINDS)
def test_the_servers_own_program_takes_it(typed: Type, described: str, kind: str) -> None:
    needs(KINDS[kind].program)
    said = typed("boot", "dhcp", "--for", kind, "--networks", described, "--check")
    assert said.code == 0, said
    assert f"{KINDS[kind].program} takes it: " in said.words
    assert ("2 nodes with a reserved address" in said.words) == KINDS[kind].reserves


def test_what_the_servers_own_program_refuses_is_said(typed: Type, described: str) -> None:
    """Kea knows the interfaces of the machine that it runs on."""
    needs("kea-dhcp4")
    Path(described).write_text(NETWORKS.replace("[lo]", "[nosuch0]"))
    said = typed("boot", "dhcp", "--for", "kea", "--networks", described, "--check")
    assert said.code == 1
    assert "kea-dhcp4 refuses it: " in said.words
    assert "nosuch0" in said.words


def test_without_a_program_it_cannot_be_tested_here(
    typed: Type, described: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(KINDS, "tftp", KINDS["tftp"]._replace(test=("no-such-dnsmasq",)))
    said = typed("boot", "dhcp", "--for", "tftp", "--networks", described, "--check")
    assert (said.code, "no-such-dnsmasq is not installed here" in said.err) == (2, True)


@pytest.mark.parametrize(
    ("text", "said"),
    [("{", "expected YAML"), ("interfaces: []", "boot networks interfaces: found []"), ("- x", "expected a mapping")],
)
def test_networks_that_cannot_be_used_are_refused(typed: Type, described: str, text: str, said: str) -> None:
    Path(described).write_text(text)
    answer = typed("boot", "dhcp", "--for", "dnsmasq", "--networks", described)
    assert (answer.code, answer.out) == (2, "")
    assert f"--networks {described}: " in answer.err
    assert said in answer.err


def test_a_file_that_is_not_there_is_named(typed: Type, described: str) -> None:
    assert (
        "--networks nowhere.yml: No such file"
        in typed("boot", "dhcp", "--for", "dnsmasq", "--networks", "nowhere.yml").err
    )


def test_without_a_boot_url_there_is_nothing_to_tell(
    typed: Type, described: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FLEET_BOOT_URL")
    said = typed("boot", "dhcp", "--for", "dnsmasq", "--networks", described)
    assert (said.code, "boot_url is not set" in said.err) == (2, True)
