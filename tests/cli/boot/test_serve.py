"""`fleet-runner boot serve` as people start and stop it."""

import os
import random
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.cli.conftest import Type
from tests.waiting import PATIENCE

PROGRAM = [sys.executable, "-m", "fleet_runner.cli"]


def environment(folder: Path, **given: str) -> dict[str, str]:
    """Settings of a site without any device."""
    (folder / "site").mkdir(exist_ok=True)
    (folder / "site" / "sites.yml").write_text("- name: hall-1\n", "utf-8")
    own = {name: value for name, value in os.environ.items() if not name.startswith("FLEET_")}
    return own | {
        "FLEET_SOURCE": str(folder / "site"),
        "FLEET_STATE_DIR": str(folder / "state"),
        "FLEET_BOOT_URL": "http://127.0.0.1:8480",
        "FLEET_BOOT_LISTEN": "127.0.0.1:0",
        **given,
    }


@contextmanager
def served(folder: Path) -> Iterator[tuple["subprocess.Popen[str]", str]]:
    """Start a boot service, and end it however the test ends."""
    process = subprocess.Popen(
        [*PROGRAM, "boot", "serve"], cwd=folder, env=environment(folder), stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout
        line = process.stdout.readline()
        yield process, line.split()[2].rstrip(",")
    finally:
        process.kill()
        process.wait()
        if process.stdout:
            process.stdout.close()


def test_it_serves_until_it_is_told_to_stop_and_then_ends_well(tmp_path: Path) -> None:
    with served(tmp_path) as (process, url):
        assert httpx.get(f"{url}/boot.ipxe", trust_env=False, timeout=PATIENCE).text.startswith("#!ipxe")
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0
        assert process.stdout
        assert process.stdout.read() == "boot service: stopped; everything it received is in the store\n"
    assert (tmp_path / "state" / "boot.key").stat().st_mode & 0o777 == 0o600


def test_systemd_hears_that_it_is_ready_lives_and_ends(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(str(tmp_path / "notify"))
        systemd.settimeout(PATIENCE)
        given = environment(tmp_path, NOTIFY_SOCKET=str(tmp_path / "notify"), WATCHDOG_USEC="400000")
        process = subprocess.Popen([*PROGRAM, "boot", "serve"], cwd=tmp_path, env=given)
        try:
            assert [systemd.recv(100) for _ in range(3)] == [b"READY=1", b"WATCHDOG=1", b"WATCHDOG=1"]
            process.send_signal(signal.SIGTERM)
            while systemd.recv(100) != b"STOPPING=1":
                pass
            assert process.wait(PATIENCE) == 0
        finally:
            process.kill()
            process.wait()


def test_who_asks_while_the_source_of_truth_is_read_waits_and_is_not_refused(tmp_path: Path) -> None:
    host = f"127.{random.randint(1, 254)}.{random.randint(0, 255)}.{random.randint(1, 254)}"
    (tmp_path / "netbox.token").write_text("secret", "utf-8")
    (tmp_path / "netbox.token").chmod(0o600)
    with socket.create_server(("127.0.0.1", 0)) as netbox:
        netbox.settimeout(PATIENCE)
        given = {
            "FLEET_SOURCE": f"http://127.0.0.1:{netbox.getsockname()[1]}",
            "FLEET_NETBOX_TOKEN_FILE": str(tmp_path / "netbox.token"),
            "FLEET_BOOT_LISTEN": f"{host}:8480",
        }
        process = subprocess.Popen([*PROGRAM, "boot", "serve"], cwd=tmp_path, env=environment(tmp_path, **given))
        try:
            reading, _ = netbox.accept()
            with reading, socket.create_connection((host, 8480), timeout=PATIENCE) as asking:
                asking.sendall(b"GET /health HTTP/1.1\r\nhost: x\r\n\r\n")
        finally:
            process.kill()
            process.wait()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"FLEET_BOOT_URL": ""}, "setting 'boot_url' is empty"),
        ({"FLEET_BOOT_LISTEN": "nowhere"}, "expected address:port such as 127.0.0.1:8480"),
        ({"FLEET_BOOT_DHCP_TOKEN": "missing"}, "boot_dhcp_token"),
    ],
)
def test_a_setting_that_cannot_be_used_is_one_line_and_an_exit_code(
    tmp_path: Path, typed: Type, monkeypatch: pytest.MonkeyPatch, given: dict[str, str], said: str
) -> None:
    for name, value in environment(tmp_path, **given).items():
        monkeypatch.setenv(name, value)
    found = typed("boot", "serve")
    assert found.code == 2
    *warned, last = found.err.splitlines()
    assert said in last
    assert all(line.startswith("warning: ") for line in warned)


def test_what_nodes_would_stumble_over_is_warned_of_at_the_start(
    tmp_path: Path, typed: Type, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "templates").mkdir()
    (tmp_path / "templates" / "user-data.yaml.j2").write_text("{{ ", "utf-8")
    (tmp_path / "templates" / "meta-data.yaml.j2").write_bytes(b"\xff")
    given = {
        "FLEET_BOOT_URL": "http://10.10.0.2:8480",
        "FLEET_BOOT_JOIN": "no-join.yml",
        "FLEET_BOOT_TEMPLATES": "templates",
        "FLEET_BOOT_LOADERS": "no-loaders",
        "FLEET_BOOT_SECURE_URL": "https://boot.example:8443",
    }
    for name, value in environment(tmp_path, **given).items():
        monkeypatch.setenv(name, value)
    *warned, last = typed("boot", "serve").err.splitlines()
    for text in (
        "nodes cannot reach 127.0.0.1:0, although their URL is http://10.10.0.2:8480; set boot_listen to 10.10.0.2:",
        "set boot_secure_listen to boot.example:8443",
        "no-join.yml: No such file",
        "user-data.yaml.j2:1: ",
        "meta-data.yaml.j2: it cannot be read as text",
        "boot_authorized_keys is not set",
        "boot_dhcp_token is not set",
        "no-loaders, which is not a folder",
    ):
        assert len([line for line in warned if line.startswith("warning: ") and text in line]) == 1, text
    assert "TLS needs all of" in last
