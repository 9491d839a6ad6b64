"""Which devices a node has, whose they are, and what each can do: nothing that is not known for sure is its own."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.evidence import ReadEnd, Reading
from fleet_runner.core.checks.parsers import lsblk
from fleet_runner.core.lifecycle.wipe import reads
from fleet_runner.core.lifecycle.wipe.devices import Device, Kind, devices
from fleet_runner.core.lifecycle.wipe.methods import Method
from tests.core.lifecycle.wipe.looks import NVME, block, evidence, reading, seen

SERIAL = "S4CKNX0R100001"


def only(*rows: dict[str, Any], **texts: str) -> Device:
    """Return the one disk of a node."""
    (found,) = devices(seen(*rows, **texts), tpm=False)
    return found


def ata(name: str, **more: Any) -> Device:
    """Return an ATA disk in one of the recorded states."""
    row = block("/dev/sda", tran="sata", serial=SERIAL, model="SAMSUNG MZ7LH480") | more
    return only(row, hdparm_AT_sda=evidence(f"hdparm/{name}.txt"))


def test_a_drive_is_known_by_its_controller_and_can_do_what_that_says() -> None:
    found = only(block("/dev/nvme0n1"))
    assert (found.key, found.kind, found.paths, found.bytes) == ("disk-S1", Kind.DISK, ("/dev/nvme0n1",), 1000)
    assert (found.model, found.serial, found.firmware) == ("X", "S1", "1")
    assert found.can > NVME
    assert (found.left, found.unread, found.hurdle) == ("", "", "")
    assert found.name == "/dev/nvme0n1 (X, serial S1)"


@pytest.mark.parametrize(
    ("row", "why"),
    [
        (block("/dev/sda", tran="usb"), "removable"),
        (block("/dev/sda", tran="sata", rm=True), "removable"),
        (block("/dev/sda", tran="sata", hotplug="1"), "removable"),
        (block("/dev/sda", tran="iscsi"), "reached over iscsi"),
        (block("/dev/sda", tran="fc"), "reached over fc"),
        (block("/dev/loop0", tran=None, type="loop"), "no disk"),
        (block("/dev/zram0", tran=None), "no disk"),
        (block("/dev/md0", tran=None), "no disk"),
        (block("/dev/sr0", tran="sata", type="rom"), "no disk"),
        (block("/dev/sda", tran="sata", size=0), "no disk"),
        (
            block("/dev/sda", tran="sas", children=[{"path": "/dev/mapper/a", "type": "mpath"}]),
            "path of the multipath",
        ),
    ],
)
def test_what_is_not_a_local_disk_is_left(row: dict[str, Any], why: str) -> None:
    found = only(row)
    assert why in found.left
    assert not found.can


def test_a_drive_over_a_network_is_left_although_lsblk_calls_it_nvme() -> None:
    ways = {"Controllers": [{"Transport": "tcp", "Namespaces": [{"NameSpace": "nvme0n1"}]}]}
    look = seen(block("/dev/nvme0n1")) | dict([reading(reads.NVME_LIST, json.dumps(ways))])
    (found,) = devices(look, tpm=False)
    assert found.left == "reached over tcp: it is in another machine"


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"mountpoints": ["/"]}, "in use: mounted at /"),
        ({"mountpoints": ["[SWAP]"]}, "in use: mounted at [SWAP]"),
        ({"children": [{"path": "/dev/nvme0n1p1", "type": "part", "mountpoints": ["/data"]}]}, "mounted at /data"),
        ({"children": [{"path": "/dev/md0", "type": "raid0"}]}, "in use: part of /dev/md0 (raid0)"),
        ({"ro": True}, "read-only"),
        ({"children": [{"path": "/dev/nvme0n1p1", "type": "part", "mountpoints": [None]}]}, ""),
    ],
)
def test_a_disk_in_use_says_by_what(more: dict[str, Any], why: str) -> None:
    found = only(block("/dev/nvme0n1", **more))
    assert bool(found.hurdle) is bool(why)
    assert why in found.hurdle


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("id_ctrl_AT_nvme0n1", '{"sn": "S2", "mn": "X"}', "lsblk says serial 'S1', its controller 'S2'"),
        ("id_ctrl_AT_nvme0n1", "", "id-ctrl is not JSON"),
        ("sanitize_log_AT_nvme0n1", "", "sanitize-log is not JSON"),
        ("nvme_list", "{}", "does not report its transport"),
        ("nvme_list", "", "does not report its transport"),
    ],
)
def test_a_drive_that_cannot_be_told_for_sure_is_unread(name: str, text: str, why: str) -> None:
    found = only(block("/dev/nvme0n1"), **{name: text})
    assert why in found.unread


def test_a_tool_that_failed_makes_its_drive_unread_and_says_what_it_said() -> None:
    look = seen(block("/dev/nvme0n1"))
    name = reads.id_ctrl("/dev/nvme0n1")
    for failed, why in (
        (
            Reading(name, ReadEnd.OK, "", rc=1, error="NVMe status: no\nno device"),
            "exited with 1, expected 0: no device",
        ),
        (Reading(name, ReadEnd.OK, "", rc=1), "exited with 1"),
        (Reading(name, ReadEnd.MISSING, error="nvme is not on this node"), "nvme is not on this node"),
        (Reading(name, ReadEnd.TIMEOUT), "timeout"),
    ):
        (found,) = devices(look | {name: failed}, tpm=False)
        assert why in found.unread
    (found,) = devices({key: each for key, each in look.items() if key != name}, tpm=False)
    assert "was not read" in found.unread


def test_without_a_list_of_devices_nothing_is_known() -> None:
    with pytest.raises(EvidenceError, match="lsblk: it was not read"):
        devices({}, tpm=True)


def test_namespaces_of_one_drive_are_one_device_and_one_in_use_keeps_it_whole() -> None:
    rows = [block("/dev/nvme0n1"), block("/dev/nvme0n2", mountpoints=["/x"]), block("/dev/nvme1n1", serial="S2")]
    two = json.dumps({"nsid_list": [{"nsid": 1}, {"nsid": 2}]})
    first, second = devices(seen(*rows, namespaces_AT_nvme0n1=two), tpm=False)
    assert (first.unread, second.unread) == ("", "")
    assert (first.paths, first.bytes) == (("/dev/nvme0n1", "/dev/nvme0n2"), 2000)
    assert first.hurdle == "in use: mounted at /x"
    assert second.paths == ("/dev/nvme1n1",)


ODD = st.text(st.sampled_from("S1 -_./é\ud800"), min_size=1, max_size=130).map(lambda text: " ".join(text.split()))


@given(st.lists(ODD | st.sampled_from(["S-1", "S 1", "S_1", "S_201", "S.1"]), unique=True, max_size=6))
def test_no_two_serial_numbers_share_the_name_of_a_log(serials: list[str]) -> None:
    """The log of one disk would prove that the other is erased."""
    rows = [block(f"/dev/sd{number}", tran="sas", serial=serial) for number, serial in enumerate(serials)]
    keys = [each.key for each in devices(seen(*rows), tpm=False)]
    assert len(set(keys)) == len(keys)
    assert all(len(key) < 200 and Path(key).name == key and key.isascii() for key in keys)


def test_a_disk_without_a_serial_number_does_not_share_a_log_with_one_whose_serial_number_is_its_name() -> None:
    rows = [block("/dev/sda", tran="sas", serial=None), block("/dev/sdb", tran="sas", serial="sda")]
    assert len({each.key for each in devices(seen(*rows), tpm=False)}) == 2


def test_long_serial_numbers_that_begin_alike_have_names_of_their_own() -> None:
    rows = [block(f"/dev/sd{each}", tran="sas", serial="X" * 120 + each) for each in "ab"]
    assert len({each.key for each in devices(seen(*rows), tpm=False)}) == 2


def test_two_drives_with_one_serial_number_are_not_taken_for_one() -> None:
    found = devices(seen(block("/dev/nvme0n1"), block("/dev/nvme1n1")), tpm=False)
    assert [each.unread for each in found] == ["2 disks say serial S1"] * 2


def test_a_disk_without_a_serial_number_is_unread_and_a_stick_with_one_like_it_does_not_matter() -> None:
    assert "reports no serial number" in only(block("/dev/vda", tran=None, serial=None)).unread
    stick = block("/dev/sdb", tran="usb")
    first, second = devices(seen(block("/dev/nvme0n1"), stick), tpm=False)
    assert (first.unread, second.left) == ("", "removable")


def test_a_drive_with_namespaces_that_are_not_here_is_not_formatted() -> None:
    two = json.dumps({"nsid_list": [{"nsid": 1}, {"nsid": 2}]})
    found = only(block("/dev/nvme0n1"), namespaces_AT_nvme0n1=two)
    assert not found.can & {Method.FORMAT_CRYPTO, Method.FORMAT_ERASE}
    assert Method.SANITIZE_CRYPTO in found.can


LISTED = reads.namespaces("/dev/nvme0n1")
UNKNOWN_COMMAND = (
    "NVMe status: Invalid Command Opcode: An unsupported value in the command opcode field(0x1)",
    "NVMe status: INVALID_OPCODE: The associated command opcode field is not valid(0x4001)",
    "NVMe status: Invalid Field in Command: An unsupported value in a defined field(0x4002)",
    "NVMe Status:INVALID_FIELD: A reserved coded value or an unsupported value in a defined field(4002) NSID:0",
)


@pytest.mark.parametrize("said", UNKNOWN_COMMAND)
def test_a_drive_without_management_of_namespaces_has_those_that_are_here(said: str) -> None:
    """It says so in what it can do, and again when it is asked for a list."""
    look = seen(block("/dev/nvme0n1")) | {LISTED: Reading(LISTED, ReadEnd.OK, "", rc=1, error=said)}
    (found,) = devices(look, tpm=False)
    assert (found.unread, Method.FORMAT_ERASE in found.can) == ("", True)


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (Reading(LISTED, ReadEnd.TIMEOUT, error=UNKNOWN_COMMAND[0]), "Invalid Command Opcode"),
        (Reading(LISTED, ReadEnd.UNREACHABLE), "unreachable"),
        (Reading(LISTED, ReadEnd.TRUNCATED, '{"nsid_list": ['), "truncated"),
        (Reading(LISTED, ReadEnd.MISSING, error="nvme is not on this node"), "nvme is not on this node"),
        (Reading(LISTED, ReadEnd.OK, "", rc=1, error="NVMe status: Internal Error(0x6)"), "Internal Error"),
        (Reading(LISTED, ReadEnd.OK, ""), "not JSON"),
        (Reading(LISTED, ReadEnd.OK, "{}"), "expected a list"),
        (Reading(LISTED, ReadEnd.OK, '{"nsid_list": []}'), "lists 0 namespaces, 1 here"),
    ],
)
def test_a_drive_whose_namespaces_could_not_be_listed_is_unread(answer: Reading, why: str) -> None:
    """One that is not attached would keep what it holds, and nobody would know."""
    (found,) = devices(seen(block("/dev/nvme0n1")) | {LISTED: answer}, tpm=False)
    assert why in found.unread


def test_a_drive_that_manages_namespaces_and_does_not_list_them_is_unread() -> None:
    manages = json.dumps({"sn": "S1", "mn": "X", "fr": "1", "oacs": 10})
    look = seen(block("/dev/nvme0n1"), id_ctrl_AT_nvme0n1=manages)
    (found,) = devices(look | {LISTED: Reading(LISTED, ReadEnd.OK, rc=1, error=UNKNOWN_COMMAND[0])}, tpm=False)
    assert "Invalid Command Opcode" in found.unread


def test_a_drive_that_cannot_sanitize_is_not_asked_how_its_last_one_went() -> None:
    drive = evidence("nvme/id_ctrl_qemu.json")
    row = block("/dev/nvme0n1", serial="S1AAAA01")
    found = only(row, id_ctrl_AT_nvme0n1=drive, sanitize_log_AT_nvme0n1="")
    assert (found.unread, found.sanitize) == ("", None)
    assert found.can & NVME == {Method.FORMAT_ERASE}


def test_an_ata_disk_erases_by_its_security_feature_unless_that_is_frozen() -> None:
    both = {Method.ATA_ENHANCED, Method.ATA_ERASE}
    plain, enabled, frozen, none = (ata(name) for name in ("plain", "enabled", "frozen", "none"))
    assert both < plain.can
    assert (plain.enabled, enabled.enabled) == (False, True)
    assert not both & frozen.can
    assert "frozen" in frozen.hurdle
    assert (none.can & both, none.hurdle) == (frozenset(), "")
    assert plain.model == "SAMSUNG MZ7LH480HAHQ-00005"


def test_an_ata_disk_that_is_frozen_and_in_use_says_what_comes_first() -> None:
    assert ata("frozen", mountpoints=["/"]).hurdle == "in use: mounted at /"


def test_an_ata_disk_with_another_serial_number_than_lsblk_says_is_unread() -> None:
    assert "lsblk says serial 'S9'" in ata("plain", serial="S9").unread


def test_any_other_disk_can_only_do_what_no_disk_announces() -> None:
    found = only(block("/dev/vda", tran=None))
    assert found.can == {Method.SECURE_DISCARD, Method.OVERWRITE}


def test_a_tpm_says_what_keeps_it_from_being_cleared() -> None:
    texts = evidence("tpm2/variable.txt")
    for flag, why in (("lockoutAuthSet", "password"), ("disableClear", "forbids"), ("inLockout", "locked out")):
        look = seen(tpm2_variable=texts.replace(f"{flag}:", f"{flag}: 1\n  other:"))
        (found,) = devices(look, tpm=True)
        assert why in found.hurdle
    (found,) = devices(seen(), tpm=True)
    assert (found.key, found.hurdle, found.name) == ("tpm", "", "the TPM (IBM 20191023.163636)")


def test_a_tpm_that_cannot_be_read_is_unread() -> None:
    (found,) = devices(seen(tpm2_fixed="", tpm2_variable=""), tpm=True)
    assert "says tpm: false" in found.unread
    assert replace(found, model="").name == "the TPM"


def test_each_disk_is_asked_what_its_kind_can_answer() -> None:
    blocks = lsblk.parse(json.dumps({"blockdevices": [
        block("/dev/nvme0n1"), block("/dev/sda", tran="sata"), block("/dev/sdb", tran="usb"),
        block("/dev/sr0", tran="sata", type="rom"),
    ]}))  # fmt: skip
    asked = {read.name: read.argv for read in reads.each(blocks)}
    assert asked["sanitize_log /dev/nvme0n1"] == ("nvme", "sanitize-log", "/dev/nvme0n1", "-o", "json")
    assert [argv[0] for argv in asked.values()] == ["nvme", "nvme", "nvme", "hdparm"]


def test_the_tpm_is_only_asked_where_it_is_to_be_cleared() -> None:
    without, both = ({read.name for read in reads.first(tpm=tpm)} for tpm in (False, True))
    assert both - without == {reads.TPM_FIXED, reads.TPM_VARIABLE}
    assert {reads.LSBLK, *reads.SERIALS} <= without
