"""What was gathered, and what not: nothing of it is judged."""

import json
from typing import Any

import pytest

from fleet_runner.core.checks.collect import entry, of_node
from fleet_runner.core.checks.verdicts import Verdict
from tests.core.checks.catalogue.judging import judged


def told(*files: dict[str, Any]) -> dict[str, str]:
    return {"gather_progress": json.dumps({"files": list(files)})}


def test_what_there_is_and_what_is_missing_is_said() -> None:
    result = judged("gathered", told(entry("dmesg.txt", size=2_000_000), entry("nvlink.txt", "no such tool")))
    assert result.verdict is Verdict.PASS
    assert result.message == "1 files were gathered, 2.0 MB; not: nvlink.txt: no such tool"


@pytest.mark.parametrize("files", [(), (entry("dmesg.txt", "it does not answer"),), ({"name": "x", "bytes": -1},)])
def test_where_nothing_could_be_gathered_nothing_is_known(files: tuple[dict[str, Any], ...]) -> None:
    assert judged("gathered", told(*files)).verdict is Verdict.UNKNOWN


def test_a_node_gives_what_its_gpus_makers_tool_says() -> None:
    """Logs are everybody's; whoever made the GPUs has a tool of its own."""
    others = of_node({"parts": {"gpu": {"count": 8, "maker": "AMD"}}})
    assert {"amd-smi-metric.txt", "amd-smi-bad-pages.txt", "dmesg.txt"} < others.keys()
    assert not any("nv" in name for name in others)
    assert {"nvidia-smi-xml.txt", "fabric-manager.txt", "dmesg.txt"} < of_node({}).keys()
