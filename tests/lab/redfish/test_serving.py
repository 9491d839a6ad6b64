"""Emulated BMCs as a person starts them: by one command, with no password in it, ended by Ctrl-C."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import requests
import yaml

from fleet_runner.core.base.errors import FleetError
from fleet_runner.lab.redfish import FAULTS
from fleet_runner.lab.redfish.serving import ServeOptions, serve

SECONDS = 60
WAYS = ([sys.executable, "-m", "fleet_runner.lab.redfish"], [sys.executable, "-m", "fleet_runner.cli", "lab", "bmc"])


@contextmanager
def started(*words: str, way: int = 0) -> Iterator[tuple[Any, "subprocess.Popen[str]"]]:
    """Run the command; gives what it said of itself, and the process."""
    with subprocess.Popen([*WAYS[way], *words, "--json"], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield json.loads(process.stdout.readline()), process
        finally:
            process.kill()


@pytest.mark.parametrize("way", [0, 1])
def test_bmcs_run_until_ctrl_c_with_a_password_that_was_made_up(way: int) -> None:
    with started("--count", "3", "--speed", "100", way=way) as (said, process):
        path = Path(said["credentials"])
        assert path.stat().st_mode & 0o077 == 0
        known = yaml.safe_load(path.read_text("utf-8"))
        assert len(set(said["bmcs"])) == 3
        for url in said["bmcs"]:
            reply = requests.get(
                f"{url}/redfish/v1/Systems", auth=(known["username"], known["password"]), timeout=SECONDS
            )
            assert reply.ok
        process.send_signal(signal.SIGINT)
        assert process.wait(SECONDS) == 0
        assert not path.exists()


def test_a_certificate_makes_it_https(tmp_path: Path) -> None:
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    words = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=bmc"]
    names = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(cert)]
    subprocess.run(["openssl", *words, *names], check=True, capture_output=True, timeout=SECONDS)
    with started("--tls", str(cert), str(key)) as (said, process):
        (url,) = said["bmcs"]
        assert url.startswith("https://127.0.0.1:")
        assert requests.get(f"{url}/redfish/v1", verify=str(cert), timeout=SECONDS).ok
        process.send_signal(signal.SIGTERM)
        assert process.wait(SECONDS) == 0


def test_what_can_go_wrong_is_listed() -> None:
    said = subprocess.run([*WAYS[0], "--faults"], capture_output=True, text=True, check=True, timeout=SECONDS).stdout
    assert "drop_after_body" in said


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"tree": Path("missing.json")}, "missing.json"),
        ({"count": 0}, "0 BMCs"),
        ({"port": 65_000, "count": 600}, "600 BMCs"),
        ({"speed": 0.0}, "speed"),
        ({"rules": Path("missing.yml")}, "missing.yml"),
        ({"credentials": Path("missing.yml")}, "missing.yml"),
        ({"tls": (Path("cert"), Path("key"))}, "certificate"),
    ],
)
def test_what_cannot_be_started_is_said_in_one_sentence(change: dict[str, Any], words: str) -> None:
    with pytest.raises(FleetError, match=words):
        serve(ServeOptions(**change), _silent)


def test_a_password_that_others_can_read_is_not_taken(tmp_path: Path) -> None:
    path = tmp_path / "bmc.yml"
    path.write_text("username: a\npassword: b\n", "utf-8")
    path.chmod(0o644)
    with pytest.raises(FleetError, match="chmod 600"):
        serve(ServeOptions(credentials=path), _silent)
    path.chmod(0o600)
    path.write_text("username: a\n", "utf-8")
    with pytest.raises(FleetError, match="does not say"):
        serve(ServeOptions(credentials=path), _silent)


def test_a_port_that_is_taken_is_named() -> None:
    with started() as (said, _):
        port = int(said["bmcs"][0].rpartition(":")[2])
        words = [*WAYS[0], "--port", str(port)]
        answer = subprocess.run(
            words, capture_output=True, text=True, timeout=SECONDS, check=False, env=dict(os.environ)
        )
        assert answer.returncode == 1
        assert str(port) in answer.stderr


def _silent(_: str) -> None:
    raise AssertionError


def test_every_fault_and_its_options_are_in_the_document(project: Path) -> None:
    text = (project / "docs" / "bmc-emulator.md").read_text("utf-8")
    rows = {line.split("`")[1]: line for line in text.splitlines() if line.startswith("| `")}
    assert set(rows) == set(FAULTS)
    for name, fault in FAULTS.items():
        assert fault.sentence in rows[name]
        assert all(option in rows[name].split("|")[2] for option in fault.options)
