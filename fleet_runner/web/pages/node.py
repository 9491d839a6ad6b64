"""One node: its way through the lifecycle, what was found, and what may be asked for."""

from fastapi import APIRouter

router = APIRouter()
