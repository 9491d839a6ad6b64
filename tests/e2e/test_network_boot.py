"""Day 0 with real parts: a server is switched on, boots over the network, proves who it is, and reports in.

QEMU makes the server, sushy-tools its BMC; dnsmasq, iPXE, the kernel, cloud-init and ssh are what sites run. Nothing
of it is seen outside a network namespace. A booted node is dear, therefore the tests share one, in this order.
"""

import base64
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from fleet_runner.core.boot.boots import Discovered, Milestone
from tests.booting import namespace
from tests.booting.hall import ADDRESS, BOOT_SECONDS, MAC, MUNGE, NODE, SECRET, Hall, hall
from tests.booting.image import Image
from tests.booting.machine import Machine
from tests.waiting import until

pytestmark = [pytest.mark.timeout(1200), pytest.mark.nightly]

KERNEL = "Linux version"
"""How a kernel begins to speak."""

STRANGER = Machine(
    "stranger", "0f0e0d0c-0b0a-4908-8706-050403020100", "A B/C+D", "52:54:00:00:00:99", "", megabytes=256
)

WHO = """
import os, stat
at = os.stat("%s")
print(os.uname().nodename, open("%s").read(), oct(stat.S_IMODE(at.st_mode)))
print(open("/etc/ssh/ssh_host_ed25519_key.pub").read())
"""

AGAIN = """
import re, urllib.error, urllib.request
seed = re.search("s=(http[^ ]+)", open("/proc/cmdline").read()).group(1)
try:
    print(urllib.request.urlopen(seed + "user-data", timeout=10).status)
except urllib.error.HTTPError as refused:
    print(refused.code)
"""


@pytest.fixture(scope="module")
def booted(boot_image: Image, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hall]:
    """A server that was off until the reconciler found it described, and now waits for a technician.

    While its kernel starts, the boot service and the reconciler are killed, and both are started again.
    """
    if why := namespace.why_not():
        pytest.skip(why)
    with hall(tmp_path_factory.mktemp("b"), tmp_path_factory.mktemp("h"), boot_image.images) as made:
        made.reconcile()
        until(lambda: KERNEL in made.machine.said(), made.told, BOOT_SECONDS)
        for name in ("boot", "serve"):
            made.network.kill(name)
        made.serve_boots()
        made.reconcile()
        made.wait_for_a_technician()
        yield made


def test_a_bare_server_boots_proves_who_it_is_and_waits_for_a_technician(booted: Hall) -> None:
    """Armed once, every milestone in its order, its data given to its own address; nothing was lost or repeated."""
    (boot,) = booted.boots()
    assert sorted(boot.reached, key=lambda each: boot.reached[each]) == list(Milestone)
    assert (boot.expected.macs, boot.claimed_by, boot.refused) == ({MAC}, ADDRESS, 0)
    assert boot.closed_at is not None
    with booted.store() as store:
        assert [run.outcome for run in store.runs(NODE)] == ["passed"]


def test_the_node_is_what_was_described_and_its_host_key_is_known_before_the_first_connection(booted: Hall) -> None:
    """It has its name and its secret; what it told of its host key is what ssh is held to."""
    name, secret, mode, _, key, *_ = booted.on_the_node(WHO % (SECRET, SECRET)).split()
    assert (name, secret, mode) == (NODE, booted.secrets[MUNGE], "0o400")
    assert not (booted.home / ".ssh").exists()
    assert key in (booted.root / "state" / "known_hosts" / ADDRESS).read_text("utf-8")


def test_boot_data_with_secrets_is_given_once_and_a_second_request_is_refused_and_shown(booted: Hall) -> None:
    """Also to the node itself, from its own address, with its own key."""
    assert booted.on_the_node(AGAIN) == "410\n"
    until(lambda: "closed" in booted.refusals(), booted.told)
    shown = " ".join(booted.command("boot", "show", NODE).stdout.split())
    assert f"user-data of boot {booted.boots()[0].id}" in shown


def test_no_secret_is_left_in_logs_results_or_artifacts(booted: Hall) -> None:
    """Neither as it is nor in base64; the boot's key stands on the kernel's command line, and else nowhere."""
    keys = set(re.findall(r"/seed/([0-9a-f-]+)/", booted.machine.said()))
    assert len(keys) == 1
    hidden = [*booted.secrets.values(), *keys]
    hidden += [base64.b64encode(each.encode()).decode() for each in hidden]
    own = {booted.root / name for name in (*booted.secrets, "lease.curl")}
    files = [path for folder in (booted.root, booted.home) for path in folder.rglob("*") if path.is_file()]
    found = {(path, each) for path in files for each in hidden if each.encode() in path.read_bytes()}
    assert {path for path, _ in found if path not in own} == {booted.machine.console}
    assert {each for path, each in found if path == booted.machine.console} == keys


def test_a_node_that_is_reset_by_hand_is_not_armed_and_gets_nothing(booted: Hall) -> None:
    """It asks, is told on its console why it gets nothing, and waits; the fleet's history says so."""
    before = len(booted.machine.said())
    booted.switch("ForceRestart", boot_from="Pxe")
    until(lambda: "not armed" in booted.machine.said()[before:], booted.told, BOOT_SECONDS)
    assert KERNEL not in booted.machine.said()[before:]
    assert len(booted.boots()) == 1
    until(lambda: "unarmed" in booted.refusals(), booted.told)


def test_a_machine_that_nobody_knows_is_written_down_with_what_it_says_and_gets_nothing(
    booted: Hall, tmp_path: Path
) -> None:
    """It takes the place of the node, which is switched off for it."""
    booted.switch("ForceOff")
    stranger = replace(STRANGER, folder=str(tmp_path))
    booted.network.start("stranger", *stranger.command_line(network=True))
    until(lambda: "Nobody knows this machine" in stranger.said(), booted.told, BOOT_SECONDS)
    assert KERNEL not in stranger.said()

    def seen() -> tuple[Discovered, ...]:
        with booted.store() as store:
            return store.discovered()

    until(lambda: bool(seen()), booted.told)
    (found,) = seen()
    assert (found.mac, found.serial, found.uuid) == (STRANGER.mac, STRANGER.serial, STRANGER.uuid)
    assert (found.manufacturer, found.product) == ("Fleet", "Test")
