"""Logging in with OpenID Connect."""

from fastapi import APIRouter

router = APIRouter()
