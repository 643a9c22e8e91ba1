"""The program that is being recorded, if any, and its place in the Python source."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextvars import ContextVar
from types import FrameType
from typing import TYPE_CHECKING, Any

from residue.errors import RecordingError

if TYPE_CHECKING:
    from residue.recorder import Recorder
    from residue.values import Field

recording: ContextVar[Recorder | None] = ContextVar("residue_recording", default=None)
"""The recorder of the program that is being recorded."""

computing: ContextVar[Field | None] = ContextVar("residue_computing", default=None)
"""The field of the program that is being computed on numbers."""

_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_GALLERY = os.path.join(_HERE, "gallery") + os.sep


def is_ours(frame: FrameType) -> bool:
    """True if a frame is of this package, and not of its user."""
    name = frame.f_code.co_filename
    return name.startswith(_HERE) and not name.startswith(_GALLERY)


def place() -> str | None:
    """File and line of who uses this package; of the program, where none of its lines is being executed."""
    recorder = recording.get()
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and is_ours(frame):
        if recorder is not None and frame.f_code is type(recorder).record.__code__:
            return recorder.home
        frame = frame.f_back
    return None if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"


def home(body: Callable[..., Any]) -> str:
    """File and line of a function."""
    code = getattr(body, "__code__", None) or getattr(type(body).__call__, "__code__", None)
    return "somewhere" if code is None else f"{code.co_filename}:{code.co_firstlineno}"


def wrong(what: str) -> RecordingError:
    """The exception for a misuse, with its place."""
    return RecordingError(f"{place() or 'somewhere'}: {what}")


def current(*values: Any) -> Recorder:
    """The recorder that is recording, for values that it has recorded."""
    recorder = recording.get()
    if recorder is None:
        raise wrong(f"{values[0]!r} is of a program whose recording has ended: return what is wanted from its function")
    return recorder
