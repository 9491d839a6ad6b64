"""What an API server says with a no, and what to do about it."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.json_text import json_object
from fleet_runner.core.inventory.consistency import show

RESTS = frozenset({HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE})
"""Answers with which an API server that has too much to do may say how long it wants to be left alone."""


def said(body: object) -> dict[str, Any]:
    """Return what an API server says with a no, {} where that is no JSON, as a proxy's."""
    text = body.decode(errors="replace") if isinstance(body, bytes) else str(body or "")
    try:
        return json_object(text, "the answer")
    except EvidenceError:
        return {}


def no(status: int, body: object) -> str:
    """Return the API server's own sentence, and what to do about it."""
    message = said(body).get("message")
    hints = {
        HTTPStatus.UNAUTHORIZED: "give the kubeconfig a valid credential",
        HTTPStatus.FORBIDDEN: "give its user the rights that docs/schedulers.md lists",
        HTTPStatus.NOT_FOUND: "does Kubernetes know it? The context's scheduler_node names it",
    }
    hint = hints.get(HTTPStatus(status), "look into the API server's log") if status in set(HTTPStatus) else ""
    return f"HTTP {status}, {show(message) if isinstance(message, str) else 'no reason given'}; {hint}"


def rest(status: int, headers: Mapping[str, str] | None) -> float:
    """Return for how many seconds an API server asks to be left alone, 0 where it does not."""
    text = (headers or {}).get("Retry-After") or ""
    return float(text) if status in RESTS and text.isascii() and text.isdigit() else 0.0


def is_of_budget(answer: Mapping[str, Any]) -> bool:
    """Whether an eviction was refused by a disruption budget; a busy API server answers 429 as well."""
    details = answer.get("details")
    causes = details.get("causes") if isinstance(details, dict) else None
    return any(
        isinstance(each, dict) and each.get("reason") == "DisruptionBudget"
        for each in (causes if isinstance(causes, list) else ())
    )
