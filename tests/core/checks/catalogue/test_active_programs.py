"""Training, products of matrices and all-reduce: every verdict, from what our programs print."""

import json
from typing import Any

import pytest

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.check import Order
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.verdicts import Remedy, Result, Verdict
from tests.core.checks.catalogue.judging import EXPECTED, NODE, PROFILE, changed, judged, remedies
from tests.core.checks.healthy import active
from tests.core.checks.healthy.active import ALLREDUCE, DIGEST, GEMM, TRAINING, ended

CASES = {"training": TRAINING, "gemm": GEMM, "allreduce": ALLREDUCE}
ONE, OTHER = "GPU 0000:1b:00.0 (serial 1650000000001)", "GPU 0000:9b:00.0 (serial 1650000000002)"
WRONG = "0" * 64


def answer(name: str, output: str, **section: object) -> Result:
    """Judge what a program printed, with changes to its section of the profile."""
    wanted = changed("active", {name: active.PROFILE["active"][name] | section}) if section else EXPECTED
    return judged(name, {f"{name}_job": ended(output)}, wanted)


def ordered(name: str, **section: object) -> Order:
    """Return what a node is asked to run."""
    job = CHECKS[name].job
    assert job is not None
    return job(Expected(NODE, {"active": {name: section}, "parts": PROFILE["parts"]}))


def devices(*changes: dict[str, Any]) -> str:
    """Return a training on one GPU for each change; serials and addresses count up from those of the evidence."""
    first = next(json.loads(line) for line in TRAINING.splitlines() if '"kind": "device"' in line)
    lines = [
        first
        | {"device": f"cuda:{nth}", "slot": nth, "pci": f"00000000:{0x1B + 0x80 * nth:02X}:00.0"}
        | {"serial": f"165000000000{nth + 1}"}
        | change
        for nth, change in enumerate(changes)
    ]
    lines.append({"program": "training", "ended": True, "devices": len(changes), "failed": 0})
    return "".join(json.dumps(line) + "\n" for line in lines)


def trained(digest: str = WRONG, loss: str = "0x1.7000000000000p+2") -> dict[str, Any]:
    """Return a change: another end of the training."""
    marks = json.loads(TRAINING.splitlines()[1])["marks"]
    return {"marks": [marks[0], [8, loss, digest]], "digest": digest}


@pytest.mark.parametrize("name", sorted(CASES))
def test_output_that_was_cut_anywhere_fails_no_node(name: str) -> None:
    """From the front, as the end of a long output is, or from the back."""
    text = CASES[name]
    for end in range(len(text) - 1):
        assert answer(name, text[:end]).verdict is Verdict.UNKNOWN
    for begin in range(0, len(text), 7):
        assert answer(name, text[begin:]).verdict is not Verdict.FAIL


@pytest.mark.parametrize("name", sorted(CASES))
@pytest.mark.parametrize("state", ["running", "preempted", "lost"])
def test_a_test_that_did_not_end_says_nothing_about_the_node(name: str, state: str) -> None:
    """It still runs, gave way, or is gone."""
    result = judged(name, {f"{name}_job": ended(CASES[name], state=state)})
    assert result.verdict is (Verdict.SKIPPED if state == "preempted" else Verdict.UNKNOWN)


@pytest.mark.parametrize("name", ["training", "gemm"])
def test_a_python_without_pytorch_is_no_fault_of_the_node(name: str) -> None:
    """The program says so, and exits with 3."""
    line = json.dumps({"program": name, "error": "ModuleNotFoundError: No module named 'torch'"}) + "\n"
    assert "No module named" in answer(name, line).message
    assert judged(name, {f"{name}_job": ended(line, rc=3)}).verdict is Verdict.UNKNOWN


def test_another_program_s_lines_do_not_count() -> None:
    """Nor do lines that are too long, or no JSON."""
    others = json.dumps({"program": "gemm", "error": "x"}) + "\n{" + "x" * 70_000 + "\n{nothing}\n"
    assert answer("training", others + TRAINING).verdict is Verdict.PASS


def test_how_far_a_training_is_can_be_seen_while_it_runs() -> None:
    """Rounds and speed of each device."""
    result = judged("training", {"training_job": ended(TRAINING, state="running")})
    assert result.observed["cuda:0#0"] == {"rounds": 12, "tokens_per_second": 812004.2}
    assert judged("gemm", {"gemm_job": ended(GEMM, state="running")}).observed["products"] == 10
    assert "products" not in judged("gemm", {"gemm_job": ended("", state="running")}).observed


def test_a_gpu_that_computes_otherwise_than_most_is_named() -> None:
    """By its address and its serial, with the step and both losses."""
    result = answer("training", devices({}, trained(), {}, {}), reference=None)
    assert remedies(result) == {"training.corrupt": Remedy.TRIAGE}
    assert result.findings[0].component == "GPU 0000:9b:00.0"
    assert f"{OTHER} computes wrong results" in result.message
    assert "at step 8 its loss is 0x1.7000000000000p+2, expected 0x1.610edc0000000p+2" in result.message


def test_a_loss_that_is_no_number_is_said() -> None:
    """On one of them it is that GPU's; on all of them the training is wrong, or the software."""
    assert "(not a number)" in answer("training", devices({}, trained(loss="nan"), {}, {})).message
    result = answer("training", devices(trained(loss="inf"), trained(loss="inf")))
    assert result.verdict is Verdict.UNKNOWN
    assert "not a number" in result.message


def test_of_two_that_differ_the_reference_tells_which_is_right() -> None:
    """Without one, both are named: nothing else is known."""
    told = answer("training", devices({}, trained()))
    assert remedies(told) == {"training.corrupt": Remedy.TRIAGE}
    assert told.findings[0].component == "GPU 0000:9b:00.0"
    untold = answer("training", devices({}, trained()), reference={})
    assert remedies(untold) == {"training.disagreement": Remedy.TRIAGE}
    assert untold.findings[0].component == "GPU 0000:1b:00.0 and GPU 0000:9b:00.0"
    assert ONE in untold.message
    assert OTHER in untold.message


def test_a_gpu_that_does_not_agree_with_itself_is_named() -> None:
    """Nothing then is known against the other, though the two differ."""
    change = trained() | {"differing": [[3, 8], [5, 4]], "differing_count": 2}
    for several in (devices({}, change), devices({}, change, {}, {})):
        result = answer("training", several, reference=None)
        assert remedies(result) == {"training.unsteady": Remedy.TRIAGE}
        assert f"{OTHER} gave different results in 2 of 12 rounds, from step 4 on" in result.message


def test_all_agree_but_not_with_the_reference() -> None:
    """Other software is likelier than the same fault in every GPU: UNKNOWN."""
    result = answer("training", devices(trained(), trained()))
    assert result.verdict is Verdict.UNKNOWN
    assert "but not with the reference 7f9dc53da69e" in result.message


def test_without_a_reference_agreement_is_a_pass_and_said_to_be_no_more() -> None:
    """So it is for software or models that the profile does not know."""
    result = answer("training", devices({"torch": "2.9.0"}, {"torch": "2.9.0"}))
    assert result.verdict is Verdict.PASS
    assert "no reference for 2.9.0/NVIDIA H100 80GB HBM3" in result.message
    assert "as the reference" in answer("training", TRAINING).message


def test_gpus_of_two_models_are_not_held_against_each_other() -> None:
    """Their kernels differ."""
    result = answer("training", devices({}, trained() | {"model": "NVIDIA A100"}))
    assert result.verdict is Verdict.PASS


def test_a_reference_that_is_none_is_said() -> None:
    """A slip in the profile."""
    assert "training.reference: found 'x'" in answer("training", TRAINING, reference="x").message


def test_a_gpu_without_address_or_serial_is_named_as_pytorch_does() -> None:
    """nvidia-smi was not there, or said N/A."""
    bare = {"pci": "", "serial": "[N/A]", "uuid": None}
    result = answer("training", devices({}, trained() | bare, {}))
    assert result.findings[0].component == "cuda:1"
    cpus = devices({"device": "cpu", "pci": None}, trained() | {"device": "cpu", "pci": None})
    assert answer("training", cpus, reference=None).findings[0].component == "cpu#0 and cpu#1"


def test_a_slow_gpu_is_named() -> None:
    """Against the mark of the profile, or its neighbours."""
    slow = {"tokens_per_second": 720_000}
    result = answer("training", devices({}, slow, {}))
    assert remedies(result) == {"training.slow": Remedy.TRIAGE}
    assert "7.2e+05, expected at least 95% of the node's median" in result.message
    result = answer("training", devices({}, slow), tokens_share_min=None, tokens_per_second_min=750_000)
    assert f"{OTHER} trained on 7.2e+05, expected at least 750000 tokens per second" in result.message


def test_a_gpu_that_broke_off_or_is_missing_is_no_pass() -> None:
    """What the others did counts, and says nothing of that one."""
    broke = {"trouble": "RuntimeError: CUDA error: unspecified launch failure"}
    result = answer("training", devices({}, broke, {}))
    assert result.verdict is Verdict.UNKNOWN
    assert "CUDA error" in result.message
    assert "trained on 1 of 2 GPUs; look at parts_gpu" in answer("training", devices({})).message
    assert answer("training", devices({}), devices="cuda:0").verdict is Verdict.PASS


@pytest.mark.parametrize(
    "change",
    [{"marks": []}, {"marks": [[8, "0x1p+9999", DIGEST]]}, {"marks": [[8, "0x1.0p+1", "x"]]}, {"marks": [8]},
     {"marks": [["8", "0x1.0p+1", DIGEST]]}, {"rounds": 1.5}, {"rounds": -1}, {"tokens_per_second": None},
     {"device": 7}, {"slot": "x"}, {"device": "cuda:0"}],
)  # fmt: skip
def test_a_report_that_makes_no_sense_is_unknown(change: dict[str, Any]) -> None:
    """Whoever wrote it."""
    assert answer("training", devices({}, change)).verdict is Verdict.UNKNOWN


def test_differing_rounds_are_counted_however_they_are_told() -> None:
    """The list of them is only for the step."""
    result = answer("training", devices({}, {"differing": "x", "differing_count": 1}, {}))
    assert "from step 0 on" in result.message


def test_every_gpu_trains_unless_the_profile_names_devices() -> None:
    """With its sizes and its precision."""
    order = ordered("training", seconds=300, steps=2000, precision="bf16", python="/opt/torch/bin/python3")
    assert order.argv[:3] == ("/opt/torch/bin/python3", "{program}", "--seconds=300")
    assert set(order.argv[3:]) == {"--steps=2000", "--precision=bf16"}
    assert (order.program, order.seconds) == ("training.py", 300)
    assert "--devices=cpu,cpu" in ordered("training", seconds=1, devices="cpu,cpu").argv
    assert ordered("training", seconds=1).argv[0] == "python3"


def products(**change: object) -> str:
    """Return the evidence with a change to GPU 1's BF16."""
    lines = [json.loads(line) for line in GEMM.splitlines()]
    bent = [line | change if (line.get("device"), line.get("type")) == ("cuda:1", "bf16") else line for line in lines]
    return "".join(json.dumps(line) + "\n" for line in bent)


def test_a_wrong_product_names_the_gpu_and_the_type() -> None:
    """One that is not what it must be, or not what it was before."""
    wrong = answer("gemm", products(wrong_rows=3))
    assert remedies(wrong) == {"gemm.wrong": Remedy.TRIAGE}
    assert f"{OTHER} computes wrong results in bf16: 3 rows" in wrong.message
    unsteady = answer("gemm", products(unsteady=1))
    assert remedies(unsteady) == {"gemm.unsteady": Remedy.TRIAGE}
    assert f"{OTHER} gives different results in bf16" in unsteady.message


def test_a_slow_product_is_held_against_its_mark_and_its_neighbours() -> None:
    """In the type that is slow."""
    assert (
        "650 TFLOP/s, expected at least 700 TFLOP/s"
        in answer("gemm", products(tflops=650), bf16_tflops_min=700).message
    )
    result = answer("gemm", products(tflops=601))
    assert remedies(result) == {"gemm.slow": Remedy.TRIAGE}
    assert "reaches in bf16 only 601 TFLOP/s, expected at least 95%" in result.message
    assert answer("gemm", products(tflops=601), tflops_share_min=None).verdict is Verdict.PASS


def test_a_type_that_a_device_lacks_is_said_and_fails_nobody() -> None:
    """Unless the profile has a mark for it: then it was to be measured."""
    assert "in fp32, tf32, bf16, fp16; skipped: fp8" in answer("gemm", GEMM).message
    assert answer("gemm", GEMM, fp8_tflops_min=1000).verdict is Verdict.UNKNOWN
    skipped = products(skipped="")
    assert "was not measured in bf16: it does not say why" in answer("gemm", skipped).message


def test_a_product_that_broke_off_is_unknown() -> None:
    """And so is nothing at all, or a device that is missing."""
    assert "did no product in bf16: CUDA error" in answer("gemm", products(trouble="CUDA error")).message
    assert answer("gemm", products(type="int4")).verdict is Verdict.UNKNOWN
    lines = [json.loads(line) for line in GEMM.splitlines()]
    none = [line for line in lines if line.get("type") == "fp8"] + [lines[-1]]
    text = "".join(json.dumps(line) + "\n" for line in none)
    assert "no device was measured" in answer("gemm", text, bf16_tflops_min=None).message
    alone = [line for line in lines if line.get("device") == "cuda:0"] + [lines[-1] | {"devices": 1}]
    text = "".join(json.dumps(line) + "\n" for line in alone)
    assert "measured 1 of 2 GPUs" in answer("gemm", text).message
    assert answer("gemm", text, devices="cuda:0").verdict is Verdict.PASS


def test_products_are_asked_of_every_gpu_in_every_type() -> None:
    """Or of what the profile names."""
    order = ordered("gemm", seconds_each=5)
    assert (order.program, order.seconds) == ("gemm.py", 2 * 5 * 5 * 2)
    assert "--types=fp32,tf32,bf16,fp16,fp8" in order.argv
    order = ordered("gemm", seconds_each=1, types=["bf16"], size=512, devices="cpu", python="python3.12")
    assert order.argv == ("python3.12", "{program}", "--seconds=1", "--types=bf16", "--size=512", "--devices=cpu")


def summed(**change: object) -> str:
    """Return the evidence of a node's all-reduce, with changes."""
    return json.dumps(json.loads(ALLREDUCE) | change) + "\n"


def test_a_group_that_is_wrong_or_slow_is_watched() -> None:
    """Any of its nodes may be the one: smaller groups tell."""
    assert remedies(answer("allreduce", summed(wrong=2))) == {"allreduce.wrong": Remedy.WATCH}
    slow = answer("allreduce", summed(bus_gbps=100))
    assert remedies(slow) == {"allreduce.slow": Remedy.WATCH}
    assert "a group of 3 nodes reaches 100 GB/s, expected at least 350 GB/s" in slow.message
    assert answer("allreduce", summed(bus_gbps=100, backend="gloo")).verdict is Verdict.PASS


def test_a_group_that_never_met_is_unknown() -> None:
    """A rank did not come, or a library is not there."""
    result = answer(
        "allreduce", summed(troubles=["rank 3: RuntimeError: no store at 192.0.2.1:29500"], bus_gbps=None)
    )
    assert result.verdict is Verdict.UNKNOWN
    assert "no store at" in result.message
    assert answer("allreduce", summed(troubles=None)).verdict is Verdict.UNKNOWN


def test_a_node_takes_part_only_in_a_group_that_somebody_chose() -> None:
    """Its place, where they meet, and on GPUs a rank for each."""
    job, section = CHECKS["allreduce"].job, {"active": {"allreduce": {"gpus": 8, "interface": "eth1", "bytes": 4096}}}
    assert job is not None
    with pytest.raises(EvidenceError, match="gpu-01 is in no group; fleet-runner allreduce NODE"):
        job(Expected(NODE, section))
    group = {"nodes": 3, "node": 1, "address": "192.0.2.1", "port": 20001, "backend": "nccl"}
    order = job(Expected(NODE, section, run={"group": group}))
    assert (order.program, order.seconds) == ("allreduce.py", 120)
    assert {"--node=1", "--address=192.0.2.1", "--local=8", "--interface=eth1", "--bytes=4096"} <= set(order.argv)
    processors = {"active": {"allreduce": {"gpus": 8, "python": "python3.12", "limit_seconds": 9}}}
    order = job(Expected(NODE, processors, run={"group": group | {"backend": "gloo"}}))
    assert (order.argv[0], order.seconds) == ("python3.12", 9)
    assert {"--local=1", "--bytes=16777216"} <= set(order.argv)
