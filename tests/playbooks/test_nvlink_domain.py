"""An NVLink domain is swept by its play: each compute tray is read, and all are compared with the design."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.core.inventory.records import Device, DeviceType, Fleet, Rack
from fleet_runner.core.lifecycle.spool import Evidence, Judged
from tests.adapters.sitefiles.writer import write_site
from tests.playing import Ansible, spool, unclean

DOMAIN = "nvlink.hall.A03"
TRAYS = ("tray-1", "tray-2", "tray-3")
CLUSTER = "9c6f5af3-53bf-49b5-a436-b66766c413c3"

SMI = """<nvidia_smi_log><driver_version>580.95.05</driver_version><attached_gpus>2</attached_gpus>{gpus}
</nvidia_smi_log>"""
GPU = """<gpu id="0000000{at}:01:00.0"><product_name>NVIDIA GB200</product_name><uuid>GPU-0000000{at}</uuid>
<fabric><state>Completed</state><status>Success</status><cliqueId>{clique}</cliqueId>
<clusterUuid>{cluster}</clusterUuid></fabric></gpu>"""
TOOLS = {
    "nvidia-smi": 'case "$1" in -q) cat smi.xml ;; *) cat links.txt ;; esac',
    "hostname": "cat addresses.txt",
    "systemctl": "printf 'LoadState=loaded\\nActiveState=active\\nSubState=running\\n'",
    "nvidia-imex-ctl": "cat imex.json",
}


class Rack3:
    """Three trays whose tools are stand-ins, and Ansible on them."""

    def __init__(self, folder: Path, home: Path, silent: str = "") -> None:
        self.folder = folder
        context: dict[str, Any] = {"nvlink_domain": "rack"}
        here = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}
        far = {"ansible_connection": "ssh", "ansible_host": "127.0.0.1", "ansible_port": 1}  # nothing listens there
        devices = {
            "switch-1": Device("switch-1", "s", "leaf", "hall", "A03", context=context | {"nvlink_links": [1]})
        }
        for at, name in enumerate(TRAYS, start=1):
            mine = folder / name
            (mine / "etc/nvidia-imex").mkdir(parents=True)
            for tool, words in TOOLS.items():
                (mine / tool).write_text(f"#!/bin/sh\ncd {mine} && {words}\n")
                (mine / tool).chmod(0o755)
            environment = {"PATH": f"{mine}:/usr/bin:/bin", "FLEET_ROOT": str(mine)}
            devices[name] = Device(
                name,
                "t",
                "gpu-server",
                "hall",
                "A03",
                context=context | (far if name == silent else here) | {"fleet_environment": environment},
            )
            self.write(name, at)
        racks = {"hall/A03": Rack("A03", "hall")}
        types = {slug: DeviceType(slug, "M", slug, 1.0) for slug in ("s", "t")}
        write_site(Fleet(("hall",), racks, types, devices, ()), folder / "site")
        self.spool = folder / "spool.jsonl"
        settings = {"FLEET_SOURCE": str(folder / "site"), "FLEET_STATE_DIR": str(folder / "state")}
        self.ansible = Ansible(home, settings | {"FLEET_SPOOL": str(self.spool)})

    def write(self, name: str, at: int, *, down: tuple[int, ...] = (), clique: int = 1, listed: int = 3) -> None:
        """Have a tray answer: which of its links are down, where its GPUs lie, and how many trays its IMEX knows."""
        mine = self.folder / name
        gpus = "".join(GPU.format(at=gpu, clique=clique, cluster=CLUSTER) for gpu in (8, 9))
        (mine / "smi.xml").write_text(SMI.format(gpus=gpus))
        rows = ""
        for gpu in (8, 9):
            rows += f"GPU {gpu - 8}: NVIDIA GB200 (UUID: GPU-0000000{gpu})\n"
            rows += "".join(f"\t Link {link}: {'<inactive>' if link in down else '50 GB/s'}\n" for link in range(4))
        (mine / "links.txt").write_text(rows)
        hosts = [f"10.0.0.{number}" for number in range(1, listed + 1)]
        (mine / "addresses.txt").write_text(f"10.0.0.{at} \n")
        (mine / "etc/nvidia-imex/nodes_config.cfg").write_text("".join(f"{host}\n" for host in hosts))
        members = {
            str(number): {"host": host, "status": "READY", "version": "580.95.05"}
            for number, host in enumerate(hosts)
        }
        (mine / "imex.json").write_text(json.dumps({"nodes": members, "status": "UP"}))

    def swept(self) -> tuple[Result, tuple[Evidence, ...]]:
        """Play the domain's sweep by hand, and return its result and its evidence."""
        self.spool.unlink(missing_ok=True)
        profile = json.dumps({"fleet_profile": {"imex": {"domain_wide": True}}})
        answer = self.ansible("ansible-playbook", "playbooks/fabric.yml", "-l", DOMAIN, "-e", profile)
        assert answer.returncode == 0, answer.stdout + answer.stderr
        assert unclean(answer) == []
        lines = spool(self.spool)
        (result,) = [line.result for line in lines if isinstance(line, Judged)]
        assert result.check == "fabric_nvlink"
        return result, tuple(line for line in lines if isinstance(line, Evidence))


@pytest.fixture
def rack(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Rack3:
    return Rack3(tmp_path, tmp_path_factory.mktemp("h"))


def test_a_rack_that_is_one_machine_passes_and_its_faults_are_found(rack: Rack3) -> None:
    """A lost switch tray is one finding; a tray of another configuration another one."""
    result, evidence = rack.swept()
    assert (result.verdict, result.message) == (
        Verdict.PASS, "3 compute trays with 6 GPUs are one NVLink domain"
    )  # fmt: skip
    assert {each.read for each in evidence} == {"nvlink_trays"}
    for at, name in enumerate(TRAYS, start=1):
        rack.write(name, at, down=(1,), listed=2 if name == "tray-2" else 3)
    result, _ = rack.swept()
    assert [(each.code, each.component) for each in result.findings] == [
        ("nvlink.switch_tray", "switch-1"), ("imex.config", "tray-2")
    ]  # fmt: skip


def test_trays_that_do_not_answer_are_unknown(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The tools of one are gone, another one is not reached; the play goes on."""
    rack = Rack3(tmp_path, tmp_path_factory.mktemp("h"), silent="tray-3")
    for tool in TOOLS:
        (rack.folder / "tray-2" / tool).write_text("#!/bin/sh\nexit 9\n")
    result, _ = rack.swept()
    assert (result.verdict, result.findings) == (Verdict.UNKNOWN, ())
    assert result.message.startswith("tray-2: nvidia_smi: ")
    assert result.observed["unsure"] == ["tray-2", "tray-3"]
    assert result.observed["read"] == 1
