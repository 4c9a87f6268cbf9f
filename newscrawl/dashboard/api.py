"""The same questions as JSON, described at /api/openapi.json."""

from fastapi import APIRouter

router = APIRouter(prefix="/api")
