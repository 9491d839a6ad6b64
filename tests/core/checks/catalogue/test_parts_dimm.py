"""Are the memory modules in the node that were bought."""

import pytest

from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers import dmidecode
from fleet_runner.core.checks.verdicts import Remedy, Verdict
from tests.core.checks.catalogue.hosting import asked, edited, host
from tests.core.checks.catalogue.judging import EXPECTED, HEALTHY, NODE, PROFILE, remedies

SEEN = HEALTHY["parts_dimm"]["dmidecode"]
MEMINFO = HEALTHY["parts_dimm"]["meminfo"]
PARTS = [
    {"slot": "P1-DIMMA1", "kind": "dimm", "model": "M321R8GA0BB0-CQKZJ", "serial": "80CE0100"},
    {"slot": "P2-DIMMA1", "kind": "dimm", "model": "M321R8GA0BB0-CQKZJ", "serial": "80CE0101"},
]
KNOWN = Expected(NODE, PROFILE, {"parts": PARTS}, run=EXPECTED.run)
FIRST = SEEN.index("Size: 64 GB")
PULLED = SEEN[:FIRST] + SEEN[FIRST:].replace("Size: 64 GB", "Size: No Module Installed", 1)
HALF = edited(MEMINFO, meminfo="MemTotal: 64000000 kB")


def test_a_missing_module_is_named_by_its_slot_and_serial() -> None:
    """The technician reads which one to reseat; one that is gone from its slot is no wrong serial."""
    result = host("parts_dimm", KNOWN, dmidecode=PULLED, meminfo=HALF)
    (finding,) = result.findings
    assert (finding.component, finding.remedy) == ("DIMM P1-DIMMA1", Remedy.TRIAGE)
    assert finding.message == "1 of 2 DIMMs are present; missing: DIMM P1-DIMMA1, serial 80CE0100"
    assert "P1-DIMMA1" in finding.steps[0]


def test_without_a_record_a_missing_module_is_named_only_if_one_slot_is_empty() -> None:
    """Three empty slots are no name for one module."""
    assert [each.component for each in host("parts_dimm", dmidecode=PULLED, meminfo=HALF).findings] == ["DIMMs"]
    full = asked("parts", {"count": 4}, "parts.dimm")
    assert [each.component for each in host("parts_dimm", full).findings] == ["DIMM P1-DIMMA2", "DIMM P2-DIMMA2"]


@pytest.mark.parametrize(
    ("old", "new", "code", "remedy"),
    [
        ("Size: 64 GB", "Size: 32768 MB", "dimm.size", Remedy.TRIAGE),
        ("M321R8GA0BB0-CQKZJ", "HMCG94MEBRA121N", "dimm.model", Remedy.TRIAGE),
        ("\tSpeed: 4800 MT/s", "\tSpeed: 4400 MT/s", "dimm.slow", Remedy.TRIAGE),
        ("Memory Speed: 4800", "Memory Speed: 4400", "dimm.speed", Remedy.REFLASH),
    ],
)
def test_each_difference_has_its_own_remedy(old: str, new: str, code: str, remedy: Remedy) -> None:
    """A module that could run faster is set so; one that could not is the wrong one."""
    result = host("parts_dimm", dmidecode=SEEN.replace(old, new, 1))
    assert result.verdict is Verdict.FAIL
    assert remedies(result)[code] is remedy


def test_more_modules_than_bought_are_watched() -> None:
    """Somebody put them in and said nothing."""
    result = host("parts_dimm", asked("parts", {"count": 1}, "parts.dimm"))
    assert remedies(result) == {"dimm.surplus": Remedy.WATCH}


def test_a_module_nobody_wrote_down_is_watched() -> None:
    """The record or the node is wrong."""
    result = host("parts_dimm", KNOWN, dmidecode=SEEN.replace("80CE0101", "80CE0999"))
    assert remedies(result) == {"dimm.serial": Remedy.WATCH}
    assert "80CE0999" in result.message
    silent = host("parts_dimm", KNOWN, dmidecode=SEEN.replace("80CE0101", "00000000"))
    assert silent.verdict is Verdict.PASS


def test_memory_that_the_firmware_mapped_out_is_a_fault() -> None:
    """All modules are there, and one is not used."""
    result = host("parts_dimm", meminfo=HALF)
    assert remedies(result) == {"dimm.unused": Remedy.TRIAGE}
    assert result.message.startswith("the kernel uses 61 of 128 GiB")


def test_a_report_without_its_end_finds_nothing_missing() -> None:
    """Its last modules may not have been read; those that were still count."""
    cut = SEEN[: SEEN.index("Handle 0x0027")]
    result = host("parts_dimm", KNOWN, dmidecode=cut)
    assert (result.verdict, result.findings) == (Verdict.UNKNOWN, ())
    assert "not to the table's end" in result.message
    assert remedies(host("parts_dimm", dmidecode=cut.replace("64 GB", "32 GB"))) == {"dimm.size": Remedy.TRIAGE}


def test_what_is_not_told_is_unknown() -> None:
    """A size that the firmware does not know, and a kernel that was not asked."""
    strange = SEEN.replace("Size: 64 GB", "Size: Unknown", 1)
    assert host("parts_dimm", dmidecode=strange).verdict is Verdict.UNKNOWN
    assert host("parts_dimm", meminfo=None).verdict is Verdict.UNKNOWN
    assert host("parts_dimm", meminfo='{"/proc/meminfo": null}').verdict is Verdict.UNKNOWN


def test_a_profile_may_leave_everything_but_the_number_open() -> None:
    """Then nothing else is judged."""
    changes = dict.fromkeys(("gib", "megatransfers", "models", "usable_share_min"), None)
    bent = SEEN.replace("64 GB", "1 TB", 1).replace("4800", "1").replace("M321R8GA0BB0-CQKZJ", "X")
    assert host("parts_dimm", asked("parts", changes, "parts.dimm"), dmidecode=bent).verdict is Verdict.PASS


def test_many_modules_at_the_wrong_speed_are_one_finding() -> None:
    """The BIOS holds them all."""
    one = SEEN[SEEN.index("Handle 0x0025") : SEEN.index("Handle 0x0026")].replace("Speed: 4800", "Speed: 4400")
    many = "".join(one.replace("P1-DIMMA1", f"P{nth}-DIMMA1") for nth in range(12))
    text = many.replace("\tSpeed: 4400", "\tSpeed: 4800") + "Handle 0x0099, DMI type 127, 4 bytes\nEnd Of Table\n\n"
    result = host("parts_dimm", asked("parts", {"count": 12}, "parts.dimm"), dmidecode=text, meminfo=MEMINFO)
    assert "12 DIMMs run at 4400 MT/s" in next(each.message for each in result.findings if each.code == "dimm.speed")
    assert "and 4 more" in result.message


def test_slots_of_one_name_are_told_apart_by_their_banks() -> None:
    """AMD's boards call each "DIMM 0"; some do not even name banks."""
    text = SEEN.replace("P1-DIMMA1", "DIMM 0").replace("P2-DIMMA1", "DIMM 0")
    names = [each.name for each in dmidecode.parse(text).slots if each.bytes]
    assert names == ["P0_Node0_Channel0_Dimm0 DIMM 0", "P1_Node1_Channel0_Dimm0 DIMM 0"]
    text = text.replace("P1_Node1_Channel0_Dimm0", "P0_Node0_Channel0_Dimm0")
    names = [each.name for each in dmidecode.parse(text).slots if each.bytes]
    assert names == ["P0_Node0_Channel0_Dimm0 DIMM 0 #0", "P0_Node0_Channel0_Dimm0 DIMM 0 #2"]


def test_older_and_other_spellings_are_read() -> None:
    """Spaces for tabs, MHz for MT/s, "Configured Clock Speed"; flash memory is no module."""
    text = (
        "Handle 0x0015, DMI type 17, 40 bytes\n        Memory Device\n        Size: 32 GB\n        Locator: A1\n"
        "        Type: DDR4\n        Speed: 2666 MHz\n        Configured Clock Speed: 2400 MHz\n\n"
        "Handle 0x0016, DMI type 17, 40 bytes\nMemory Device\n\tSize: 16 MB\n\tLocator: F\n\tType: Flash\n\n"
    )
    memory = dmidecode.parse(text)
    (slot,) = memory.slots
    assert (slot.name, slot.bytes, slot.rated, slot.configured) == ("A1", 32 << 30, 2666, 2400)
    assert not memory.complete
