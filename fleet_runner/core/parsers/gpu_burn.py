"""What gpu-burn prints: a progress line now and then, and its summary at the end."""

import re
from dataclasses import dataclass

from fleet_runner.core.errors import EvidenceError

_TESTED = re.compile(r"^Tested (\d{1,3}) GPUs:[ \t\r]*$", re.MULTILINE)
_GPU = re.compile(r"^[ \t]*GPU (\d{1,3}): (OK|FAULTY)[ \t\r]*$", re.MULTILINE)
_RATE = re.compile(r"\d{1,15} \((\d{1,12}) Gflop/s\)")
_ERRORS = re.compile(r"[ \t]*(-?\d{1,18}) *(?:\(WARNING!\))?[ \t]*")


@dataclass(frozen=True, slots=True)
class Burn:
    """gpu-burn's answer. `faulty[n]` is its verdict on GPU n; `gflops[n]` its last speed, 0 where never measured.

    `gflops` and `errors` are empty where the output holds no progress line.
    """

    faulty: tuple[bool, ...]
    gflops: tuple[int, ...]
    errors: tuple[int, ...]


def parse(output: str) -> Burn:
    """Read a finished gpu-burn; EvidenceError unless its summary names each GPU that it says it tested."""
    heads = list(_TESTED.finditer(output))
    if not heads:
        raise EvidenceError("gpu-burn's output has no summary ('Tested N GPUs:'), so it did not end by itself")
    head = heads[-1]
    rows = {int(number): word == "FAULTY" for number, word in _GPU.findall(output[head.end() :])}
    count = int(head[1])
    if sorted(rows) != list(range(count)) or not count:
        raise EvidenceError(f"gpu-burn's summary says {count} GPUs but names {len(rows)}; was its output cut short?")
    gflops, errors = _last_progress(output, count)
    return Burn(tuple(rows[number] for number in range(count)), gflops, errors)


def _last_progress(output: str, count: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Read the last whole progress line; the earlier ones are about a shorter stretch of the same run."""
    for line in reversed(re.split(r"[\r\n]", output)):
        _, begun, rest = line.partition("proc'd:")
        done, _, rest = rest.partition("errors:")
        told, ended, _ = rest.partition("temps:")
        rates = tuple(int(rate) for rate in _RATE.findall(done))
        words = [_ERRORS.fullmatch(word) for word in told.split(" - ")]
        errors = tuple(int(word[1]) for word in words if word is not None)
        if begun and ended and len(rates) == count and len(errors) == count:
            return rates, errors
    return (), ()
