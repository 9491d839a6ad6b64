"""How GPUs and their driver are set up."""

from typing import Any

import pytest

from fleet_runner.core.checks.verdicts import Remedy, Verdict
from tests.core.checks.catalogue.judging import judged, remedies
from tests.core.checks.catalogue.looking import GPU, asked, bent, seen

NAME = "gpu_settings"
ECC = ("<current_ecc>Enabled", "<current_ecc>Disabled")
ECC_LATER = ("<pending_ecc>Enabled", "<pending_ecc>Disabled")


@pytest.mark.parametrize(
    ("swaps", "found"),
    [
        ([("<driver_version>580.105.08", "<driver_version>570.86.15"),
          ("<gsp_firmware_version>580.105.08", "<gsp_firmware_version>570.86.15")], {"gpu.driver": Remedy.REFLASH}),
        ([("<cuda_version>13.0", "<cuda_version>12.8")], {"gpu.cuda": Remedy.REFLASH}),
        ([("96.00.A5.00.01", "96.00.89.00.01")], {"gpu.vbios": Remedy.REFLASH}),
        ([("G520.0200.00.05", "G520.0200.00.04")], {"gpu.inforom_image": Remedy.REFLASH}),
        ([("<persistence_mode>Enabled", "<persistence_mode>Disabled")], {"gpu.persistence": Remedy.WATCH}),
        ([("current_mig>Disabled", "current_mig>Enabled")], {"gpu.mig": Remedy.WATCH}),
        ([("<compute_mode>Default", "<compute_mode>Exclusive_Process")], {"gpu.compute_mode": Remedy.WATCH}),
        ([("<addressing_mode>HMM", "<addressing_mode>None")], {"gpu.addressing_mode": Remedy.WATCH}),
        ([("<total>0 MiB", "<total>79871 MiB")], {"gpu.confidential_compute": Remedy.WATCH}),
        ([("<gsp_firmware_version>580.105.08", "<gsp_firmware_version>550.54.15")],
         {"gpu.gsp_firmware": Remedy.REBOOT}),
        ([ECC, ECC_LATER], {"gpu.ecc": Remedy.TRIAGE}),
        ([ECC], {"gpu.ecc_pending": Remedy.REBOOT}),
        ([ECC_LATER], {"gpu.ecc": Remedy.TRIAGE}),
    ],
)  # fmt: skip
def test_a_setting_off_the_profile_says_what_follows(swaps: list[tuple[str, str]], found: dict[str, Remedy]) -> None:
    """Firmware and drivers wait for a rollout, modes are watched; ECC is what keeps errors from going unseen."""
    result = seen(NAME, *swaps)
    assert result.verdict is Verdict.FAIL
    assert remedies(result) == found


def test_ecc_that_will_be_off_after_a_reboot_is_told_in_those_words() -> None:
    """It is on today."""
    assert "will not be on after the next reboot, expected on" in seen(NAME, ECC_LATER).message
    assert "will be on after a reboot, expected on now" in seen(NAME, ECC).message
    assert seen(NAME, ECC, ECC_LATER, expected=asked(NAME, ecc=False)).verdict is Verdict.PASS


KEYS = {
    "drivers": ("<driver_version>580.105.08", "<driver_version>N/A"),
    "cuda": ("<cuda_version>13.0", "<cuda_version>N/A"),
    "vbios": ("96.00.A5.00.01", "N/A"),
    "inforom_image": ("G520.0200.00.05", "N/A"),
    "persistence": ("<persistence_mode>Enabled", "<persistence_mode>N/A"),
    "gsp_firmware": ("<gsp_firmware_version>580.105.08", "<gsp_firmware_version>N/A"),
    "ecc": ("_ecc>Enabled", "_ecc>N/A"),
    "mig": ("_mig>Disabled", "_mig>N/A"),
    "confidential_compute": ("<total>0 MiB", "<total>N/A"),
    "compute_mode": ("<compute_mode>Default", "<compute_mode>N/A"),
    "addressing_mode": ("<addressing_mode>HMM", "<addressing_mode>N/A"),
}


@pytest.mark.parametrize("key", sorted(KEYS))
def test_what_is_not_told_is_unknown_where_the_profile_asks_and_nothing_where_it_does_not(key: str) -> None:
    """Each key of the section may be left out."""
    result = seen(NAME, KEYS[key])
    assert result.verdict is Verdict.UNKNOWN
    assert "not report" in result.message
    left = {key: None, "gsp_firmware": None} if key == "drivers" else {key: None}
    assert seen(NAME, KEYS[key], expected=asked(NAME, **left)).verdict is Verdict.PASS


def test_a_driver_that_is_to_run_without_system_processor_must() -> None:
    """Some sites turn it off."""
    off = asked(NAME, gsp_firmware=False)
    assert remedies(seen(NAME, expected=off)) == {"gpu.gsp_firmware": Remedy.REBOOT}
    assert seen(NAME, KEYS["gsp_firmware"], expected=off).verdict is Verdict.PASS


WARNING = "WARNING: infoROM is corrupted at gpu 0000:1B:00.0  \n"


@pytest.mark.parametrize(
    ("text", "rc", "component"),
    [
        (bent() + WARNING, 14, GPU),
        (WARNING + bent(), 0, GPU),
        (bent(), 14, "GPUs"),
        (bent() + "WARNING: infoROM is corrupted at gpu 1B:0\n", 14, "GPU 1B:0"),
    ],
)
def test_a_corrupted_inforom_is_for_a_person_and_blinds_no_other_check(text: str, rc: int, component: str) -> None:
    """nvidia-smi warns behind its report and exits with 14, which is no failure of its own."""
    result = judged(NAME, {"nvidia_smi": text}, rc=rc)
    assert remedies(result) == {"gpu.inforom": Remedy.TRIAGE}
    assert result.findings[0].component == component
    assert judged("gpu_power", {"nvidia_smi": text}, rc=rc).verdict is Verdict.PASS


def test_other_exit_statuses_are_still_unknown() -> None:
    """15 is a GPU that fell off the bus while it was asked."""
    result = judged(NAME, {"nvidia_smi": bent()}, rc=15)
    assert result.verdict is Verdict.UNKNOWN
    assert "exited with 15" in result.message


@pytest.mark.parametrize("values", [{"ecc": "yes"}, {"drivers": 580}, {"mig": 1}, {"gsp_firmware": "on"}])
def test_a_slip_in_the_profile_names_its_key(values: dict[str, Any]) -> None:
    """UNKNOWN, for every node of that type."""
    result = seen(NAME, expected=asked(NAME, **values))
    assert result.verdict is Verdict.UNKNOWN
    assert f"fleet_profile.gpu_settings.{next(iter(values))}" in result.message


@pytest.mark.parametrize(
    ("model", "vbios", "mixed"),
    [
        ("NVIDIA H100 80GB HBM3", "96.00.89.00.01", True),
        ("NVIDIA H100 80GB HBM3", "N/A", False),
        ("NVIDIA L40S", "95.02.66.00.0D", False),
    ],
)
def test_gpus_of_one_model_have_one_vbios(model: str, vbios: str, mixed: bool) -> None:
    """A GPU that was replaced brings its own."""
    one = bent()
    gpu = one[one.index("\t<gpu") : one.index("</nvidia_smi_log>")].replace("1B:00", "9B:00")
    other = bent(("NVIDIA H100 80GB HBM3", model), ("96.00.A5.00.01", vbios), text=gpu)
    text = one.replace("</nvidia_smi_log>", other + "</nvidia_smi_log>").replace("gpus>1<", "gpus>2<")
    result = judged(NAME, {"nvidia_smi": text}, asked(NAME, vbios=None))
    assert remedies(result) == ({"gpu.vbios_mixed": Remedy.WATCH} if mixed else {})
