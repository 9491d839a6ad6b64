"""The lab's nodes understand boot scripts as iPXE does."""

from collections.abc import Mapping

import pytest

from fleet_runner.lab import ipxe

START = "http://boot/boot.ipxe"
SETTINGS = {"mac": "b8:3f:d2:1e:00:01", "serial": "LAB S/1", "uuid": "", "platform": "efi"}


class Room:
    """What surrounds a machine: files by URL, its console, and how long it waited."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self.files = {f"http://boot/{name}": text for name, text in files.items()}
        self.asked: list[str] = []
        self.said: list[str] = []
        self.waited = 0.0

    def fetch(self, url: str) -> bytes:
        """Give a file, or say that there is none."""
        self.asked.append(url.removeprefix("http://boot/"))
        if url not in self.files:
            raise OSError("Not found")
        return self.files[url].encode()

    def wait(self, seconds: float) -> None:
        """Take no time."""
        self.waited += seconds

    def boot(self) -> ipxe.Loaded:
        """Boot a machine from the first script."""
        return ipxe.boot(ipxe.Machine(SETTINGS, self.fetch, self.wait, self.said.append), START)


def room(script: str, **files: str) -> Room:
    """A room whose first script has these lines."""
    return Room({"boot.ipxe": f"#!ipxe\n{script}", **files})


def test_a_script_loads_a_kernel_with_its_command_line_and_boots_it() -> None:
    here = room(
        "kernel --name linux /vmlinuz console=ttyS0 mac=${net0/mac:hexhyp}\ninitrd root.cpio\nboot\n",
        vmlinuz="k",
        **{"root.cpio": "r"},
    )
    loaded = here.boot()
    assert loaded.kernel == "http://boot/vmlinuz"
    assert loaded.arguments == "console=ttyS0 mac=b8-3f-d2-1e-00-01"
    assert loaded.initrds == ["http://boot/root.cpio"]


def test_what_it_says_of_itself_goes_into_the_address_of_the_next_script() -> None:
    here = room(
        "chain --replace /ipxe?mac=${netX/mac}&serial=${serial:uristring}&uuid=${uuid}&asset=${asset}\n",
        **{"ipxe?mac=b8:3f:d2:1e:00:01&serial=LAB%20S%2F1&uuid=&asset=": "#!ipxe\nkernel k\nboot\n", "k": "k"},
    )
    assert here.boot().kernel == "http://boot/k"


def test_a_command_that_fails_leads_to_what_follows_it_or_ends_the_script() -> None:
    here = room(
        ":again\n"
        "isset ${tried} && goto give_up ||\n"
        "set tried yes\n"
        "kernel /gone || goto again\n"
        "boot\n"
        ":give_up\n"
        "iseq ${platform} pcbios && echo so old || echo it is 'no use' on ${platform}\n"
        "sleep 5\n"
        "kernel /gone\n"
    )
    with pytest.raises(ipxe.Failed, match="kernel /gone: failed"):
        here.boot()
    assert here.asked == ["boot.ipxe", "gone", "gone"]
    gone = "http://boot/gone... Not found"
    assert here.said == [gone, "it is no use on efi", gone]
    assert here.waited == 5.0


@pytest.mark.parametrize(
    ("script", "says"),
    [
        ("frobnicate\n", "command not found"),
        ("echo done\n", "ended and nothing was booted"),
        ("echo 'open\n", "No closing quotation"),
        (":here\ngoto here\n", "commands and no kernel"),
        ("boot\n", "boot: failed"),
    ],
)
def test_a_script_that_boots_nothing_fails_with_a_reason(script: str, says: str) -> None:
    with pytest.raises(ipxe.Failed, match=says):
        room(script).boot()


def test_what_is_no_script_is_not_run() -> None:
    with pytest.raises(ipxe.Failed, match="Exec format error"):
        Room({"boot.ipxe": "<html>busy</html>"}).boot()
    with pytest.raises(ipxe.Failed, match=r"boot.ipxe\.\.\. Not found"):
        Room({}).boot()
