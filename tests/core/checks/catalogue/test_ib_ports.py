"""Are the ports of the profile's adapters up, as fast as they should be, and free of errors?"""

import json
import tarfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.cabling.explain import degraded_key, missing_key
from fleet_runner.core.cabling.links import Port, link
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.verdicts import Remedy, Result, Verdict
from tests.core.checks.catalogue.judging import DEVICE, HEALTHY, NODE, PROFILE, READ_AT, changed, judged, remedies

PORTS: dict[str, Any] = json.loads(HEALTHY["ib_ports"]["infiniband"])
ONE = "/sys/class/infiniband/mlx5_1/ports/1"
DAY = 86_400.0


def ports(expected: Expected | None = None, /, **files: Any) -> Result:
    """Judge the ports with some files of mlx5_1's changed; "counters_x" stands for counters/x."""
    bent = {f"{ONE}/{name.replace('counters_', 'counters/')}": value for name, value in files.items()}
    texts = {"infiniband": json.dumps(PORTS | bent)}
    return judged("ib_ports", texts, expected) if expected else judged("ib_ports", texts)


def joined() -> Expected:
    """Return what is expected of a node whose source of truth knows where ib1 leads."""
    far = {"interface": "ib1", "far_device": "leaf-1", "far_interface": "7", "far_place": "hall-1 rack N1 U10"}
    return Expected(NODE, PROFILE, DEVICE | {"links": [far | {"interface": "ib0"}, far]})


def before(seconds: float, **counts: int) -> Expected:
    """Return what is expected where the last look was some seconds ago."""
    known = {f"mlx5_1/{name}": count for name, count in counts.items()}
    look = {"at": READ_AT - seconds, "observed": {"looks": [{"at": READ_AT - seconds, "counts": known}]}}
    return Expected(NODE, PROFILE, DEVICE, run={"before": {"ib_ports": look}})


@given(
    state=st.sampled_from(["1: DOWN", "2: INIT", "3: ARMED"]),
    physical=st.sampled_from(["1: Sleep", "2: Polling", "3: Disabled", "4: PortConfigurationTraining", "5: LinkUp"]),
)
def test_a_port_that_is_not_active_never_passes_and_asks_for_what_its_link_says(state: str, physical: str) -> None:
    """Only a cable's state needs hands; the subnet manager's and the driver's do not."""
    result = ports(state=state, phys_state=physical)
    wanted = {"5: LinkUp": Remedy.WATCH, "3: Disabled": Remedy.REBOOT}.get(physical, Remedy.RECABLE)
    assert remedies(result) == {"ib.port_down": wanted}
    assert bool(result.findings[0].steps) is (wanted is Remedy.RECABLE)


def test_a_port_that_is_down_has_the_key_of_its_missing_link() -> None:
    """The fabric's sweep finds the same fault, and there is one ticket."""
    (down,) = ports(joined(), state="1: DOWN", phys_state="2: Polling").findings
    (slow,) = ports(joined(), rate="200 Gb/sec (4X HDR)").findings
    wanted = link(Port(NODE, "ib1"), Port("leaf-1", "7"))
    assert (down.fault, slow.fault) == (missing_key(wanted), degraded_key(wanted))
    assert "leaf-1 port 7" in down.steps[1]
    assert down.devices == slow.devices == (NODE, "leaf-1")


def test_a_state_without_a_physical_state_is_looked_at_again() -> None:
    """Nobody is sent for what was only half told."""
    assert remedies(ports(state="1: DOWN", phys_state=None)) == {"ib.port_down": Remedy.WATCH}


def test_a_slow_port_fails_and_says_both_rates() -> None:
    """A cable that trained to half."""
    result = ports(rate="200 Gb/sec (4X HDR)")
    assert remedies(result) == {"ib.port_slow": Remedy.RECABLE}
    assert result.message == "mlx5_1 (ib1) runs at 200 Gb/sec (4X HDR), expected 400 Gb/s"


def test_another_link_layer_is_a_setting() -> None:
    """A port that was left on Ethernet after an RMA; what it is slow at does not matter then."""
    assert remedies(ports(link_layer="Ethernet", rate="200 Gb/sec")) == {"ib.link_layer": Remedy.REFLASH}


def test_symbol_errors_of_roce_are_not_held_to_infinibands_limit() -> None:
    """IEEE 802.3 allows 144 in an hour at 400 Gb/s, which `roce_ports` judges; without a link layer nobody knows."""
    wanted = PROFILE["infiniband"] | {"link_layer": "Ethernet"}
    roce = {key: "Ethernet" if key.endswith("link_layer") else value for key, value in PORTS.items()}
    texts = {"infiniband": json.dumps(roce | {f"{ONE}/counters/symbol_error": "50"})}
    expected = Expected(NODE, PROFILE | {"infiniband": wanted}, DEVICE, run=before(3600, symbol_error=0).run)
    result = judged("ib_ports", texts, expected)
    assert (result.verdict, result.findings) == (Verdict.PASS, ())
    untold = {key: value for key, value in PORTS.items() if not key.endswith("link_layer")}
    result = judged("ib_ports", {"infiniband": json.dumps(untold | {f"{ONE}/counters/symbol_error": "50"})}, expected)
    assert (result.verdict, remedies(result)) == (Verdict.UNKNOWN, {"ib.symbol_errors": Remedy.RECORD})


def test_an_adapter_that_is_not_there_has_the_key_of_the_bill_of_materials() -> None:
    """`parts_hca` finds it under the same key."""
    left = {key: value for key, value in PORTS.items() if "/mlx5_1/" not in key}
    result = judged("ib_ports", {"infiniband": json.dumps(left)})
    assert remedies(result) == {"hca.missing": Remedy.TRIAGE}
    assert result.findings[0].fault == "gpu-01/hca.missing/mlx5_1"


def test_a_second_port_is_named_with_its_number() -> None:
    """An adapter with two ports, of which the profile names the second."""
    expected = changed("hca_interfaces", {"mlx5_0": "ib0", "mlx5_1/2": "ib1"})
    assert "mlx5_1/2 reports nothing" in judged("ib_ports", {"infiniband": json.dumps(PORTS)}, expected).message
    two = {key.replace("mlx5_1/ports/1", "mlx5_1/ports/2"): value for key, value in PORTS.items()}
    two |= {"/sys/class/infiniband/mlx5_1/ports/2/rate": "100 Gb/sec (2X HDR)"}
    result = judged("ib_ports", {"infiniband": json.dumps(two)}, expected)
    assert [finding.component for finding in result.findings] == ["mlx5_1/2"]


def test_other_firmware_than_the_profiles_is_drift() -> None:
    """Whatever the profile accepts; where it names none, nothing is said."""
    other = {"/sys/class/infiniband/mlx5_1/fw_ver": "28.37.1014"}
    texts = {"infiniband": json.dumps(PORTS | other)}
    assert remedies(judged("ib_ports", texts)) == {"hca.firmware": Remedy.REFLASH}
    assert judged("ib_ports", texts, changed("infiniband", {"rate_gbps": 400})).verdict is Verdict.PASS


@pytest.mark.parametrize("name", ["state", "link_layer", "rate"])
def test_what_a_port_does_not_tell_is_unknown(name: str) -> None:
    """A file that could not be read."""
    result = ports(**{name: None})
    assert result.verdict is Verdict.UNKNOWN
    assert "mlx5_1 reports no" in result.message


def test_a_port_without_counters_is_unknown() -> None:
    """Then nobody knows what its cable does."""
    left = {key: value for key, value in PORTS.items() if "mlx5_1" not in key or "counters" not in key}
    result = judged("ib_ports", {"infiniband": json.dumps(left)})
    assert (result.verdict, result.message) == (Verdict.UNKNOWN, "mlx5_1 has no readable counter")


def test_the_first_look_only_remembers() -> None:
    """Counts since the boot, or since years, are no news."""
    result = ports(counters_symbol_error="5000", counters_link_downed="40")
    assert result.verdict is Verdict.PASS
    assert result.observed["looks"][0]["counts"]["mlx5_1/symbol_error"] == 5000


@given(grown=st.integers(0, 500), seconds=st.floats(60, DAY / 2))
def test_symbol_errors_of_a_fabric_are_recorded_and_never_fail_a_node(grown: int, seconds: float) -> None:
    """Its sweep sees both ends, and decides."""
    result = ports(before(seconds, symbol_error=7), counters_symbol_error=str(7 + grown))
    assert result.verdict is Verdict.PASS
    most = 2.88 if seconds <= 720 else 3.0 * max(1.0, seconds / 7500)
    assert bool(result.findings) is (grown > most)


def test_downs_are_recorded() -> None:
    """`link_flaps` knows when, and judges."""
    result = ports(before(3600, link_downed=1), counters_link_downed="4")
    assert (result.verdict, remedies(result)) == (Verdict.PASS, {"ib.link_downed": Remedy.RECORD})
    assert "went down 3 times in 1.0 h" in result.findings[0].message


@pytest.mark.parametrize(("grown", "verdict"), [(10, "PASS"), (11, "FAIL")])
def test_errors_of_another_kind_are_looked_at_beyond_their_limit(grown: int, verdict: str) -> None:
    """As infiniband-diags has it."""
    result = ports(before(3600, port_rcv_errors=14), counters_port_rcv_errors=str(14 + grown))
    assert result.verdict.value == verdict


def test_what_a_port_counts_while_its_link_comes_up_is_no_error() -> None:
    """A counter that fell says that the node booted: the look is a first one again."""
    result = ports(before(3600, port_rcv_errors=0, link_downed=2), counters_port_rcv_errors="14")
    assert (result.verdict, result.findings, len(result.observed["looks"])) == (Verdict.PASS, (), 1)


def test_a_full_counter_is_named() -> None:
    """It counts no more until it is cleared."""
    assert "full counters: mlx5_1 link_downed (perfquery -R" in ports(counters_link_downed="255").message


def test_no_adapter_at_all_is_unknown() -> None:
    """The driver is not loaded."""
    result = judged(
        "ib_ports", {"infiniband": json.dumps({"/proc/version": "x", "/sys/class/infiniband/mlx5_0": "y"})}
    )
    assert result.verdict is Verdict.UNKNOWN
    assert "is the driver (mlx5_ib) loaded?" in result.message


def test_a_profile_that_names_no_adapter_is_unknown() -> None:
    """Then nobody knows which should be up."""
    assert (
        "names no adapter"
        in judged("ib_ports", {"infiniband": json.dumps(PORTS)}, changed("hca_interfaces", {})).message
    )


def test_a_folder_that_is_no_port_is_passed_over() -> None:
    """Whatever a driver puts there."""
    strange = {"/sys/class/infiniband/mlx5_0/ports/x/state": "4: ACTIVE", "/sys/class/infiniband/mlx5_0/ports/1": "z"}
    assert judged("ib_ports", {"infiniband": json.dumps(PORTS | strange)}).verdict is Verdict.PASS


def test_a_captured_server_is_up_on_the_eight_rails_of_its_profile(samples: Path) -> None:
    """A real H100 server: eight adapters at NDR, and a bond for the front end that is not the profile's."""
    files: dict[str, str] = {}
    with tarfile.open(samples / "gpu" / "gpud_sys-class-infiniband-h100.tar.gz") as tree:
        for each in tree:
            if each.isfile() and (found := tree.extractfile(each)):
                path = each.name.partition("/")[2]
                files[f"/sys/class/infiniband/{path}"] = found.read().decode().strip()
    rails = {f"mlx5_{number}": f"ib{rail}" for rail, number in enumerate((0, 1, 4, 5, 6, 7, 8, 9))}
    profile = {"infiniband": {"rate_gbps": 400, "firmware": ["28.41.1000"]}, "hca_interfaces": rails}
    text = {"infiniband": json.dumps(files)}
    result = judged("ib_ports", text, Expected(NODE, profile))
    assert (result.verdict, result.findings) == (Verdict.PASS, ())
    assert result.message.startswith("8 ports are up at 400 Gb/s; full counters: mlx5_1 link_downed")
    missing = judged("ib_ports", text, Expected(NODE, profile | {"hca_interfaces": rails | {"mlx5_2": "ib9"}}))
    assert [finding.component for finding in missing.findings] == ["mlx5_2"]
    bond = profile | {"hca_interfaces": {"mlx5_bond_0": "bond0"}}
    assert remedies(judged("ib_ports", text, Expected(NODE, bond)))["ib.link_layer"] is Remedy.REFLASH
