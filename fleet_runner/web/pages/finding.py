"""Finding a node, part or ticket by what is written on it."""

from fastapi import APIRouter

router = APIRouter()
