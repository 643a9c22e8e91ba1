"""What notebooks show."""

from __future__ import annotations

from typing import Any


def program(name: str, recorded: Any) -> str:
    return ""


def code(code: Any) -> str:
    return ""


def profile(profile: Any) -> str:
    return ""


def comparison(comparison: Any) -> str:
    return ""
