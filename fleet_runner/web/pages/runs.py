"""What runs now and ran before, as it happens."""

from fastapi import APIRouter

router = APIRouter()
