"""Errors of memory."""

from ..memory import OutOfMemoryError

__all__ = ["OutOfMemoryError"]
