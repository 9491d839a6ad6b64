"""`gpu_burn SECONDS`: really runs that long, writes gpu-burn's progress, and ends with its summary."""

import os
import signal
import sys
import time

from fleet_runner.lab import plan
from fleet_runner.lab.tools.node import Node, using_gpus
from fleet_runner.lab.tools.nvidia_smi import celsius

GFLOPS = 51_300
"""What one H100 reaches with gpu-burn's single-precision product; GPUs of one node differ by under one per cent."""

SPREAD = (0, 210, -95, 130, -180, 60, 240, -40)
ITERATIONS = 1310
MEGABYTES = 81_089
STEPS = 10
"""Lines of progress in a run; the tool itself writes a line for each GPU's message."""


def run(node: Node, args: list[str]) -> int:
    """Load the GPUs for so many seconds; exit 0 even where a GPU is faulty, as the tool does."""
    seconds = float(args[-1]) if args and args[-1].replace(".", "", 1).isdigit() else 10.0
    gpus = [gpu for gpu in range(plan.GPUS) if node.has_gpu(gpu)]
    note = using_gpus(node, "gpu_burn")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        _begin(node, gpus)
        _burn(node, gpus, seconds)
    finally:
        os.unlink(note)
    _summary(node, gpus)
    return 0


def gflops(node: Node, gpu: int) -> int:
    """Return what one GPU reaches."""
    slow = node.fault("slow_gpu")
    share = slow["share"] if slow is not None and slow["gpu"] == gpu else 1.0
    return int((GFLOPS + SPREAD[gpu]) * share)


def _begin(node: Node, gpus: list[int]) -> None:
    number = node.state["index"]
    for at, gpu in enumerate(gpus):
        _say(f"GPU {at}: {plan.GPU_MODEL} (UUID: {plan.gpu_uuid(number, gpu)})\n")
    for at, _ in enumerate(gpus):
        _say(
            f"Initialized device {at} with {MEGABYTES} MB of memory ({MEGABYTES - 520} MB available, "
            f"using {int(MEGABYTES * 0.89)} MB of it), using FLOATS\n"
            "Results are 268435456 bytes each, thus performing 262 iterations\n"
        )


def _burn(node: Node, gpus: list[int], seconds: float) -> None:
    began = time.monotonic()
    for step in range(1, STEPS + 1):
        time.sleep(max(0.0, began + seconds * step / STEPS - time.monotonic()))
        _say(_progress(node, gpus, step))
        if step % (STEPS // 2) == 0:
            _say(f"\tSummary at:   {time.strftime('%a %b %e %H:%M:%S %Z %Y')}\n\n")


def _progress(node: Node, gpus: list[int], step: int) -> str:
    done = " - ".join(f"{ITERATIONS * step // STEPS} ({gflops(node, gpu)} Gflop/s)" for gpu in gpus)
    errors = " - ".join(_errors(node, gpu, step) for gpu in gpus)
    temps = " - ".join(f"{celsius(node, gpu, busy=True)} C" for gpu in gpus)
    return f"\r{100 * step / STEPS:.1f}%  proc'd: {done}   errors: {errors}   temps: {temps} \n"


def _errors(node: Node, gpu: int, step: int) -> str:
    bad = node.fault("bad_gpu")
    faulty = bad is not None and bad["gpu"] == gpu and step >= STEPS // 2
    return f"{4096 + 17 * step}  (WARNING!)" if faulty else "0"


def _summary(node: Node, gpus: list[int]) -> None:
    _say("Killing processes with SIGTERM (soft kill)\n")
    for at, _ in enumerate(gpus):
        _say(f"Freed memory for dev {at}\nUninitted cublas\n")
    _say(f"done\n\nTested {len(gpus)} GPUs:\n")
    bad = node.fault("bad_gpu")
    for at, gpu in enumerate(gpus):
        faulty = bad is not None and bad["gpu"] == gpu
        _say(f"\tGPU {at}: {'FAULTY' if faulty else 'OK'}\n")


def _say(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
