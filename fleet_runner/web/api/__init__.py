"""The API, one module each thing: what pages show, for programs; described by /api/v1/openapi.json."""

from fastapi import APIRouter

API: tuple[APIRouter, ...] = ()
"""Every router, below /api/v1."""
