"""Who asked what."""

from fastapi import APIRouter

router = APIRouter()
