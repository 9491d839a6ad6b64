"""Debian's cloud-init, unpacked and never installed: it would set up the computer's next boot."""

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

PYTHON = "/usr/bin/python3"
PACKAGES = (
    "cloud-init", "python3-attr", "python3-blinker", "python3-certifi", "python3-chardet", "python3-configobj",
    "python3-idna", "python3-jinja2", "python3-json-pointer", "python3-jsonpatch", "python3-jsonschema",
    "python3-jwt", "python3-markupsafe", "python3-netifaces", "python3-oauthlib", "python3-pyrsistent",
    "python3-requests", "python3-serial", "python3-six", "python3-urllib3", "python3-yaml",
)  # fmt: skip
LIMIT_SECONDS = 120

SCHEMA = """
import contextlib, json, sys
from cloudinit.config import schema
said = []
for file in sys.argv[1:]:
    try:
        with contextlib.redirect_stdout(sys.stderr):
            schema.validate_cloudconfig_file(file, schema.get_schema())
        said.append("")
    except schema.SchemaValidationError as error:
        said.append(str(error))
print(json.dumps(said))
"""

NETWORKD = """
import sys
from cloudinit import safeyaml
from cloudinit.net import cmdline, network_state, networkd
found = cmdline.read_kernel_cmdline_config(sys.argv[1])
state = network_state.parse_net_config_data(found)
print(safeyaml.dumps(networkd.network_state_to_networkd(state)))
"""

WRITE = """
import sys
from cloudinit import util
from cloudinit.config import cc_write_files
cc_write_files.write_files("test", util.load_yaml(sys.stdin.read())["write_files"], "root:root")
"""


def why_not() -> str:
    """Say what is missing here; empty where nothing is."""
    missing = [tool for tool in (PYTHON, "apt-get", "dpkg-deb") if shutil.which(tool) is None]
    return f"Debian's {', '.join(missing)} is not here; run the tests on Debian 12" if missing else ""


def modules() -> Path:
    """Return the folder of its Python modules, fetched once and kept between test runs."""
    cache = Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")).expanduser() / "fleet-runner" / "cloud-init"
    folder = cache / hashlib.sha256(" ".join(PACKAGES).encode()).hexdigest()[:12]
    folder.mkdir(parents=True, exist_ok=True)
    with (cache / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "complete").exists():
            _fetch(folder)
            (folder / "complete").touch()
    return folder / "usr" / "lib" / "python3" / "dist-packages"


def schema(files: Sequence[Path]) -> list[str]:
    """Return what its schema finds wrong with each file, "" for nothing."""
    found: list[str] = json.loads(run(SCHEMA, *map(str, files)))
    return found


def networkd(command_line: str) -> str:
    """Return what it makes of the network-config on a kernel's command line, for systemd-networkd."""
    return run(NETWORKD, command_line)


def run(script: str, *words: str, given: bytes = b"", before: Sequence[str] = ()) -> str:
    """Run a script with its modules; `before` is a command that runs another one."""
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(modules()), "PYTHONDONTWRITEBYTECODE": "1"}
    answer = subprocess.run(
        [*before, PYTHON, "-s", "-c", script, *words],
        input=given, capture_output=True, check=False, env=environment, timeout=LIMIT_SECONDS,
    )  # fmt: skip
    assert answer.returncode == 0, answer.stderr.decode()
    return answer.stdout.decode()


def _fetch(folder: Path) -> None:
    packed = folder / "packages"
    shutil.rmtree(packed, ignore_errors=True)
    packed.mkdir()
    download = ["apt-get", "-q", "download", *PACKAGES]
    if _ends(download, packed) != 0:
        _ends(["apt-get", "-q", "update"], packed)
        assert _ends(download, packed) == 0, f"apt-get cannot download {PACKAGES[0]} and what it needs"
    for each in sorted(packed.glob("*.deb")):
        subprocess.run(["dpkg-deb", "-x", each, folder], check=True, timeout=LIMIT_SECONDS)
    shutil.rmtree(packed)


def _ends(command: Sequence[str], folder: Path) -> int:
    answer = subprocess.run(command, cwd=folder, capture_output=True, check=False, timeout=LIMIT_SECONDS)
    return answer.returncode
