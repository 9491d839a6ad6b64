"""What technicians have to do: a queue, and one ticket from where to stand to what proves it done."""

from fastapi import APIRouter

router = APIRouter()
