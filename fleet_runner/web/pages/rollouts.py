"""Firmware, wave by wave."""

from fastapi import APIRouter

router = APIRouter()
