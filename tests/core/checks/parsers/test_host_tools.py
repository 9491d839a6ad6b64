"""What a node's own kernel, disks and tools print: what no text does, then odd answers."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers import (
    clocks,
    dmidecode,
    files,
    kernel_log,
    lscpu,
    lspci,
    meminfo,
    mounts,
    processes,
    systemctl,
)
from fleet_runner.core.checks.parsers.kernel_lines import readable
from fleet_runner.core.checks.parsers.kernel_log import MOST_COMPONENTS, Rule
from tests.core.checks.healthy import text_of

RULE = Rule("it.burns", "burns", re.compile(r"(?P<what>\w{1,8}) burns(?:: (?P<why>.{0,40}))?"))

PREFIXES = st.sampled_from(
    [
        "",
        "2025-03-01T09:30:00,000000+00:00 ",
        "[  123.456789] ",
        "[  123.456789] [    T1] ",
        "[Sun Dec  8 09:23:39 2024] ",
        "Mar  4 10:02:15 gpu-01 kernel: ",
        "Mar  4 10:02:15 gpu-01 kernel: [  123.456789] ",
        "<6>[  123.456789] ",
        "kern  :err   : [  123.456789] ",
        "[  123.456789] gpu-01 kernel: ",
        "Mar 04 10:02:15.123456 gpu-01 kernel: ",
        "<6>1 2025-03-04T10:02:15.123456Z gpu-01 kernel - - - ",
        "\x1b[32m[  123.456789] \x1b[0m",
    ]
)

LINES = st.text(st.characters(exclude_characters="\n", codec="utf-8"), max_size=80)


@given(lines=st.lists(st.tuples(PREFIXES, LINES), min_size=1))
def test_a_message_counts_only_where_it_begins_as_the_rule_says(lines: list[tuple[str, str]]) -> None:
    """However the log's lines begin, whatever else they hold."""
    text = "".join(f"{prefix}x says {line}: it burns\n" for prefix, line in lines)
    assert kernel_log.parse(text, [RULE]) == ()


@given(prefixes=st.lists(PREFIXES, min_size=1, max_size=20), rest=LINES)
def test_each_way_to_log_a_message_is_read(prefixes: list[str], rest: str) -> None:
    """From dmesg with any time, and from a syslog."""
    text = "".join(f"{prefix}it burns: {rest}\n" for prefix in prefixes)
    (event,) = kernel_log.parse(text, [RULE])
    assert (event.component, event.count) == ("it", len(prefixes))


def test_a_line_without_its_end_is_none() -> None:
    """It may have been cut within its name."""
    assert kernel_log.parse("it burns\nit burns", [RULE])[0].count == 1


def test_a_log_of_nothing_or_of_too_much_is_refused() -> None:
    """A kernel that booted has said something; a ring buffer has an end."""
    for text in ("", " \n", "x\n" * (kernel_log.MAX_LINES + 1)):
        with pytest.raises(EvidenceError):
            kernel_log.parse(text, [RULE])


def test_parts_beyond_the_most_count_for_the_last_one() -> None:
    """Somebody who writes names into the log makes no more findings than that."""
    events = kernel_log.parse("".join(f"p{nth} burns\n" for nth in range(100)), [RULE])
    assert len(events) == MOST_COMPONENTS
    assert sum(event.count for event in events) == 100


@pytest.mark.parametrize(
    ("at", "said"),
    [
        ("2025-03-01T09:30:00,844986+00:00", "2025-03-01 09:30:00 UTC"),
        ("2025-03-01T09:30:00.5Z", "2025-03-01 09:30:00 UTC"),
        ("2025-03-01T09:30:00+01:00", "2025-03-01 09:30:00 +01:00"),
        ("2025-03-01T09:30:00", "2025-03-01 09:30:00"),
        ("Sat Mar  1 09:30:00 2025", "Sat Mar  1 09:30:00 2025"),
        ("12345.678901", "12345.678901"),
    ],
)
def test_a_time_of_the_log_is_told_as_people_read_it(at: str, said: str) -> None:
    """What is no ISO 8601 stands as it stood in the log."""
    assert readable(at) == said


def test_what_is_told_of_an_event() -> None:
    """How often, and when last, as far as the log says."""
    text = "it burns\n2025-03-01T09:30:00,000000+00:00 it burns: brightly\n"
    (event,) = kernel_log.parse(text, [RULE])
    assert (event.told, event.text) == ("logged 2 times, last at 2025-03-01 09:30:00 UTC", "brightly")
    assert kernel_log.parse("it burns\n", [RULE])[0].told == "logged once"


@pytest.mark.parametrize("text", ["[]", '{"/a": 1}', json.dumps(dict.fromkeys(map(str, range(20_001)), ""))])
def test_what_are_no_files_is_refused(text: str) -> None:
    """Or more of them than were asked for."""
    with pytest.raises(EvidenceError):
        files.parse(text)


def test_files_are_found_below_their_folder() -> None:
    """Of others with a like beginning, none."""
    found: files.Files = {"/a/x/one": "1", "/a/x/d/two": "2", "/ab/x/one": "3", "/a/y": "4", "/a/": "5"}
    assert files.below(found, "/a") == {"x": {"one": "1", "d/two": "2"}}


@pytest.mark.parametrize("parse", [dmidecode.parse, meminfo.parse, lscpu.parse, mounts.space, systemctl.parse])
@pytest.mark.parametrize("text", ["", "{}", "Permission denied\n", "/dev/mem: No such file or directory\n"])
def test_what_is_no_answer_is_refused(parse: object, text: str) -> None:
    """UNKNOWN, not missing."""
    with pytest.raises(EvidenceError):
        parse(text)  # type: ignore[operator]  each of them takes a text


def test_the_last_of_several_slots_is_left_out_where_it_is_cut() -> None:
    """Its last line may hold half of a name."""
    text = text_of("dmidecode/two_of_four.txt")
    cut = text[: text.index("DIMMA2")]
    assert [each.name for each in dmidecode.parse(cut).slots] == ["P1-DIMMA1"]


def test_more_than_any_server_has_is_refused() -> None:
    """Nothing reads it all."""
    for parse, text in (
        (dmidecode.parse, "Handle 0x0001, DMI type 17, 4 bytes\n" * 5000),
        (lspci.parse, "00:00.0 x\n" * 9000),
    ):
        with pytest.raises(EvidenceError, match="expected"):
            parse(text)


def test_a_complaint_of_lspci_is_no_device() -> None:
    """What stands beside devices is passed over."""
    with pytest.raises(EvidenceError, match="expected 1 to"):
        lspci.parse("lspci: Unable to load libkmod resources: error -2\n")
    (only,) = lspci.parse("pcilib: x\n00:01.1 PCI bridge: AMD GPP\n\tControl: I/O+\n00: b5 10 49 87 07 04\n")
    assert (only.pci, only.kind) == ("0000:00:01.1", lspci.BRIDGE)


def test_grace_and_flat_reports_are_read() -> None:
    """Of an older util-linux, and of another architecture."""
    seen = lscpu.parse(text_of("lscpu/flat_grace.json"))
    assert (seen.sockets, seen.cores, seen.threads, seen.numa_nodes) == (2, 72, 1, 34)


def test_a_process_may_be_called_anything() -> None:
    """A name is last on its line, spaces and all."""
    row = processes.parse("S 7 1 1005 60 D 1 2 3 4 systemd\n")[0]
    assert (row.state, row.name) == ("S", "D 1 2 3 4 systemd")
    with pytest.raises(EvidenceError, match="expected a process"):
        processes.parse("S 7 1 1005 60 a\nhello\n")


def test_timedatectl_of_nothing_is_refused() -> None:
    """Systemd did not run."""
    with pytest.raises(EvidenceError, match="NTPSynchronized"):
        clocks.timedatectl("Timezone=UTC\n")


def test_a_unit_of_which_half_is_told_is_none() -> None:
    """Its state is not known."""
    whole = "Id=a.service\nLoadState=loaded\nActiveState=active\nSubState=running\n"
    assert set(systemctl.parse(whole + "\nId=b.service\nLoadState=loaded\n")) == {"a.service"}
    assert set(systemctl.parse(whole + "\nId=b.service\nLoadState=loaded\nActiveState=active\nSubState=run")) == {
        "a.service"
    }
