"""What a healthy node answers, in a module for each kind of evidence."""

from pathlib import Path

EVIDENCE = Path(__file__).resolve().parents[3] / "evidence"


def text_of(name: str) -> str:
    """Return a file of hand-written evidence exactly, carriage returns included."""
    return (EVIDENCE / name).read_bytes().decode()
