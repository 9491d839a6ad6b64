"""A fabric's topology with its discrepancies, and how two days differ."""

from fastapi import APIRouter

router = APIRouter()
