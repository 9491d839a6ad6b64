"""What a wipe does next: nothing that is not the node's own, nothing twice, and everything in the end."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_runner.core.checks.parsers import nvme_tool
from fleet_runner.core.checks.parsers.nvme_tool import Sanitize, Sanitized
from fleet_runner.core.lifecycle.wipe import planner
from fleet_runner.core.lifecycle.wipe.devices import Device
from fleet_runner.core.lifecycle.wipe.methods import USUAL, Method
from fleet_runner.core.lifecycle.wipe.planner import MOST_LOST, Item, Missing, Next, Stay, missing, order, plan
from fleet_runner.core.lifecycle.wipe.reports import Report, TryStatus
from fleet_runner.core.lifecycle.wipe.wanted import WipePlan
from tests.core.lifecycle.wipe.looks import GONE, HOLDING, NOW, NVME, SINCE, disk, report, tpm, wanting
from tests.examples import examples

STAY = Stay(SINCE, NOW)
DONE = Sanitize(Sanitized.DONE, erased=True, share=1.0)

LOGS = st.none() | st.builds(Sanitize, st.sampled_from(Sanitized), st.booleans(), st.just(0.5))
WORDS = st.sampled_from(["", "", "", "why"])
DISKS = st.builds(
    lambda number, model, can, log, words: disk(
        number, model=model, can=can, sanitize=log, left=words[0], unread=words[1], hurdle=words[2]
    ),
    st.integers(1, 4), st.sampled_from(["X 1", "Y"]), st.frozensets(st.sampled_from(sorted(NVME))), LOGS,
    st.tuples(WORDS, WORDS, WORDS),
)  # fmt: skip
FOUND = st.lists(DISKS, max_size=4, unique_by=lambda each: each.key)
OWN = st.frozensets(st.sampled_from(["S1", "S2", "S3", "S4"]), max_size=4)
REPORTS = st.lists(
    st.builds(
        report,
        st.sampled_from(["disk-S1", "disk-S2", "tpm"]),
        st.sampled_from(sorted(NVME)),
        stand=st.sampled_from(TryStatus),
        after=st.sampled_from([HOLDING, GONE]),
        started=st.sampled_from([SINCE, NOW - 1.0]),
    ),
    max_size=4,
)
STAYS = st.builds(
    lambda told, proven: Stay(SINCE, NOW, tuple(told), {key: {"key": key, "why": "it changed"} for key in proven}),
    REPORTS,
    st.frozensets(st.sampled_from(["disk-S1", "disk-S2"])),
)


def one(device: Device, stay: Stay = STAY, own: tuple[str, ...] = (), wanted: WipePlan | None = None) -> Item:
    """Return what follows for one device."""
    (item,) = plan(wanted or wanting(), own, [device], stay)
    return item


@given(FOUND, OWN, STAYS, st.integers(1, 3))
def test_nothing_is_erased_that_is_not_known_to_be_the_nodes_own_and_free(
    found: list[Device], own: frozenset[str], stay: Stay, count: int
) -> None:
    wanted = wanting(count)
    there = sum(wanted.row(each.model) is not None and not each.left for each in found)
    for item in plan(wanted, own, found, stay):
        if item.next is Next.ERASE:
            device = item.device
            assert (device.left, device.unread, device.hurdle) == ("", "", "")
            assert wanted.row(device.model) is not None
            assert device.serial in own if own else there <= count
            assert item.method in device.can & set(USUAL)


@given(FOUND, OWN, STAYS)
def test_nothing_is_begun_on_a_device_that_is_erased_or_being_erased(
    found: list[Device], own: frozenset[str], stay: Stay
) -> None:
    for item in plan(wanting(4), own, found, stay):
        mine = [each for each in stay.reports if each.key == item.device.key]
        if item.next is Next.ERASE:
            assert item.device.key not in stay.proven
            assert all(each.stand is not TryStatus.RUNNING for each in mine)
            assert item.device.sanitize is None or item.device.sanitize.state is not Sanitized.RUNNING
            assert item.number == len(mine) + 1


@given(FOUND, OWN, STAYS)
def test_every_device_has_one_answer_with_a_reason(found: list[Device], own: frozenset[str], stay: Stay) -> None:
    items = plan(wanting(4), own, found, stay)
    assert [item.device for item in items] == found
    assert all(item.why for item in items)
    assert all(bool(item.code) is bool(item.steps) is (item.next is Next.REFUSE) for item in items)


ENDS = st.sampled_from(["well", "well", "fails", "holds", "reboots", "killed"])


@settings(max_examples=examples(300))
@given(FOUND, st.lists(ENDS, min_size=1, max_size=8), st.booleans())
def test_every_wipe_comes_to_an_end_and_each_device_is_erased_at_most_once_for_good(
    found: list[Device], ends: list[str], remembers: bool
) -> None:
    """Played against a node whose tries end well, fail, leave data, or are lost with or without the node's log."""
    rebooted = "reboots" in ends
    logs: list[Report] = []
    proven: dict[str, dict[str, Any]] = {}
    erased: list[str] = []
    begun: list[Item] = []
    for look in range(200):
        items = plan(wanting(4), (), found, Stay(SINCE, NOW, tuple(logs), dict(proven)))
        if remembers:
            proven |= {item.device.key: {"why": item.why} for item in items if item.next is Next.DONE}
        begun = [item for item in items if item.next is Next.ERASE]
        if not begun:
            break
        for item in begun:
            assert item.method is not None
            assert item.device.key not in proven
            made = report(item.device.key, item.method, number=item.number)
            end = ends[(look + len(logs)) % len(ends)]
            if end == "well":
                erased.append(item.device.key)
            if end == "reboots":
                logs.clear()  # they lie on a file system that a boot empties
                ends = [each for each in ends if each != "reboots"] or ["well"]
                continue
            logs.append(
                {"well": made, "fails": replace(made, error="no"), "holds": replace(made, after=HOLDING),
                 "killed": replace(made, stand=TryStatus.LOST, ended=None)}[end]
            )  # fmt: skip
    assert not begun
    assert rebooted or len(set(erased)) == len(erased)


def test_a_disk_is_erased_by_the_first_method_that_it_can_and_its_row_allows() -> None:
    assert one(disk()).method is Method.SANITIZE_CRYPTO
    assert one(disk(can=frozenset({Method.FORMAT_ERASE}))).method is Method.FORMAT_ERASE
    named = wanting(1, Method.FORMAT_ERASE, Method.SANITIZE_BLOCK)
    assert one(disk(), wanted=named).method is Method.FORMAT_ERASE


def test_a_method_that_failed_is_not_tried_again_and_the_next_one_is() -> None:
    failed = report(method=Method.SANITIZE_CRYPTO, error="no")
    item = one(disk(), replace(STAY, reports=(failed,)))
    assert (item.method, item.number) == (Method.SANITIZE_BLOCK, 2)


def test_a_method_that_got_lost_is_tried_again_but_not_for_ever() -> None:
    lost = report(method=Method.SANITIZE_CRYPTO, stand=TryStatus.LOST, ended=None)
    assert one(disk(), replace(STAY, reports=(lost,))).method is Method.SANITIZE_CRYPTO
    assert one(disk(), replace(STAY, reports=(lost,) * MOST_LOST)).method is Method.SANITIZE_BLOCK


def test_a_disk_whose_every_method_failed_is_refused_with_what_was_tried() -> None:
    tried = tuple(report(method=method, error="no") for method in USUAL)
    item = one(disk(), replace(STAY, reports=tried))
    assert (item.next, item.code) == (Next.REFUSE, "wipe.failed")
    assert "sanitize_crypto: no; sanitize_block: no" in item.why
    assert "serial S1" in item.steps[0]


@pytest.mark.parametrize(
    ("device", "own", "code", "why"),
    [
        (disk(model="Y"), (), "wipe.model", "no row of the profile"),
        (disk(), ("S2",), "wipe.serial", "does not list its serial"),
        (disk(hurdle="in use: mounted at /"), (), "wipe.hurdle", "mounted at /"),
        (disk(can=frozenset()), (), "wipe.no_method", "knows none of sanitize_crypto"),
        (tpm(hurdle="its lockout hierarchy has a password"), (), "wipe.hurdle", "password"),
    ],
)
def test_a_device_that_must_not_or_cannot_be_erased_says_why(
    device: Device, own: tuple[str, ...], code: str, why: str
) -> None:
    item = one(device, own=own)
    assert (item.next, item.code) == (Next.REFUSE, code)
    assert why in item.why


def test_of_more_disks_than_there_should_be_none_is_erased_unless_each_is_known() -> None:
    two = [disk(1), disk(2)]
    assert {item.code for item in plan(wanting(1), (), two, STAY)} == {"wipe.too_many"}
    by_serial = plan(wanting(1), ("S1",), two, STAY)
    assert [(item.next, item.code) for item in by_serial] == [(Next.ERASE, ""), (Next.REFUSE, "wipe.serial")]


def test_a_sanitize_that_runs_is_found_again_whoever_began_it() -> None:
    """As after a reboot: the drive goes on, the node's log is gone."""
    running = Sanitize(Sanitized.RUNNING, erased=False, share=0.25)
    item = one(disk(sanitize=running), replace(STAY, now=SINCE + 60))
    assert (item.next, item.why) == (Next.WAIT, "it is being erased for 60 s; 25% of a sanitize is done")


def test_a_drive_whose_log_says_that_it_is_sanitized_and_not_written_since_is_done() -> None:
    assert one(disk(sanitize=DONE)).next is Next.DONE
    again = nvme_tool.Sanitize(Sanitized.DONE, erased=False, share=1.0)
    assert one(disk(sanitize=again)).next is Next.ERASE


def test_a_log_is_not_believed_where_blocks_still_hold_what_they_held() -> None:
    holds = report(method=Method.FORMAT_ERASE, after=HOLDING)
    assert one(disk(sanitize=DONE), replace(STAY, reports=(holds,))).next is Next.ERASE


def test_what_takes_longer_than_allowed_is_refused_as_stuck() -> None:
    running = report(stand=TryStatus.RUNNING, started=NOW - 3601.0, ended=None)
    item = one(disk(), replace(STAY, reports=(running,)))
    assert (item.next, item.code) == (Next.REFUSE, "wipe.stuck")
    assert "1.0 h, expected at most 1" in item.why


def test_a_node_whose_clock_is_years_behind_is_not_taken_for_stuck() -> None:
    running = report(stand=TryStatus.RUNNING, started=5.0, ended=None)
    assert one(disk(), replace(STAY, now=SINCE + 60, reports=(running,))).why == "it is being erased for 60 s"


def test_a_try_that_runs_is_waited_for_even_if_the_disk_cannot_be_read_meanwhile() -> None:
    running = report(stand=TryStatus.RUNNING, ended=None)
    item = one(disk(unread="nvme id-ctrl: timeout"), replace(STAY, reports=(running,)))
    assert (item.next, item.report) == (Next.WAIT, running)


def test_a_disk_that_cannot_be_read_or_is_elsewhere_is_not_touched() -> None:
    assert one(disk(unread="no serial")).next is Next.UNREAD
    assert one(disk(left="removable")).next is Next.LEAVE


def test_disks_that_should_be_there_and_are_not_are_missing() -> None:
    found = [disk(1), disk(2, left="removable"), tpm()]
    assert missing(wanting(2), (), found) == (Missing("X *", "1 of 2 disks of model X * are there"),)
    assert missing(wanting(1), ("S1", "S2"), found) == (Missing("S2", "the disk with serial S2 is not there"),)
    assert missing(wanting(1), ("S1",), found) == ()


def test_an_order_names_every_namespace_and_erases_a_whole_drive_once() -> None:
    both = disk(paths=("/dev/nvme1n1", "/dev/nvme1n2"))
    whole = order(one(both))
    assert whole["steps"] == [["nvme", "sanitize", "/dev/nvme1n1", "-a", "4"]]
    assert whole["poll"] == ["nvme", "sanitize-log", "/dev/nvme1n1", "-o", "json"]
    assert whole["devices"] == [{"path": path, "serial": "S1"} for path in both.paths]
    each = order(one(replace(both, can=frozenset({Method.FORMAT_CRYPTO}))))
    assert [words[2] for words in each["steps"]] == list(both.paths)
    assert (each["poll"], each["probe"]) == ([], [])


def test_an_order_for_the_tpm_has_no_path_and_asks_for_its_key() -> None:
    found = order(one(tpm()))
    assert (found["devices"], found["steps"]) == ([], [["tpm2_clear"]])
    assert found["probe"][0] == "tpm2_createprimary"


def test_a_disk_that_has_our_password_from_an_erase_that_was_cut_off_is_unlocked_first() -> None:
    ata = disk(paths=("/dev/sda",), can=frozenset({Method.ATA_ENHANCED}))
    fresh, again = order(one(ata))["steps"], order(one(replace(ata, enabled=True)))["steps"]
    assert [words[3] for words in fresh] == ["--security-set-pass", "--security-erase-enhanced"]
    assert [words[3] for words in again] == ["--security-unlock", "--security-erase-enhanced"]


def test_nothing_is_ordered_for_a_device_that_is_not_to_be_erased() -> None:
    with pytest.raises(ValueError, match="disk-S1"):
        order(one(disk(left="removable")))


def test_every_code_of_a_disk_has_its_step() -> None:
    assert all(step.endswith(".") for step in planner.STEPS.values())
