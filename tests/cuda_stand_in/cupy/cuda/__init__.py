"""The part of `cupy.cuda` that this package uses."""

from ..memory import Device, Event, Stream
from . import memory, runtime

__all__ = ["Device", "Event", "Stream", "get_current_stream", "memory", "runtime"]


def get_current_stream() -> Stream:
    """The stream of this thread."""
    return Stream()
