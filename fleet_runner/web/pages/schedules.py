"""What comes by the clock."""

from fastapi import APIRouter

router = APIRouter()
