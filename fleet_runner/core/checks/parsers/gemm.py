"""What our program gemm.py prints: products of matrices, by device and type of number."""

from dataclasses import dataclass
from typing import Any

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers import program
from fleet_runner.core.checks.parsers.program import DeviceRef

PROGRAM = "gemm"
TYPES = ("fp32", "tf32", "bf16", "fp16", "fp8")
MOST_LINES = 500


@dataclass(frozen=True, slots=True)
class Product:
    """One device in one type of number.

    `wrong_rows` of a product whose every element is known were wrong; `unsteady` elements of a product that was done
    again were not what they were before. `skipped` says what the device or PyTorch lacks, `trouble` what broke.
    """

    whose: DeviceRef
    type: str
    wrong_rows: int = 0
    unsteady: int = 0
    tflops: float = 0.0
    skipped: str = ""
    trouble: str = ""

    @property
    def done(self) -> bool:
        """Whether there are figures."""
        return not self.skipped and not self.trouble


def parse(output: str) -> tuple[Product, ...]:
    """Read every product; EvidenceError unless the program came to its end and tells of every device."""
    found = program.whole(output, PROGRAM)
    products = tuple(_product(line) for line in found if line.get("kind") == "product")[:MOST_LINES]
    devices = {each.whose.name for each in products}
    if not products or len(devices) != found[-1].get("devices"):
        ended = found[-1].get("devices")
        raise EvidenceError(f"gemm reports {len(devices)} devices and ended with {ended!r:.10}; was it cut short?")
    return products


def progress(output: str) -> dict[str, Any]:
    """Return how many products were done so far; never raises."""
    done = [line for line in program.lines(output, PROGRAM) if line.get("kind") == "product"]
    return {"products": len(done)} if done else {}


def _product(line: dict[str, Any]) -> Product:
    whose, kind = program.whose(line, PROGRAM), program.text(line, "type")
    if kind not in TYPES:
        raise EvidenceError(f"gemm multiplied in {kind!r:.20}, expected one of {', '.join(TYPES)}")
    if "skipped" in line:
        return Product(whose, kind, skipped=program.text(line, "skipped") or "it does not say why")
    if "trouble" in line:
        return Product(whose, kind, trouble=program.text(line, "trouble") or "it does not say why")
    return Product(
        whose,
        kind,
        wrong_rows=program.count(line, "wrong_rows"),
        unsteady=program.count(line, "unsteady"),
        tflops=program.amount(line, "tflops"),
    )
