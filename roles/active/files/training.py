"""Train a small transformer, the same on every device, and tell bit for bit what came out.

The same model, data, order of operations and seed on each device of a node must give the same bits; a device whose
bits differ computes wrongly without saying so (silent data corruption). Rounds are repeated until the time is over: a
device must agree with itself, too.

Needs PyTorch 1.13 or later and nothing else. Prints lines of JSON: one for each round of each device, and at the end
one for each device and one with "ended".
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import hashlib
import json
import os
import signal
import statistics
import subprocess
import sys
import time

PROGRAM = "training"
MARKS = 8  # points in a round at which losses and parameters are told: where two devices part is then known
MOST_DIFFERING = 4
SEED = 20240229


def main() -> int:
    """Start one process for each device, all at once, as in real training."""
    asked = arguments()
    if asked.device:
        return train(asked)
    os.environ.setdefault("CUDA_DEVICE_ORDER", "PCI_BUS_ID")  # numbers are nvidia-smi's
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # without it cuBLAS is free to add up in any order
    try:
        devices = chosen(asked.devices)
    except (ImportError, RuntimeError, OSError) as error:
        say({"error": f"{type(error).__name__}: {error}"[:300]})
        return 3
    if not devices:
        say({"error": f"PyTorch sees no device for --devices {asked.devices}"})
        return 3
    words = [f"--{name.replace('_', '-')}={value}" for name, value in vars(asked).items() if name != "device"]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    children = [
        subprocess.Popen([sys.executable, __file__, *words, f"--device={device}", f"--slot={slot}"])
        for slot, device in enumerate(devices)
    ]
    try:
        codes = [child.wait() for child in children]
    finally:
        for child in children:
            child.kill()
    say({"ended": True, "devices": len(devices), "failed": sum(code != 0 for code in codes)})
    return 0


def chosen(wanted: str) -> list[str]:
    """Return the devices by PyTorch's names; "cuda" stands for every GPU."""
    if wanted != "cuda":
        return wanted.split(",")
    import torch

    return [f"cuda:{number}" for number in range(torch.cuda.device_count())]


def train(asked: argparse.Namespace) -> int:
    """Do rounds on one device until the time is over, and tell what came out."""
    whose = {"device": asked.device, "slot": asked.slot}
    try:
        told = rounds(asked, whose)
    except Exception as error:  # noqa: BLE001  whatever PyTorch raises is this device's answer
        say({**whose, "kind": "device", "trouble": f"{type(error).__name__}: {error}".splitlines()[0][:300]})
        return 1
    say({**whose, "kind": "device", **told})
    return 0


def rounds(asked: argparse.Namespace, whose: dict[str, object]) -> dict[str, object]:
    """Return what the first round gave, how many there were, and those that gave something else."""
    import torch

    device = torch.device(asked.device)
    prepare(torch, asked, device)
    began, first, differing, rates = time.monotonic(), None, [], []
    count = 0
    parent = os.getppid()
    while count < asked.rounds or time.monotonic() - began < asked.seconds:
        if os.getppid() != parent:
            raise RuntimeError("whoever started this process is gone")
        marks, rate = one_round(torch, asked, device)
        count += 1
        rates.append(rate)
        first = first or marks
        if marks != first:
            step = next(mine[0] for mine, its in zip(marks, first) if mine != its)
            differing.append([count, step])
        say({**whose, "kind": "round", "round": count, "tokens_per_second": round(rate, 1), "digest": marks[-1][2]})
    peak = torch.cuda.max_memory_allocated(device) if device.type == "cuda" else 0
    return {
        **identity(torch, device),
        "torch": torch.__version__,
        "precision": asked.precision,
        "steps": asked.steps,
        "rounds": count,
        "marks": first,
        "digest": first[-1][2],
        "differing": differing[:MOST_DIFFERING],
        "differing_count": len(differing),
        # The first round pays for loading kernels.
        "tokens_per_second": round(statistics.median(rates[1:] or rates), 1),
        "peak_bytes": peak,
        "seconds": round(time.monotonic() - began, 2),
    }


def prepare(torch: object, asked: argparse.Namespace, device: object) -> None:
    """Leave nothing to chance: order of additions, choice of kernels, number of threads."""
    torch.use_deterministic_algorithms(True)  # noqa: FBT003  PyTorch's own signature
    torch.backends.cudnn.benchmark = False
    torch.backends.cuda.matmul.allow_tf32 = asked.precision == "tf32"
    for name in ("allow_fp16_reduced_precision_reduction", "allow_bf16_reduced_precision_reduction"):
        with contextlib.suppress(AssertionError, AttributeError):  # how older versions say that they have none
            setattr(torch.backends.cuda.matmul, name, False)
    if device.type == "cuda":
        torch.cuda.set_device(device)
        torch.cuda.reset_peak_memory_stats(device)
    else:
        torch.set_num_threads(asked.threads)


def one_round(torch: object, asked: argparse.Namespace, device: object) -> tuple[list[list[object]], float]:
    """Train from the beginning; return [step, loss, digest of the parameters] at each mark, and tokens per second."""
    torch.manual_seed(SEED)
    model = transformer(torch, asked).to(device)
    source = torch.Generator().manual_seed(SEED)
    shape = (4, asked.batch, asked.context + 1)
    # Four batches that come round and round, so that there is something to learn and the loss falls.
    data = torch.randint(asked.vocabulary, shape, generator=source).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    every = max(1, asked.steps // MARKS)
    marks: list[list[object]] = []
    busy, began = 0.0, time.monotonic()
    for step in range(1, asked.steps + 1):
        loss = forward(torch, asked, model, data[step % 4])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % every == 0 or step == asked.steps:
            value = loss.item()  # waits for the device
            busy += time.monotonic() - began
            marks.append([step, float(value).hex(), digest(model)])
            began = time.monotonic()
    return marks, asked.steps * asked.batch * asked.context / max(busy, 1e-9)


def forward(torch: object, asked: argparse.Namespace, model: object, batch: object) -> object:
    """Return the mean loss of the next token."""
    kind = batch.device.type
    with torch.autocast(kind, dtype=torch.bfloat16, enabled=asked.precision == "bf16"):
        scores = model(batch[:, :-1])
    wanted = batch[:, 1:].reshape(-1)
    return torch.nn.functional.cross_entropy(scores.float().reshape(-1, scores.shape[-1]), wanted)


def digest(model: object) -> str:
    """Return the SHA-256 of every parameter's bits, in their order."""
    found = hashlib.sha256()
    for value in model.state_dict().values():
        whole = value.detach().cpu().contiguous()
        found.update(ctypes.string_at(whole.data_ptr(), whole.numel() * whole.element_size()))
    return found.hexdigest()


def transformer(torch: object, asked: argparse.Namespace) -> object:
    """Return a decoder of `layers` blocks, of plain operations whose order of additions is fixed."""
    nn = torch.nn

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.before, self.after = nn.LayerNorm(asked.width), nn.LayerNorm(asked.width)
            self.three, self.out = nn.Linear(asked.width, 3 * asked.width), nn.Linear(asked.width, asked.width)
            self.up, self.down = nn.Linear(asked.width, 4 * asked.width), nn.Linear(4 * asked.width, asked.width)

        def forward(self, told: object) -> object:
            rows, length, width = told.shape
            parts = self.three(self.before(told)).view(rows, length, 3, asked.heads, width // asked.heads)
            query, key, value = parts.permute(2, 0, 3, 1, 4)
            scores = query @ key.transpose(-2, -1) / (width // asked.heads) ** 0.5
            hidden = torch.ones(length, length, dtype=torch.bool, device=told.device).triu(1)
            weights = scores.masked_fill(hidden, float("-inf")).softmax(-1).to(value.dtype)
            seen = (weights @ value).transpose(1, 2).reshape(rows, length, width)
            told = told + self.out(seen)
            return told + self.down(nn.functional.gelu(self.up(self.after(told))))

    class Decoder(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.tokens = nn.Embedding(asked.vocabulary, asked.width)
            self.places = nn.Parameter(torch.randn(asked.context, asked.width) * 0.02)
            self.blocks = nn.ModuleList([Block() for _ in range(asked.layers)])
            self.last, self.scores = nn.LayerNorm(asked.width), nn.Linear(asked.width, asked.vocabulary)

        def forward(self, tokens: object) -> object:
            told = self.tokens(tokens) + self.places
            for block in self.blocks:
                told = block(told)
            return self.scores(self.last(told))

    return Decoder()


def identity(torch: object, device: object) -> dict[str, object]:
    """Return which device it is, as a technician finds it; what cannot be told is left out."""
    if device.type != "cuda":
        return {"model": processor()}
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


def processor() -> str:
    """Return what the processor calls itself: others may compute by other instructions, and round otherwise."""
    with contextlib.suppress(OSError), open("/proc/cpuinfo", encoding="utf-8") as file:  # noqa: PTH123  one line of it
        for line in file:
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return "cpu"


def say(line: dict[str, object]) -> None:
    """Print one line whole: several processes share the output."""
    os.write(1, (json.dumps({"program": PROGRAM, **line}) + "\n").encode())


def arguments() -> argparse.Namespace:
    """Read the command line; the defaults are a minute of work for a GPU and seconds for a processor's core."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--devices", default="cuda", help='"cuda" for every GPU, or names: "cuda:0,cuda:1", "cpu,cpu"'
    )
    parser.add_argument("--precision", default="fp32", choices=("fp32", "tf32", "bf16"))
    parser.add_argument("--steps", type=int, default=64, help="of one round")
    parser.add_argument("--rounds", type=int, default=2, help="at least")
    parser.add_argument("--seconds", type=float, default=0.0, help="go on with rounds that long")
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--context", type=int, default=128, help="tokens of a sequence")
    parser.add_argument("--batch", type=int, default=8, help="sequences of a step")
    parser.add_argument("--vocabulary", type=int, default=1024)
    parser.add_argument("--threads", type=int, default=1, help="of a processor")
    parser.add_argument("--device", default="", help=argparse.SUPPRESS)
    parser.add_argument("--slot", type=int, default=0, help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
