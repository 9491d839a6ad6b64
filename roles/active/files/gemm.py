"""Multiply matrices on every device, in each type of number that it has; hold the products to what they must be.

Right: matrices of -1, 0 and 1, so many zeros that every sum, also on the way, is a whole number below 257: exact in
each of the types, whatever the order of additions. The product is held against A(Bv) for whole numbers v (Freivalds).
Steady: random numbers, the same product again and again, must give the same bits each time.
Fast: TFLOP/s of those products.

Needs PyTorch 1.13 or later and nothing else. Prints a line of JSON for each device and type, and one with "ended".
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import time

PROGRAM = "gemm"
TYPES = ("fp32", "tf32", "bf16", "fp16", "fp8")
SEED = 20240229


def main() -> int:
    """Measure the devices one after another: what one reaches alone is what its data sheet tells of."""
    os.environ.setdefault("CUDA_DEVICE_ORDER", "PCI_BUS_ID")  # numbers are nvidia-smi's
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # without it cuBLAS is free to add up in any order
    asked = arguments()
    try:
        import torch

        names = asked.devices.split(",") if asked.devices != "cuda" else every_gpu(torch)
    except (ImportError, RuntimeError, OSError) as error:
        say({"error": f"{type(error).__name__}: {error}"[:300]})
        return 3
    if not names:
        say({"error": f"PyTorch sees no device for --devices {asked.devices}"})
        return 3
    for name in names:
        whose = {"device": name, **identity(torch, torch.device(name))}
        for kind in asked.types.split(","):
            try:
                told = measured(torch, torch.device(name), kind, asked)
            except Exception as error:  # noqa: BLE001  whatever PyTorch raises is this device's answer
                told = {"trouble": f"{type(error).__name__}: {error}".splitlines()[0][:300]}
            say({**whose, "kind": "product", "type": kind, **told})
    say({"ended": True, "devices": len(names), "torch": torch.__version__})
    return 0


def every_gpu(torch: object) -> list[str]:
    """Return all GPUs by PyTorch's names."""
    return [f"cuda:{number}" for number in range(torch.cuda.device_count())]


def measured(torch: object, device: object, kind: str, asked: argparse.Namespace) -> dict[str, object]:
    """Return what one device does in one type of number; "skipped" says why it cannot."""
    why = lacking(torch, device, kind)
    if why:
        return {"skipped": why}
    torch.manual_seed(SEED)
    torch.backends.cuda.matmul.allow_tf32 = kind == "tf32"
    for name in ("allow_fp16_reduced_precision_reduction", "allow_bf16_reduced_precision_reduction"):
        with contextlib.suppress(AssertionError, AttributeError):  # how older versions say that they have none
            setattr(torch.backends.cuda.matmul, name, False)
    size = asked.size
    wrong = exact(torch, device, kind, size)
    left, right = (torch.randn(size, size).to(device) for _ in range(2))
    multiply = prepared(torch, kind, left, right)
    first = multiply()
    wait(torch, device)
    began, count = time.monotonic(), 0
    while count < 2 or time.monotonic() - began < asked.seconds:  # noqa: PLR2004  one to compare, one to measure
        last = multiply()
        count += 1
        if count % 16 == 0 or device.type == "cpu":
            wait(torch, device)
    wait(torch, device)
    taken = time.monotonic() - began
    return {
        "size": size,
        "wrong_rows": wrong,
        "unsteady": int((bits(torch, first) != bits(torch, last)).sum().item()),
        "products": count,
        "tflops": round(2.0 * size**3 * count / taken / 1e12, 4),
    }


def lacking(torch: object, device: object, kind: str) -> str:
    """Return what this PyTorch or device lacks for a type; "" where nothing does."""
    if kind == "fp8":
        if not hasattr(torch, "_scaled_mm") or not hasattr(torch, "float8_e4m3fn"):
            return f"PyTorch {torch.__version__} has no FP8 products"
        if device.type != "cuda" or torch.cuda.get_device_capability(device) < (8, 9):
            return "the device has no FP8"
    if kind in {"tf32", "fp16"} and device.type != "cuda":
        return "only GPUs have it"
    if kind == "tf32" and torch.cuda.get_device_capability(device) < (8, 0):
        return "the device has no TF32"
    if kind not in TYPES:
        return f"it is none of {', '.join(TYPES)}"
    return ""


def exact(torch: object, device: object, kind: str, size: int) -> int:
    """Return how many rows of a product of whole numbers are wrong."""
    # A sum has about size * share^2 terms of +-1 (spread 34): 256 is more than seven times that.
    share = min(0.5, 34.0 / size**0.5)
    left, right = (small(torch, size, share) for _ in range(2))
    product = prepared(torch, kind, left.to(device), right.to(device))().to("cpu").double()
    vector = torch.randint(1, 1024, (size, 1)).double()
    wanted = left.double() @ (right.double() @ vector)
    return int((product @ vector != wanted).sum().item())


def small(torch: object, size: int, share: float) -> object:
    """Return a matrix of -1, 0 and 1, of which about `share` are not 0."""
    return torch.sign(torch.rand(size, size) - 0.5) * (torch.rand(size, size) < share)


def prepared(torch: object, kind: str, left: object, right: object) -> object:
    """Return the product of two matrices in a type of number, as a function to call."""
    if kind == "fp8":
        eight, one = torch.float8_e4m3fn, torch.ones((), device=left.device)
        # The right one must lie column by column.
        these = left.to(eight), right.t().contiguous().to(eight).t()

        def scaled() -> object:
            found = torch._scaled_mm(  # noqa: SLF001  it is the only way to FP8
                *these, scale_a=one, scale_b=one, out_dtype=torch.bfloat16
            )
            return found[0] if isinstance(found, tuple) else found

        return scaled
    number = {"bf16": torch.bfloat16, "fp16": torch.float16}.get(kind, torch.float32)
    left, right = left.to(number), right.to(number)
    return lambda: left @ right


def bits(torch: object, matrix: object) -> object:
    """Return the bits of each number: NaN is equal to itself then."""
    return matrix.view(torch.int32 if matrix.element_size() == 4 else torch.int16)  # noqa: PLR2004  bytes


def wait(torch: object, device: object) -> None:
    """Wait until a GPU has done what it was asked for."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def identity(torch: object, device: object) -> dict[str, object]:
    """Return which device it is, as a technician finds it; what cannot be told is left out."""
    if device.type != "cuda":
        return {"model": "cpu"}
    found: dict[str, object] = {"model": torch.cuda.get_device_name(device)}
    fields = ("pci.bus_id", "serial", "uuid")
    argv = ["nvidia-smi", f"--id={device.index or 0}", f"--query-gpu={','.join(fields)}", "--format=csv,noheader"]
    if os.environ.get("CUDA_VISIBLE_DEVICES"):
        return found  # PyTorch's numbers are not nvidia-smi's then
    try:
        done = subprocess.run(argv, capture_output=True, text=True, check=True, timeout=60)
    except (OSError, subprocess.SubprocessError):
        return found
    values = [value.strip() for value in done.stdout.strip().split(",")]
    if len(values) == len(fields):
        found.update(zip(("pci", "serial", "uuid"), values))
    return found


def say(line: dict[str, object]) -> None:
    """Print one line."""
    sys.stdout.write(json.dumps({"program": PROGRAM, **line}) + "\n")
    sys.stdout.flush()


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--devices", default="cuda", help='"cuda" for every GPU, or names: "cuda:0,cuda:1", "cpu"')
    parser.add_argument("--types", default=",".join(TYPES), help=f"some of {','.join(TYPES)}")
    parser.add_argument("--size", type=int, default=8192, help="rows and columns of the matrices")
    parser.add_argument("--seconds", type=float, default=5.0, help="of each device and type")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
