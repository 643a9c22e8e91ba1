"""Numbers that enter: one rule for elements, words, counts, offsets, exponents, gas and calldata.

What Python takes as an index is a number: `int`, NumPy's integers, and what has `__index__`. It becomes an `int` here, so that no
arithmetic overflows. Floats, strings and all else are refused with the line that they stand in; so are truths, but where a word is
wanted, as a condition is one.
"""

from __future__ import annotations

import operator
import sys
from numbers import Number, Real
from typing import Any

from residue.errors import NumberError, ResidueError
from residue.machine import place


def refused(what: str) -> NumberError:
    """The exception for a number of the wrong kind or size, with its place."""
    return NumberError(f"{place() or 'somewhere'}: {what}")


def shown(value: object) -> str:
    """A value for a message, cut if it is long."""
    try:
        text = repr(value)
    except ValueError:
        # Python prints no integer of more than some thousand digits.
        return f"a number of {abs(operator.index(value)).bit_length()} bits" if hasattr(value, "__index__") else type(value).__name__
    return text if len(text) <= 80 else f"{text[:60]}… ({len(text)} characters)"


def truth(value: object) -> bool | None:
    """A truth of Python or NumPy; None of all else."""
    is_truth = isinstance(value, bool) or (type(value).__module__ == "numpy" and type(value).__name__ in ("bool", "bool_"))
    return bool(value) if is_truth else None


def is_number(value: object) -> bool:
    """True if a value is meant as a number, rightly or not: operators refuse it here and do not ask its own class."""
    if has_members(value):
        return False
    return value is None or isinstance(value, Number | str | bytes | bytearray) or hasattr(value, "__index__") or truth(value) is not None


def has_members(value: object) -> bool:
    """True if a value is an array of NumPy's with dimensions, which has `__index__` and is no number."""
    return bool(getattr(value, "shape", ()))


def whole(value: Any, what: str, least: int | None = None, most: int | None = None) -> int:
    """The integer that a value is.

    Args:
        value: The given value.
        what: Its purpose, for the message: `the modulus of a field`.
        least: The least that it may be.
        most: The most that it may be.

    Raises:
        NumberError: It is no integer, or out of range.
    """
    if truth(value) is not None:
        raise refused(f"{what} is a whole number, and {value!r} is a truth: write int(…) if its 0 or 1 is meant")
    try:
        number = operator.index(value)
    except ResidueError:
        raise
    except (TypeError, ValueError):
        raise refused(f"{what} is a whole number, and {shown(value)} is {_kind(value)}{_hint(value)}") from None
    if least is not None and number < least:
        raise refused(f"{what} is at least {least}, and {shown(number)} is given")
    if most is not None and number > most:
        raise refused(f"{what} is at most {_limit(most)}, and {shown(number)} is given")
    return number


def real(value: Any, what: str) -> float:
    """The number that a value is, not negative, with a fraction or without: hours, percent."""
    if not isinstance(value, Real):
        return real(whole(value, what), what)
    if truth(value) is not None:
        raise refused(f"{what} is a number, and {value!r} is a truth")
    number: Any = value
    if not 0 <= number <= sys.float_info.max:
        raise refused(f"{what} is not negative and not without end, and {shown(value)} is given")
    return float(value)


def flag(value: Any, what: str) -> bool:
    """The truth that a value is."""
    known = truth(value)
    if known is None:
        raise refused(f"{what} is True or False, and {shown(value)} is {_kind(value)}")
    return known


def _limit(most: int) -> str:
    """2^64 − 1 in place of its digits."""
    bits = most.bit_length()
    return f"2^{bits} − 1" if bits > 32 and most == (1 << bits) - 1 else str(most)


def _kind(value: object) -> str:
    name = type(value).__name__
    return "None" if value is None else f"{'an' if name[:1] in 'aeio' else 'a'} {name}"


def _hint(value: object) -> str:
    if isinstance(value, str):
        return ": int(text, 0) reads one"
    if isinstance(value, bytes | bytearray):
        return ': int.from_bytes(bytes, "big") reads one'
    if hasattr(value, "__len__"):
        return ": give its members one by one, as *members"
    if isinstance(value, Number):
        return ": write int(…) if it is one, and // for a quotient"
    return ""
