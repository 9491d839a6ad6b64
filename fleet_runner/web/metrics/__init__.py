"""What a Prometheus scrapes at /metrics, and traces of stages."""

from fastapi import APIRouter

router = APIRouter()
