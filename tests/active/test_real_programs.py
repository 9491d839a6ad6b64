"""PyTorch really trains, multiplies and adds up here, on the processor, and is judged by what comes out."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.check import PROGRAM
from fleet_runner.core.checks.evidence import Expected, ReadEnd, Reading
from fleet_runner.core.checks.parsers import training
from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.lab import ports
from tests.active.interpreter import python
from tests.core.checks.catalogue.judging import remedies
from tests.core.checks.healthy.active import ended

PROGRAMS = Path(__file__).resolve().parents[2] / "roles" / "active" / "files"
SMALL = {"layers": 1, "width": 32, "heads": 2, "context": 16, "batch": 4, "vocabulary": 64, "steps": 4, "rounds": 2}


def printed(*words: str, **variables: str) -> str:
    """Run a program and return what it printed."""
    argv = [python(), str(PROGRAMS / words[0]), *words[1:]]
    env = {**os.environ, **variables}
    return subprocess.run(argv, capture_output=True, text=True, check=True, timeout=120, env=env).stdout


def judge(name: str, output: str, section: dict[str, Any]) -> Result:
    """Judge what a program printed."""
    reading = Reading(f"{name}_job", ReadEnd.OK, ended(output))
    return CHECKS[name].judge({reading.name: reading}, Expected("this-machine", {"active": {name: section}}))


def ordered(name: str, section: dict[str, Any]) -> list[str]:
    """Return the words of a check's order, behind Python's."""
    job = CHECKS[name].job
    assert job is not None
    order = job(Expected("this-machine", {"active": {name: section}}))
    return [order.program if word == PROGRAM else word for word in order.argv[1:]]


TRAINING = {"seconds": 0, "devices": "cpu,cpu", **SMALL}


@pytest.fixture(scope="module")
def trained() -> str:
    """Two replicas on the processor, each in a process of its own, two rounds each."""
    return printed(*ordered("training", TRAINING))


def test_replicas_train_to_the_same_bits(trained: str) -> None:
    """In every round, and in another run of the program, too: the reference."""
    result = judge("training", trained, TRAINING)
    assert result.verdict is Verdict.PASS, result.message
    (first, *_), again = (
        training.parse(trained),
        training.parse(printed(*ordered("training", TRAINING | {"devices": "cpu"}))),
    )
    assert {each.marks for each in again} == {first.marks}
    assert first.marks[0].loss != first.marks[-1].loss
    known = TRAINING | {"reference": {first.kind: first.marks[-1].digest}}
    assert "as the reference" in judge("training", trained, known).message


def test_one_flipped_bit_is_found_and_named(tmp_path: Path) -> None:
    """A copy of the program whose second replica flips the lowest bit of one weight, once, at the third step."""
    source = (PROGRAMS / "training.py").read_text()
    before = "        optimizer.step()\n"
    assert source.count(before) == 1
    flip = (
        "        if step == 3 and asked.slot == 1:\n"
        "            weight = next(model.parameters()).data.view(torch.int32)\n"
        "            weight[0, 0] ^= 1\n"
    )
    broken = tmp_path / "training.py"
    broken.write_text(source.replace(before, before + flip))
    argv = [python(), str(broken), *ordered("training", TRAINING | {"devices": "cpu,cpu,cpu"})[1:]]
    done = subprocess.run(argv, capture_output=True, text=True, check=True, timeout=120)
    result = judge("training", done.stdout, TRAINING)
    assert [finding.component for finding in result.findings] == ["cpu#1"]
    assert "training.corrupt" in remedies(result)
    assert "at step 3" in result.message


def test_a_training_on_gpus_that_are_not_there_says_so() -> None:
    """No result, and nobody's fault."""
    argv = [python(), str(PROGRAMS / "training.py"), "--devices=cuda"]
    done = subprocess.run(
        argv, capture_output=True, text=True, check=False, env={**os.environ, "CUDA_VISIBLE_DEVICES": ""}
    )
    assert done.returncode == 3
    assert json.loads(done.stdout)["error"] == "PyTorch sees no device for --devices cuda"


def test_products_are_exact_and_steady_in_what_a_processor_has() -> None:
    """FP32 and BF16; the others are skipped and said."""
    section = {"seconds_each": 0.05, "size": 128, "devices": "cpu"}
    result = judge("gemm", printed(*ordered("gemm", section)), section)
    assert result.verdict is Verdict.PASS, result.message
    assert "in fp32, bf16; skipped: tf32, fp16, fp8" in result.message


def test_a_wrong_product_is_found(tmp_path: Path) -> None:
    """A copy of the program with one element of each product off by one."""
    source = (PROGRAMS / "gemm.py").read_text()
    before = "    return lambda: left @ right\n"
    assert source.count(before) == 1
    after = "    one = torch.zeros_like(left)\n    one[5, 7] = 1\n    return lambda: left @ right + one\n"
    broken = tmp_path / "gemm.py"
    broken.write_text(source.replace(before, after))
    section = {"seconds_each": 0.05, "size": 128, "devices": "cpu", "types": ["fp32"]}
    argv = [python(), str(broken), *ordered("gemm", section)[1:]]
    result = judge("gemm", subprocess.run(argv, capture_output=True, text=True, check=True).stdout, section)
    assert "gemm.wrong" in remedies(result)
    assert "1 rows of an exact product are wrong" in result.message


def port() -> int:
    """Return a port that nobody listens at."""
    return ports.choose(1)[0]


def group(nodes: int, local: int, missing: int = 0, **limits: str) -> list[str]:
    """Run a group's programs, each as on a node of its own, all but the missing ones; return what each printed."""
    words = {
        "nodes": nodes,
        "local": local,
        "address": "127.0.0.1",
        "port": port(),
        "bytes": 65536,
        "times": 2,
        **limits,
    }
    argv = [python(), str(PROGRAMS / "allreduce.py"), *(f"--{name}={value}" for name, value in words.items())]
    started = [
        subprocess.Popen([*argv, f"--node={node}"], stdout=subprocess.PIPE, text=True)
        for node in range(nodes - missing)
    ]
    return [process.communicate(timeout=120)[0] for process in started]


def test_nodes_add_up_over_sockets() -> None:
    """Three nodes of a rank each, by gloo."""
    python()
    for output in group(3, 1):
        result = judge("allreduce", output, {"gloo_bus_gbps_min": 1e-6})
        assert result.verdict is Verdict.PASS, result.message
        assert (result.observed["ranks"], result.observed["wrong"]) == (3, 0)


def test_a_node_that_does_not_come_is_no_news_about_the_others() -> None:
    """They wait as long as they were told, and say what they waited for."""
    python()
    (output,) = group(2, 1, missing=1, limit="4")
    result = judge("allreduce", output, {"gloo_bus_gbps_min": 1e-6})
    assert result.verdict is Verdict.UNKNOWN
    assert "the group did not finish" in result.message
