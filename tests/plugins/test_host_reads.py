"""What is asked of a host, asked of this machine: the real tools and files, carried out and read as on a node."""

import json
import os
import struct
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from shutil import which
from types import ModuleType

import pytest

from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.check import run
from fleet_runner.core.checks.evidence import ReadEnd, Reading
from fleet_runner.core.checks.parsers import (
    clocks,
    dmidecode,
    edac,
    files,
    kernel_files,
    ldconfig,
    lscpu,
    lspci,
    meminfo,
    mounts,
    nvme_files,
    pci_files,
    processes,
    smart,
)
from fleet_runner.core.checks.reads import READS
from fleet_runner.core.checks.verdicts import Verdict
from tests.core.checks.catalogue.hosting import asked
from tests.waiting import PATIENCE, until

NAMES = (
    *("lscpu", "cpu_microcode", "meminfo", "nvme_controllers", "nvme_smart", "ata_smart", "findmnt", "df", "edac"),
    *("pci_devices", "lspci", "kernel_files", "ldconfig", "ps", "loads"),
)
CHRONYD, DMIDECODE, LSPCI = (
    which(name, path="/usr/sbin:/usr/bin:/sbin:/bin") for name in ("chronyd", "dmidecode", "lspci")
)


@pytest.fixture(scope="session")
def readings(plugin: Callable[[str], ModuleType]) -> dict[str, Reading]:
    """Everything at once, as a sweep asks for it."""
    module = plugin("modules/fleet_collect")
    return {
        each["name"]: Reading.from_json(each) for each in module.collect([READS[name].to_json() for name in NAMES])
    }


def text(readings: dict[str, Reading], name: str) -> str:
    """Return what a read brought that ended well."""
    assert (readings[name].end, readings[name].rc) == (ReadEnd.OK, 0), readings[name]
    return readings[name].text


def test_the_processors_are_known(readings: dict[str, Reading]) -> None:
    """As many as this process may count itself."""
    online = len(Path("/proc/stat").read_text().split("\ncpu")) - 1
    assert lscpu.parse(text(readings, "lscpu")).online == online
    files.parse(text(readings, "cpu_microcode"))


def test_memory_and_its_errors_are_known(readings: dict[str, Reading]) -> None:
    """Whether or not anything counts errors here."""
    told = files.parse(text(readings, "meminfo"))["/proc/meminfo"]
    assert meminfo.parse(told or "")["MemTotal"] > 1 << 28
    edac.counted(files.parse(text(readings, "edac")))


def test_disks_are_asked_without_a_shell(readings: dict[str, Reading]) -> None:
    """Find goes on, whether there are disks or tools."""
    assert set(smart.parse(text(readings, "nvme_smart"))) == {
        f"/dev/{each.name}" for each in nvme_files.controllers(files.parse(text(readings, "nvme_controllers")))
    }
    smart.parse(text(readings, "ata_smart"))


def test_disks_that_are_there_are_each_named_before_their_answer(
    plugin: Callable[[str], ModuleType], tmp_path: Path
) -> None:
    """The very command, over a folder like /dev, with a tool that answers for one disk and not the other."""
    (tmp_path / "dev").mkdir()
    for name in ("nvme0", "nvme1", "nvme1n1", "null"):
        (tmp_path / "dev" / name).touch()
    tool = tmp_path / "nvme"
    tool.write_text('#!/bin/sh\ncase "$4" in *nvme0) echo \'{"critical_warning": 4}\';; *) exit 1;; esac\n')
    tool.chmod(0o755)
    read = READS["nvme_smart"].to_json()
    read["argv"] = [
        {"/dev": f"{tmp_path}/dev", "/dev/nvme[0-9]+": ".*/nvme[0-9]+", "%p\n": "/dev/%f\n", "nvme": str(tool)}.get(
            each, each
        )
        for each in read["argv"]
    ]
    (found,) = plugin("modules/fleet_collect").collect([read])
    told = smart.parse(found["text"])
    assert told.keys() == {"/dev/nvme0", "/dev/nvme1"}
    assert told["/dev/nvme1"] is None
    assert told["/dev/nvme0"] is not None
    assert told["/dev/nvme0"].warnings == smart.Warnings.DEGRADED


def test_mounts_and_their_room_are_known(readings: dict[str, Reading]) -> None:
    """The root at least."""
    assert "/" in mounts.mounts(text(readings, "findmnt"))
    free = mounts.space(text(readings, "df"))
    assert all(each.free is None or 0 <= each.free <= 1 for each in free.values())
    assert free


def test_the_bus_is_known_to_the_kernel_as_to_lspci(readings: dict[str, Reading]) -> None:
    """The same devices, by the same ids."""
    if LSPCI is None:
        pytest.skip("lspci is not here; scripts/debian-packages installs it")
    seen = {each.pci: each.id for each in pci_files.devices(files.parse(text(readings, "pci_devices")))}
    assert seen == {each.pci: each.id for each in lspci.parse(text(readings, "lspci"))}


def test_the_kernel_is_known(readings: dict[str, Reading]) -> None:
    """Its release, its settings, and the libraries beside it."""
    seen = kernel_files.kernel(files.parse(text(readings, "kernel_files")))
    assert seen.release == Path("/proc/sys/kernel/osrelease").read_text().strip()
    assert seen.system
    assert seen.cmdline
    assert "libc.so.6" in ldconfig.parse(text(readings, "ldconfig"))


def test_a_process_that_nobody_took_note_of_is_seen(plugin: Callable[[str], ModuleType]) -> None:
    """A real zombie, which is this test's own child."""
    with subprocess.Popen(["true"]) as child:
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        (found,) = plugin("modules/fleet_collect").collect([READS["ps"].to_json()])
        rows = {row.pid: row for row in processes.parse(found["text"])}
        assert rows[child.pid].state == "Z"
        assert rows[child.pid].name.startswith("true")


def test_this_machine_is_judged(readings: dict[str, Reading]) -> None:
    """From its own processes, load and files to an answer."""
    expected = asked("processes", {"load_max": 100_000, "zombies_max": 100_000, "tenants_under": []})
    assert run(CHECKS["processes"], readings, expected).verdict is Verdict.PASS


@pytest.fixture
def socket(tmp_path: Path) -> Iterator[Path]:
    """A chronyd that follows its own clock, sets none, and answers at a socket."""
    if CHRONYD is None:
        pytest.skip("chronyd is not here; scripts/debian-packages installs it")
    path = tmp_path / "chronyd.sock"
    settings = tmp_path / "chrony.conf"
    settings.write_text(
        f"local stratum 8\nport 0\ncmdport 0\nbindcmdaddress {path}\npidfile {tmp_path}/pid\nuser root\n"
    )
    with subprocess.Popen([CHRONYD, "-x", "-d", "-f", settings], stderr=subprocess.DEVNULL) as daemon:
        until(path.exists, "chronyd's socket")
        yield path
        daemon.terminate()


def test_chronyd_says_how_well_it_keeps_the_clock(socket: Path) -> None:
    """With the read's own words, sent to that daemon."""
    tool, *words = READS["chronyc"].argv
    end = time.monotonic() + PATIENCE
    while True:
        said = subprocess.run([tool, "-h", str(socket), *words], capture_output=True, text=True, check=False).stdout
        if not said.startswith("506") or time.monotonic() > end:
            break
        time.sleep(0.1)
    clock = clocks.tracking(said)
    assert clock.offset is not None
    assert clock.offset < 1


def structure(kind: int, handle: int, fields: bytes, *texts: str) -> bytes:
    """Return one structure of a firmware's table (System Management BIOS, DSP0134)."""
    strings = b"".join(each.encode() + b"\0" for each in texts) or b"\0"
    return struct.pack("<BBH", kind, len(fields) + 4, handle) + fields + strings + b"\0"


def dump(*structures: bytes) -> bytes:
    """Return a table as `dmidecode --from-dump` reads it: its entry point, and the table at 0x20."""
    table = b"".join(structures)
    head = bytearray(b"_SM3_" + struct.pack("<BBBBBBBIQ", 0, 0x18, 3, 3, 0, 1, 0, len(table), 0x20))
    head[5] = -sum(head) % 256
    return bytes(head).ljust(0x20, b"\0") + table


def slot(handle: int, gib: int, name: str, serial: str) -> bytes:
    """Return a slot for a memory module; an empty one has no size."""
    fields = struct.pack(
        "<HHHHHBBBBBHHBBBBBIHHHH",
        *(0x1000, 0xFFFE, 80, 64, 0x7FFF if gib else 0, 9, 0, 1, 2, 0x22, 0x80, 4800, 3, 4, 5, 6, 2),
        *(gib * 1024, 4800 if gib else 0, 1100, 1100, 1100),
    )
    return structure(17, handle, fields, name, "P0_Node0_Channel0", "Samsung", serial, "TAG", "M321R8GA0BB0")


def test_dmidecode_describes_memory_and_the_end_of_its_table(tmp_path: Path) -> None:
    """A table of two slots, one of them empty, as firmware writes it."""
    if DMIDECODE is None:
        pytest.skip("dmidecode is not here; scripts/debian-packages installs it")
    array = structure(16, 0x1000, struct.pack("<BBBIHHQ", 3, 3, 6, 0x80000000, 0xFFFE, 2, 1 << 42))
    end = structure(127, 0xFEFF, b"")
    (tmp_path / "dump").write_bytes(
        dump(array, slot(0x1100, 64, "P1-DIMMA1", "80CE0100"), slot(0x1101, 0, "P1-DIMMA2", "NO DIMM"), end)
    )
    argv = [DMIDECODE, "--from-dump", tmp_path / "dump", *READS["dmidecode"].argv[1:]]
    said = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
    memory = dmidecode.parse(said)
    assert memory.complete, said
    first, second = memory.slots
    assert (first.name, first.bytes, first.rated, first.configured, first.serial) == (
        *("P1-DIMMA1", 64 << 30, 4800, 4800),
        "80CE0100",
    )
    assert (second.name, second.bytes, second.serial) == ("P1-DIMMA2", 0, "")


def test_evidence_of_files_is_as_the_collector_writes_it(readings: dict[str, Reading]) -> None:
    """Paths in order, each with a stripped text or null."""
    found = json.loads(text(readings, "loads"))
    assert sorted(found) == ["/proc/loadavg", "/proc/sys/fs/file-nr"]
    assert len(found["/proc/loadavg"].split()) == 5
