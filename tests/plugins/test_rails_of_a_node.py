"""A node with ports in several separate fabrics reads each of them, through an adapter that is in it."""

import json
from pathlib import Path

import pytest
import yaml

from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.core.lifecycle.spool import Evidence, Judged
from tests.playing import PROJECT, Ansible, inventory, spool

NDR = "infiniband-ndr"
CAPTURED = (PROJECT / "tests" / "evidence" / "ibnetdiscover" / "by_port.txt").read_text().splitlines(keepends=True)
LINKS = [[f"gpu-0{node}", f"ib{rail}", f"leaf-{rail + 1}", str(node), NDR, []] for node in (1, 2) for rail in (0, 1)]
ROLES = {"gpu": "gpu-server", "leaf": "leaf"}
HCA = {"mlx5_0": "ib0", "mlx5_1": "ib1"}


def verified(folder: Path, adapters: dict[str, str], links: list[list[object]], **tools: str) -> Result:
    """Have the node check its own cables; `tools` says what it does for an adapter instead of reading its leaf."""
    for adapter, leaf in (("mlx5_0", "leaf-1"), ("mlx5_1", "leaf-2")):
        lines = [line for line in CAPTURED if leaf in line and "spine-1" not in line]
        (folder / f"{adapter}.txt").write_text("".join(lines))
    cases = "".join(f"{adapter}) {body};;\n" for adapter, body in tools.items())
    tool = folder / "ibnetdiscover"
    tool.write_text(
        f'#!/bin/sh\necho "$@" >> {folder}/asked\ncase "$3" in\n{cases}*) cat {folder}/"${{3:-mlx5_0}}".txt;;\nesac\n'
    )
    tool.chmod(0o755)
    names = sorted({str(name) for row in links for name in row[:4:2]}, reverse=True)
    devices = {name: {"role": ROLES[name.partition("-")[0]], "device_type": name[:3]} for name in names}
    (folder / "fabric.json").write_text(json.dumps({"links": links, "devices": devices}))
    known = {"fleet_profile": {"hca_interfaces": adapters}, "fleet_fabric_file": str(folder / "fabric.json")}
    nodes = inventory(folder / "inventory.yml", {"gpu-01": known})
    play = {
        "name": "Cables are judged",
        "hosts": "nodes",
        "gather_facts": False,
        "environment": {"PATH": f"{folder}:/usr/bin:/bin"},
        "tasks": [{"name": "Cables are as designed", "fleet_check": {"checks": ["cabling_infiniband"]}}],
    }
    (folder / "play.yml").write_text(yaml.safe_dump([play]))
    ansible = Ansible(folder / "home", {"FLEET_SPOOL": str(folder / "spool.jsonl")})
    answer = ansible("ansible-playbook", "-i", nodes, folder / "play.yml")
    assert answer.returncode == 0, answer.stdout + answer.stderr
    lines = spool(folder / "spool.jsonl")
    assert len([line for line in lines if isinstance(line, Evidence)]) == 1
    return next(line.result for line in lines if isinstance(line, Judged))


def asked(folder: Path) -> list[str]:
    return (folder / "asked").read_text().splitlines()


def test_each_rail_is_read_through_its_adapter(tmp_path: Path) -> None:
    result = verified(tmp_path, HCA, LINKS)
    assert (result.verdict, result.message) == (Verdict.PASS, "InfiniBand links as designed: 2")
    assert sorted(asked(tmp_path)) == ["-p -C mlx5_0 -P 1", "-p -C mlx5_1 -P 1"]


def test_a_rail_that_cannot_be_read_is_unknown_with_its_reason(tmp_path: Path) -> None:
    result = verified(tmp_path, HCA, LINKS, mlx5_1="echo port is down >&2; exit 1")
    assert result.verdict is Verdict.UNKNOWN
    assert result.message.startswith("no data about gpu-01 ib1 to leaf-2 1; mlx5_1: ibnetdiscover exited with 1")


def test_a_port_that_is_down_leaves_its_fabric_to_another_one(tmp_path: Path) -> None:
    """Here ib2 lies in the fabric of ib0, whose cable is missing."""
    links = [*LINKS, ["gpu-01", "ib2", "leaf-1", "7", NDR, []]]
    down = "echo port is down >&2; exit 1"
    sees = f"grep -v \"'gpu-01 mlx5_0'\" {tmp_path}/mlx5_0.txt"
    result = verified(tmp_path, HCA | {"mlx5_2": "ib2"}, links, mlx5_0=down, mlx5_2=sees)
    assert asked(tmp_path)[-1] == "-p -C mlx5_2 -P 1"
    assert result.verdict is Verdict.FAIL, result.message


def test_one_fabric_is_read_once_through_whichever_port_is_up(tmp_path: Path) -> None:
    result = verified(tmp_path, HCA, [row for row in LINKS if row[1] == "ib0"])
    assert result.verdict is Verdict.PASS, result.message
    assert asked(tmp_path) == ["-p"]


@pytest.mark.parametrize("adapters", [{}, {"mlx5_0": "ib0"}])
def test_where_adapters_are_not_known_the_message_says_what_to_declare(
    tmp_path: Path, adapters: dict[str, str]
) -> None:
    result = verified(tmp_path, adapters, LINKS)
    assert result.verdict is Verdict.UNKNOWN
    assert (
        "; gpu-01 has ports in 2 fabrics, and not all were read: name its adapters in hca_interfaces"
        in result.message
    )
    assert ("no data about gpu-01 ib1 to leaf-2 1" if adapters else "the names of adapters") in result.message
    assert len(asked(tmp_path)) == 1
