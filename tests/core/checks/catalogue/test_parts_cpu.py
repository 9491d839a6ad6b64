"""Are the processors those that were bought."""

import json

import pytest

from fleet_runner.core.checks.verdicts import Remedy, Verdict
from tests.core.checks.catalogue.hosting import asked, edited, host
from tests.core.checks.catalogue.judging import HEALTHY, remedies

SEEN = HEALTHY["parts_cpu"]["lscpu"]


@pytest.mark.parametrize(
    ("old", "new", "code", "remedy"),
    [
        ('"data": "2"}\n         ]}', '"data": "1"}\n         ]}', "cpu.sockets", Remedy.TRIAGE),
        ('"data": "56"', '"data": "52"', "cpu.cores", Remedy.TRIAGE),
        ("8480C", "8468", "cpu.model", Remedy.TRIAGE),
        ('core:", "data": "2"', 'core:", "data": "1"', "cpu.threads", Remedy.REFLASH),
        ('node(s):", "data": "2"', 'node(s):", "data": "4"', "cpu.numa_nodes", Remedy.REFLASH),
    ],
)
def test_each_difference_has_its_own_remedy(old: str, new: str, code: str, remedy: Remedy) -> None:
    """What is missing needs hands; what the BIOS decides is a setting."""
    text = SEEN.replace('Socket(s):", "data": "2"', 'Socket(s):", "data": "1"') if code == "cpu.sockets" else SEEN
    result = host("parts_cpu", lscpu=text if code == "cpu.sockets" else text.replace(old, new))
    assert result.verdict is Verdict.FAIL
    assert remedies(result) == {code: remedy}


def test_cpus_that_are_offline_are_one_fault_and_no_missing_cores() -> None:
    """Of cores, only those that run are counted."""
    text = SEEN.replace('"0-223"}', '"0-221"}, {"field": "Off-line CPU(s) list:", "data": "222,223"}')
    result = host("parts_cpu", lscpu=text.replace('"data": "56"', '"data": "55"'))
    assert remedies(result) == {"cpu.offline": Remedy.REBOOT}
    assert result.message == "2 CPUs are offline and 222 online, expected 224 online"


def test_cpus_that_the_kernel_was_told_to_leave_out_are_no_fault() -> None:
    """With one thread per core expected, their siblings may stay offline."""
    text = SEEN.replace('"0-223"}', '"0-111"}, {"field": "Off-line CPU(s) list:", "data": "112-223"}')
    text = text.replace('core:", "data": "2"', 'core:", "data": "1"')
    assert host("parts_cpu", asked("parts", {"threads_per_core": 1}, "parts.cpu"), lscpu=text).verdict is Verdict.PASS


def test_another_microcode_is_named_once_and_none_at_all_is_unknown() -> None:
    """Both sockets must run one of the accepted."""
    microcode = HEALTHY["parts_cpu"]["cpu_microcode"]
    result = host("parts_cpu", cpu_microcode=edited(microcode, cpu1__microcode__version="0x2b000181"))
    assert remedies(result) == {"cpu.microcode": Remedy.REFLASH}
    assert result.message == "the microcode is 0x2b000181, expected 0x2b0004b1"
    assert host("parts_cpu", cpu_microcode=None).verdict is Verdict.UNKNOWN


def test_what_lscpu_does_not_tell_is_unknown_where_the_profile_asks() -> None:
    """A dash stands there for clusters without sockets."""
    text = SEEN.replace('Socket(s):", "data": "2"', 'Socket(s):", "data": "-"')
    result = host("parts_cpu", lscpu=text)
    assert (result.verdict, result.message) == (Verdict.UNKNOWN, "lscpu does not report sockets")


def test_only_sockets_must_be_asked_for() -> None:
    """A profile may leave the rest open."""
    changes = dict.fromkeys(("cores_per_socket", "threads_per_core", "numa_nodes", "model", "microcodes"), None)
    text = SEEN.replace('"0-223"}', '"0-3"}, {"field": "Off-line CPU(s) list:", "data": "4"}')
    assert host("parts_cpu", asked("parts", changes, "parts.cpu"), lscpu=text).verdict is Verdict.PASS


@pytest.mark.parametrize("listed", ["", "x", "5-1", "0-9999999"])
def test_a_list_of_cpus_that_is_none_is_unknown(listed: str) -> None:
    """Nothing can be counted."""
    assert host("parts_cpu", lscpu=SEEN.replace('"0-223"', json.dumps(listed))).verdict is Verdict.UNKNOWN
