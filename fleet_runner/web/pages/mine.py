"""A tenant's own nodes, in plain words."""

from fastapi import APIRouter

router = APIRouter()
