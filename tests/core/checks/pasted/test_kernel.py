"""Kernel logs of any nodes, in any form, with the remedies that their faults call for."""

import json

import pytest

from fleet_runner.core.checks.pasted import flaps, kernel
from fleet_runner.core.checks.pasted.kernel import KernelLogs
from fleet_runner.core.checks.pasted.told import THIS_NODE, Group, Part, Told

XID = "NVRM: Xid (PCI:0000:9b:00): {}, pid='<unknown>', name=<unknown>, what it says"
FALLEN = XID.format(79)


def read(*lines: str, node: str = "") -> Part:
    """Return what lines say; each has its end."""
    logs = KernelLogs(node)
    logs.feed("".join(f"{line}\n" for line in lines))
    found = logs.end()
    assert found is not None
    return found


def only(*lines: str) -> Told:
    """Return the one finding of lines."""
    (found,) = read(*lines).told
    return found


def journal(message: str, **more: str) -> str:
    """Return an entry of `journalctl -o json`."""
    entry = {
        "MESSAGE": message,
        "_HOSTNAME": "gpu-03",
        "_TRANSPORT": "kernel",
        "__REALTIME_TIMESTAMP": "1764295864501200",
    }
    return json.dumps(entry | more)


@pytest.mark.parametrize(
    ("prefix", "node"),
    [
        ("", THIS_NODE),
        ("[  123.456789] ", THIS_NODE),
        ("<4>[  123.456789] ", THIS_NODE),
        ("[Sat Mar  1 09:40:00 2025] ", THIS_NODE),
        ("2025-03-01T09:40:00,123456+00:00 ", THIS_NODE),
        ("kern  :err   : [  123.456789] ", THIS_NODE),
        ("    [  123.456789] ", THIS_NODE),
        ("Mar  1 09:40:00 gpu-01 kernel: [  123.456789] ", "gpu-01"),
        ("Mar 01 09:40:00.123456 gpu-01 kernel: ", "gpu-01"),
        ("2025-03-01T09:40:00+0000 gpu-01 kernel: ", "gpu-01"),
        ("2025-03-01T09:40:00.123456+00:00 gpu-01.example kernel: ", "gpu-01.example"),
        ("<4>1 2025-03-01T09:40:00.123456Z gpu-01 kernel - - - ", "gpu-01"),
        ("Sat 2025-03-01 09:40:00 UTC gpu-01 kernel: ", "gpu-01"),
        ("1740822000.123456 gpu-01 kernel: ", "gpu-01"),
        ("[  123.456789] gpu-01 kernel: ", "gpu-01"),
        ("gpu-01: [  123.456789] ", "gpu-01"),
        ("gpu-01: [Sat Mar  1 09:40:00 2025] ", "gpu-01"),
        ("kern.log:Mar  1 09:40:00 gpu-01 kernel: ", "gpu-01"),
    ],
)
def test_a_fault_is_found_with_its_node_in_every_form_of_a_log(prefix: str, node: str) -> None:
    told = only(f"{prefix}{FALLEN}")
    assert (told.node, told.finding.code, told.finding.remedy.value) == (node, "xid.79", "POWER_CYCLE")
    assert told.finding.component == "GPU 0000:9b:00.0"


def test_the_journals_json_is_read_and_only_the_kernels_word_counts() -> None:
    told = only(journal(FALLEN))
    assert (told.node, told.finding.code, told.first) == ("gpu-03", "xid.79", "2025-11-28 02:11:04 UTC")
    assert read(journal("x"), journal(FALLEN, _TRANSPORT="stdout", _COMM="evil")).told == ()
    assert only(journal(FALLEN, __REALTIME_TIMESTAMP="soon")).first == ""


@pytest.mark.parametrize("line", ["{", '{"MESSAGE": [1]} Xid (', "[1] Xid (", '{"Xid (": 1}'])
def test_what_is_no_entry_of_a_journal_says_nothing(line: str) -> None:
    logs = KernelLogs()
    logs.feed(f"{line}\n")
    assert logs.end() is None


@pytest.mark.parametrize(
    "line",
    [
        f"Mar  1 09:40:00 gpu-01 python3[77]: {FALLEN}",
        f"[  1.0] process {FALLEN}",
        f"Mar  1 09:40:00 gpu-01 sshd[77]: kernel: {FALLEN}",
    ],
)
def test_a_message_that_somebody_else_quotes_is_none(line: str) -> None:
    logs = KernelLogs()
    logs.feed(f"{line}\n")
    found = logs.end()
    assert found is None or found.told == ()


def test_one_fault_is_one_finding_however_often_it_was_logged() -> None:
    lines = [f"Nov 28 02:{minute:02}:04 gpu-03 kernel: {FALLEN}" for minute in range(11, 52)]
    told = only(*lines)
    assert (told.count, told.first, told.last) == (41, "Nov 28 02:11:04", "Nov 28 02:51:04")
    assert told.line == lines[0]
    assert read(*lines).matter == 41


def test_a_line_that_was_broken_to_fit_a_window_is_put_together() -> None:
    assert (
        only("[  1.000000] NVRM: Xid", "(PCI:0000:9b:00): 79, GPU has fallen off the bus.").finding.code == "xid.79"
    )
    assert only("[  1.000000] NVRM: Xid (PCI:0000:9", "b:00): 79, GPU has fallen").finding.code == "xid.79"
    assert read("[  1.000000] NVRM: Xid", "[  2.000000] other").told == ()
    assert read("[  1.000000] NVRM: Xid").told == ()


def test_a_line_that_is_cut_within_its_code_says_nothing() -> None:
    logs = KernelLogs()
    logs.feed("[  1.000000] NVRM: Xid (PCI:0000:9b:00): 7")
    found = logs.end()
    assert found is not None
    assert found.told == ()


def test_that_a_gpu_was_lost_is_read_over_three_lines_and_counted_once() -> None:
    never = ("The NVIDIA GPU 0000:9b:00.0", "(PCI ID: 10de:2330) installed in this system has",
             "fallen off the bus and is not responding to commands.")  # fmt: skip
    assert only(*(f"[ 1.000000] NVRM: {each}" for each in never)).finding.code == "xid.79"
    told = only(f"[ 1.000000] {FALLEN}", "[ 1.000000] NVRM: GPU 0000:9b:00.0: GPU has fallen off the bus.")
    assert told.count == 1


def test_an_applications_own_error_is_nobodys_hardware() -> None:
    for code in (13, 31, 43, 45):
        assert only(f"[ 1.000000] {XID.format(code)}").group is Group.APPLICATION
    assert only(f"[ 1.000000] {XID.format(63)}").group is Group.RECORDED
    assert only(f"[ 1.000000] {XID.format(99999)}").group is Group.RECORDED


def test_what_an_application_seems_to_have_done_beside_a_gpus_own_error_is_not_blamed_on_it() -> None:
    other = f"[ 1.000000] {XID.format(45)}".replace("9b", "1b")
    told = read(*(f"[ 1.000000] {XID.format(code)}" for code in (48, 45)), other).told
    assert [(each.finding.code, each.group) for each in told] == [
        ("xid.48", Group.ACTION), ("xid.45", Group.RECORDED), ("xid.45", Group.APPLICATION),
    ]  # fmt: skip


def test_an_nvlink_error_beside_a_switchs_is_reset_and_alone_watched() -> None:
    switch = "[ 1.000000] nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 20034, "
    link = f"[ 1.000000] {XID.format(74)}"
    told = read(link, f"{switch}Severity 1 Engine instance 37", f"{switch}Fatal, Link 37 LTSSM Fault Up").told
    assert {each.finding.code: each.finding.remedy.value for each in told} == {
        "xid.74": "RESET",
        "sxid.20034": "RESET",
    }
    assert told[0].finding.message == "SXid 20034, Fatal, Link 37 LTSSM Fault Up"
    assert only(link).finding.remedy.value == "WATCH"


def test_what_a_boot_cures_is_over_once_the_node_has_booted() -> None:
    hung, boot = f"[ 9.000000] {XID.format(119)}", "[ 0.000000] Linux version 6.8.0-51-generic"
    assert only(hung).group is Group.ACTION
    assert only(hung, boot).group is Group.OVER
    assert only(hung, boot, hung).group is Group.ACTION
    assert only(f"[ 9.000000] {FALLEN}", boot).group is Group.ACTION, "a boot takes no power away"


def test_a_reset_that_the_product_logged_ends_what_it_cures() -> None:
    hung, other = f"[ 9.000000] {XID.format(119)}", f"[ 9.000000] {XID.format(119)}".replace("9b", "1b")
    told = read(hung, other, "[ 10.000000] fleet-runner: reset of 0000:9b:00.0").told
    assert {each.finding.component: each.group for each in told} == {
        "GPU 0000:9b:00.0": Group.OVER, "GPU 0000:1b:00.0": Group.ACTION,
    }  # fmt: skip
    assert only(hung, "[ 10.000000] fleet-runner: reset of all GPUs").group is Group.OVER
    assert only(f"[ 9.000000] {FALLEN}", "[ 10.000000] fleet-runner: reset of all GPUs").group is Group.ACTION
    disk = "[ 9.000000] critical medium error, dev sda, sector 1"
    assert only(disk, "[ 10.000000] fleet-runner: reset of all GPUs").group is Group.ACTION


def test_other_faults_of_the_kernels_log_keep_their_checks_words() -> None:
    told = only("Nov 28 02:11:04 gpu-03 kernel: EDAC MC0: 1 UE memory read error on CPU_SrcID#0_MC#0 (channel:1)")
    assert (told.finding.code, told.finding.remedy.value) == ("memory.lost", "TRIAGE")
    hands = only("[ 9.000000] critical medium error, dev nvme2n1, sector 8191 op 0x0:(READ)")
    assert "Find the disk behind nvme2n1" in hands.finding.steps[0]
    assert only("[ 9.000000] x: attempt to access beyond end of device").finding.component == "disks"


def test_a_hostile_text_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "MOST_NODES", 2)
    monkeypatch.setattr(kernel, "MOST_FAULTS", 2)
    monkeypatch.setattr(kernel, "MOST_WORDINGS", 2)
    found = read(*(f"Nov 28 02:11:04 gpu-{node} kernel: {FALLEN}" for node in range(5)))
    assert len(found.told) == 2
    found = read(*(f"[ 1.000000] {XID.format(code)}" for code in range(46, 60)))
    assert len(found.told) == 2
    said = only(*(f"[ 1.000000] {XID.format(31)} {number}" for number in range(9)))
    assert said.count == 9
    switch = "[ 1.000000] nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 20034, Fatal, Link {}"
    assert only(*(switch.format(number) for number in range(9))).count == 9


def test_a_driver_that_begins_a_line_is_no_host() -> None:
    told = only("[ 9.000000] mlx5_core 0000:1a:00.0: PCIe Bus Error: severity=Uncorrected (Fatal), type=x")
    assert (told.node, told.finding.code) == (THIS_NODE, "pcie.fatal")


def test_a_log_without_a_fault_names_its_hosts_and_one_of_no_kernel_is_none() -> None:
    found = read(*(f"Nov 28 02:11:04 gpu-{node} kernel: [ 1.0] x" for node in (1, 2, 2)))
    assert (found.name, found.told, found.matter) == ("kernel log of 2 hosts", (), 0)
    logs = KernelLogs()
    logs.feed("Nov 28 02:11:04 gpu-1 sshd[77]: Accepted publickey\n")
    assert logs.end() is None


def flapping(*times: str, name: str = "ib6") -> list[str]:
    """Return losses at times of a day."""
    return [f"Nov 28 {time} gpu-03 kernel: mlx5_core 0000:1a:00.0 {name}: Link down" for time in times]


def test_a_link_that_flaps_by_itself_has_its_ends_cleaned() -> None:
    told = only(*flapping("02:00:00", "02:20:00", "02:40:00"))
    assert (told.finding.code, told.finding.component, told.count) == ("link.flaps", "ib6", 3)
    assert told.finding.message.startswith("ib6 lost its carrier 3 times within an hour and 3 times within a day")
    assert told.finding.steps[0].startswith("At gpu-03 port ib6")
    assert read(*flapping("02:00:00", "02:20:00"), "Nov 28 02:30:00 gpu-03 kernel: x").told == ()
    slow = flapping("00:00:00", "04:00:00", "08:00:00", "12:00:00", "16:00:00", "20:00:00")
    assert only(*slow).finding.code == "link.flaps"
    assert read(*slow[:5], "Nov 28 22:30:00 gpu-03 kernel: x").told == ()


def test_no_cable_is_blamed_for_what_took_several_links_down() -> None:
    times = ("02:00:00", "02:20:00", "02:40:00")
    found = read(*flapping(*times), *flapping(*times, name="ib7"))
    assert found.told == ()
    (told,) = found.unsure
    assert told.startswith("ib6, ib7 lost carrier at the same moments as other links of gpu-03: a switch, a driver")


def test_no_cable_is_blamed_for_boots() -> None:
    boots = [f"Nov 28 02:{minute}:00 gpu-03 kernel: Linux version 6.8" for minute in ("00", "20", "40")]
    assert read(*boots, *flapping("02:01:00", "02:19:00", "02:39:30", "02:41:00")).told == ()
    early = [f"[ {second}.000000] mlx5_core 0000:1a:00.0 ib6: Link down" for second in (10, 20, 30)]
    assert read(*early).told == ()
    late = [line.replace("[ ", "[ 90") for line in early]
    assert only(*late).finding.code == "link.flaps"
    assert read("Linux version 6.8", *early).told == ()


def test_losses_without_a_time_are_said_to_be_open() -> None:
    lines = ["mlx5_core 0000:1a:00.0 ib6: Link down"] * 3
    found = read(*lines)
    assert found.told == ()
    assert found.unsure[0].startswith("ib6 lost its carrier 3 times at unreadable times")
    assert flaps.MOST > 3


CLEANED = "NVRM: Xid (PCI:0000:9b:00): 45, pid=18, name=python3, Ch 00000001 caused by previous Xid {}"


def test_an_xid_that_only_cleans_up_is_the_matter_of_the_one_that_it_names() -> None:
    """Where that is in the log, it alone is told; where it is not, nobody can tell; an application's stays one."""
    fatal = "NVRM: Xid (PCI:0000:9b:00): 145, RLW_REMAP Fatal XC0 i0 Link 08 (0x00000082 0x00000040)"
    assert [each.finding.code for each in read(fatal, CLEANED.format(145)).told] == ["xid.145"]
    found = read(CLEANED.format(145), CLEANED.format(149))
    assert found.told == ()
    (sentence,) = found.unsure
    assert sentence.endswith("Xid 45 follows Xid 145 and Xid 149, which is not in this log; look further back")
    own = read(CLEANED.format(13))
    assert ([each.group for each in own.told], own.unsure) == ([Group.APPLICATION], ())


def test_xids_of_no_gpu_are_told_of_as_unread() -> None:
    """Addresses are often taken out of what is shown to others."""
    found = read("NVRM: Xid (PCI:...): 145, RLW_RXPIPE Nonfatal", "NVRM: Xid (PCI:...): 137, PRIV Error")
    assert found.told == ()
    (sentence,) = found.unsure
    assert sentence.startswith(
        "this node: 2 lines with an Xid cannot be read, expected a PCI address and a number: NVRM"
    )
    assert read(FALLEN, "systemd[1]: said: NVRM: Xid (PCI:...): 145").unsure == ()


def test_what_the_driver_says_without_an_xid_is_told_once() -> None:
    """Beside an Xid of whichever GPU that asks for a reset, it says nothing more."""
    words = "NVRM: GPU0 _kgspIsHeartbeatTimedOut: Heartbeat timed out, timeout 5200"
    assert [each.finding.code for each in read(words).told] == ["gpu.driver_stuck"]
    assert [each.finding.code for each in read(words, XID.format(119)).told] == ["xid.119"]


@pytest.mark.parametrize(
    ("line", "host"),
    [
        (
            f'<3>1 2026-11-30T03:12:01.123456+00:00 gpu-07 kernel - - [meta sequenceId="12"][a b="c"] {FALLEN}',
            "gpu-07",
        ),
        (f"<3>1 2026-11-30T03:12:01Z gpu-07 kernel - - - {FALLEN}", "gpu-07"),
        (f"[pod/dmesg-x/dmesg] [12345.678901] {FALLEN}", THIS_NODE),
        (f"[pod/dmesg-x/dmesg] 2026-11-30T03:12:01.123456789Z [12345.678901] {FALLEN}", THIS_NODE),
        (f"2026-11-30T03:12:01.123456789+00:00 stdout F [12345.678901] {FALLEN}", THIS_NODE),
        (json.dumps({"log": f"[12345.678901] {FALLEN}\n", "stream": "stdout"}), THIS_NODE),
        (json.dumps({"log": f"{FALLEN}\n", "kubernetes": {"host": "gpu-07"}}), "gpu-07"),
    ],
)
def test_a_line_of_the_kernel_is_known_behind_what_syslog_and_containers_put_before_it(line: str, host: str) -> None:
    found = read(line)
    assert [(each.finding.code, each.node) for each in found.told] == [("xid.79", host)]


@pytest.mark.parametrize(
    "line",
    [
        json.dumps([f"{FALLEN}"]),
        json.dumps({"log": 7, "say": FALLEN}),
        json.dumps({"log": json.dumps({"log": FALLEN})}),
        json.dumps({"log": f"my-exporter: {FALLEN}"}),
        f"2026-11-30T03:12:01Z gpu-07 exporter - - - {FALLEN}",
    ],
)
def test_what_others_quote_of_the_kernel_is_none_of_its_lines(line: str) -> None:
    logs = KernelLogs()
    logs.feed(f"{line}\n")
    found = logs.end()
    assert found is None or found.told == ()
