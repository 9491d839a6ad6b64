"""A play at a BMC that speaks IPMI alone: power is switched at the right machine, and the log is judged."""

from pathlib import Path

import yaml

from fleet_runner.core.checks.verdicts import Verdict
from tests.ipmi import PASSWORD, USER, Simulated, simulated
from tests.playing import Ansible, inventory, spool, verdicts


def played(folder: Path, bmcs: dict[str, Simulated]) -> tuple[str, Path]:
    """Cycle the power of nodes whose serial number is SN-1, and judge their logs; return what Ansible says."""
    folder.mkdir(exist_ok=True)
    (folder / "bmc.yml").write_text(yaml.safe_dump({"username": USER, "password": PASSWORD}))
    (folder / "bmc.yml").chmod(0o600)
    checks = {"checks": ["sel", "machine_power", "sensors"]}
    tasks = [
        {"name": "Its power is cycled", "redfish_power": {"action": "cycle"}},
        {"name": "Its log is judged", "fleet_check": checks},
    ]
    play = [{"name": "Play", "hosts": "nodes", "gather_facts": False, "tasks": tasks}]
    (folder / "play.yml").write_text(yaml.safe_dump(play))
    state = folder / "state"
    state.mkdir()
    variables = {
        "FLEET_STATE_DIR": str(state),
        "FLEET_BMC_CREDENTIALS": str(folder / "bmc.yml"),
        "FLEET_SPOOL": str(folder / "spool"),
    }
    profile = {"sel": {"days": 30}, "sensors": {}}
    hosts = {name: {"fleet_bmc_url": bmc.url, "fleet_device": {"serial": "SN-1"}} for name, bmc in bmcs.items()}
    nodes = inventory(folder / "inventory.yml", hosts, fleet_profile=profile)
    answer = Ansible(folder / "home", variables)("ansible-playbook", "-i", nodes, folder / "play.yml")
    return answer.stdout + answer.stderr, folder / "spool"


def test_power_is_cycled_at_the_machine_that_is_meant_and_at_no_other(tmp_path: Path) -> None:
    with simulated(tmp_path / "one", serial="SN-1") as one, simulated(tmp_path / "two", serial="SN-2") as two:
        said, spooled = played(tmp_path / "play", {"gpu-01": one, "gpu-02": two})
        sent = [bmc.sent() for bmc in (one, two)]
    assert sent[1] == []
    assert sent[0] != [], said
    assert "SN-2" in said
    assert "nothing was sent" in said
    assert PASSWORD not in said
    judged = verdicts(spool(spooled))
    assert judged == {
        ("gpu-01", "sel"): Verdict.PASS,
        ("gpu-01", "machine_power"): Verdict.PASS,
        ("gpu-01", "sensors"): Verdict.UNKNOWN,
    }
