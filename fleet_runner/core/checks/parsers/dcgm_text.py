"""`dcgmi diag -r N` and `dcgmi health -c` as tables: what their JSON says, put into that form.

DCGM 3 says in one cell which GPUs a result is of ("Fail - GPU: 3"), 4 in a row for each ("GPU3: Fail"). A long cell
goes on in rows whose first cell is empty.
"""

import re
from collections.abc import Iterator
from typing import Any

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.dcgm import BAD, ROOTS
from fleet_runner.core.checks.parsers.dcgm_health import HEADER, STATES, WELL, Watched

DIAG = re.compile(r"^(?:\| )?Diagnostic {2,60}\| Result {2,80}\|", re.MULTILINE)
HEALTH = re.compile(rf"^(?:\| )?{HEADER} {{2,120}}\|", re.MULTILINE)
"""How each table begins. A bar at the beginning of a line may have been taken for a quoting mark."""

_ROW = re.compile(r"(?:\| ?)?([^|\n]{1,120})\|(.{1,400})\|[ \t]*", re.ASCII)
_CATEGORY = re.compile(r"[|+]?-{3,9}  (\w[\w ]{0,30}?)  -{2,30}[+|]-{2,200}[+|][ \t]*", re.ASCII)
_BORDER = re.compile(r"\+[-=]{3,120}\+[-=]{3,200}\+[ \t]*", re.ASCII)
_STATUS = r"(?P<status>Pass|Fail|Warn|Skip|Not Run)(?:ed|ing)?"
_RESULT = re.compile(rf"{_STATUS}(?: - (?:All|GPUs?: (?P<gpus>[\d, ]{{1,80}})))?", re.ASCII | re.IGNORECASE)
_OF_GPU = re.compile(rf"GPU ?(?P<gpus>\d{{1,3}}): {_STATUS}", re.ASCII | re.IGNORECASE)
_SAID = re.compile(r"(Warning|Error|Info)\b")
_DEPTH = re.compile(r"( *)(?:-> )?(.*)")

INDENT = 3
"""Blanks before the arrow of each deeper row."""

METADATA = "Metadata"


def diagnostic(text: str) -> dict[str, Any]:
    """Return a diagnostic as its JSON has it; EvidenceError for a table that was cut short."""
    categories: list[dict[str, Any]] = []
    test: dict[str, Any] = {}
    for name, cell in _rows(text, DIAG, "dcgmi diag"):
        if not cell:
            categories.append({"category": name, "tests": []})
            test = {}
        elif categories and categories[-1]["category"] != METADATA:
            test = _told(test, categories[-1]["tests"], name, cell)
    for each in (test for category in categories for test in category["tests"]):
        each["results"] = _results(each)
    return {ROOTS[1]: {"test_categories": categories}}


def _told(test: dict[str, Any], tests: list[dict[str, Any]], name: str, cell: str) -> dict[str, Any]:
    """Take one row in, and return the test that the next one may go on with."""
    of_gpu = _OF_GPU.fullmatch(cell)
    found = of_gpu or _RESULT.fullmatch(cell)
    if name and _SAID.match(name) is None:
        test = {"name": name, "whole": found["status"] if found else cell, "rows": [], "said": []}
        tests.append(test)
        if found and found["gpus"]:
            test["rows"].append((found["gpus"], found["status"]))
    elif name:
        test.get("said", []).append([name, cell])
    elif found and (of_gpu or not test.get("said")):
        test.get("rows", []).append((found["gpus"] or "", found["status"]))
    elif test.get("said"):
        test["said"][-1][1] += f" {cell}"
    return test


def _results(test: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the results of a test; what it warned of stands with each that is not well."""
    rows = test.pop("rows")
    whole = test.pop("whole")
    warnings = [{"warning": words} for name, words in test.pop("said") if not name.startswith("Info")]
    found: list[dict[str, Any]] = []
    told = any(status.lower() in BAD for _, status in rows)
    for gpus, status in rows if rows and (told or whole.lower() not in BAD) else [*rows, ("", whole)]:
        bad = {"warnings": warnings} if warnings and status.lower() in BAD else {}
        found += [{**({"gpu_ids": gpu} if gpu else {}), "status": status, **bad} for gpu in _each(gpus)]
    return found


def _each(gpus: str) -> list[str]:
    return [each.strip() for each in gpus.split(",") if each.strip()] or [""]


def watched(text: str) -> tuple[Watched, ...]:
    """Return what a health watch found that is not healthy; EvidenceError for a table that was cut short."""
    overall, path = "", list[str]()
    found: list[list[Any]] = []
    for left, cell in _rows(text, HEALTH, "dcgmi health"):
        indent = _DEPTH.fullmatch(left)
        name = indent[2].strip() if indent else ""
        if name == "Overall Health":
            overall = cell.removesuffix(".")
        elif name:
            path = [*path[: len(indent[1]) // INDENT + ("->" in left) if indent else 0], name]
            found.append([" ".join(path), cell])
        elif found and cell:
            found[-1][1] += f" {cell}"
    if overall not in STATES:
        raise EvidenceError(
            f"dcgmi health reports no overall health, expected one of {', '.join(sorted(STATES))}; run it again"
        )
    bad = tuple(Watched(where, " ".join(words.split())) for where, words in found if words.strip() not in {"", WELL})
    leaves = tuple(each for each in bad if not any(other.where.startswith(f"{each.where} ") for other in bad))
    return leaves or (() if overall == WELL else (Watched("overall", overall),))


def _rows(text: str, head: re.Pattern[str], name: str) -> Iterator[tuple[str, str]]:
    """Yield the two cells of each row below the heading; of a category's row the second is ""."""
    begun = head.search(text)
    lines = text[begun.end() :].split("\n")[1:] if begun else []
    ended = False
    for line in lines:
        if category := _CATEGORY.fullmatch(line):
            ended = False
            yield category[1], ""
        elif row := _ROW.fullmatch(line):
            ended = False
            yield row[1].rstrip(), row[2].strip()
        elif _BORDER.fullmatch(line):
            ended = "-" in line
        elif line.strip():
            break
    if not ended:
        raise EvidenceError(f"{name}: its table has no end; was it cut short? Run it again, or paste all of it")
