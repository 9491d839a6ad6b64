"""Are the NVMe drives in the node that were bought."""

import pytest

from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.verdicts import Remedy, Verdict
from tests.core.checks.catalogue.hosting import asked, edited, host
from tests.core.checks.catalogue.judging import EXPECTED, HEALTHY, NODE, PROFILE, remedies

SEEN = HEALTHY["parts_nvme"]["nvme_controllers"]
PARTS = [
    {"slot": "Bay 0", "kind": "nvme", "model": "PM9A3", "serial": "S6TSNA0T000001"},
    {"slot": "Bay 1", "kind": "nvme", "model": "PM9A3", "serial": "S6TSNA0T000002"},
]
KNOWN = Expected(NODE, PROFILE, {"parts": PARTS}, run=EXPECTED.run)
ONE = edited(
    SEEN,
    **dict.fromkeys(
        [f"nvme1__{name}" for name in ("address", "firmware_rev", "model", "serial", "state", "transport")]
        + ["nvme1n1__size"],
        None,
    ),
)


def test_a_missing_drive_is_named_by_the_bay_and_serial_that_the_others_leave() -> None:
    """The technician reads what to look for."""
    result = host("parts_nvme", KNOWN, nvme_controllers=ONE)
    (finding,) = result.findings
    assert (finding.component, finding.remedy) == ("NVMe Bay 1", Remedy.TRIAGE)
    assert finding.message == "1 of 2 NVMe drives are present; missing: Bay 1, serial S6TSNA0T000002"
    assert "0000:65:00.0 (S6TSNA0T000001)" in finding.steps[0]


def test_a_missing_drive_that_nobody_wrote_down_is_still_missing() -> None:
    """A drive that keeps its serial to itself names no other."""
    assert [each.component for each in host("parts_nvme", nvme_controllers=ONE).findings] == ["NVMe drives"]
    silent = edited(ONE, serial="")
    assert [each.component for each in host("parts_nvme", KNOWN, nvme_controllers=silent).findings] == ["NVMe drives"]


def test_no_drive_at_all_is_a_fault_only_with_the_driver_loaded() -> None:
    """Without the driver the kernel would list none in any case."""
    none = '{"/sys/module/nvme/parameters/io_queue_depth": "1024"}'
    assert host("parts_nvme", nvme_controllers=none).verdict is Verdict.FAIL
    assert host("parts_nvme", nvme_controllers="{}").verdict is Verdict.UNKNOWN


@pytest.mark.parametrize(
    ("ending", "said", "code", "remedy"),
    [
        ("nvme1__state", "dead", "nvme.dead", Remedy.REBOOT),
        ("nvme1__model", "INTEL SSDPE2KX040T8", "nvme.model", Remedy.TRIAGE),
        ("nvme1n1__size", "1875385008", "nvme.size", Remedy.TRIAGE),
        ("nvme1__firmware_rev", "GDC5302Q", "nvme.firmware", Remedy.REFLASH),
    ],
)
def test_each_difference_has_its_own_remedy(ending: str, said: str, code: str, remedy: Remedy) -> None:
    """And each names the drive by its place on the bus."""
    result = host("parts_nvme", nvme_controllers=edited(SEEN, **{ending: said}))
    assert remedies(result) == {code: remedy}
    assert result.findings[0].component == "NVMe 0000:66:00.0"


def test_more_drives_and_other_ones_are_watched() -> None:
    """The record or the node is wrong."""
    assert remedies(host("parts_nvme", asked("parts", {"count": 1}, "parts.nvme"))) == {"nvme.surplus": Remedy.WATCH}
    other = host("parts_nvme", KNOWN, nvme_controllers=edited(SEEN, nvme1__serial="S6TSNA0T000009"))
    assert remedies(other) == {"nvme.serial": Remedy.WATCH}
    assert "S6TSNA0T000009" in other.message


@pytest.mark.parametrize(
    ("ending", "said"),
    [
        ("nvme1__state", "resetting"),
        ("nvme1__model", ""),
        ("nvme1n1__size", "x"),
        ("nvme1n1__size", None),
        ("nvme1__firmware_rev", ""),
    ],
)
def test_what_the_kernel_does_not_tell_is_unknown(ending: str, said: str | None) -> None:
    """A drive on its way tells later."""
    assert host("parts_nvme", nvme_controllers=edited(SEEN, **{ending: said})).verdict is Verdict.UNKNOWN


def test_drives_of_other_servers_do_not_count() -> None:
    """They come over a network."""
    result = host("parts_nvme", nvme_controllers=edited(SEEN, nvme1__transport="rdma"))
    assert remedies(result) == {"nvme.missing": Remedy.TRIAGE}


def test_a_profile_may_ask_for_the_number_alone() -> None:
    """A drive without an address is named by the kernel's name."""
    changes = dict.fromkeys(("models", "gigabytes_min", "firmware"), None)
    bent = edited(SEEN, nvme1__model="x", nvme1n1__size=None, nvme1__address="")
    assert host("parts_nvme", asked("parts", changes, "parts.nvme"), nvme_controllers=bent).verdict is Verdict.PASS
    dead = edited(bent, nvme1__state="dead")
    assert host("parts_nvme", nvme_controllers=dead).findings[0].component == "NVMe nvme1"
