"""Exceptions, by kind.

Everything that this package raises on purpose is a `ResidueError`; those that stand for a misuse are a `TypeError` or a
`ValueError` too, so that code which knows nothing of this package treats them as it should.
"""

from __future__ import annotations


class ResidueError(Exception):
    """Base of the exceptions of this package."""


class ProgramError(ResidueError):
    """A text that is no program.

    Attributes:
        what: The fault, with the offending value.
        line: Line of the text, from 1.
        place: File and line of the Python source that the line of the text was recorded from, if it was.
    """

    def __init__(self, what: str, line: int = 0, place: str | None = None) -> None:
        super().__init__(what, line, place)
        self.what = what
        self.line = line
        self.place = place

    def __str__(self) -> str:
        return f"{self.place or f'line {self.line} of the text'}: {self.what}"


class RecordingError(ResidueError, TypeError):
    """A Python function that cannot become a program; the message names file and line, and says what to write instead."""


class NumberError(RecordingError, ValueError):
    """Not a whole number where one is required, or one out of range; the message names file and line."""


class CompileError(ResidueError):
    """A program that cannot be compiled."""


class Inexpressible(CompileError):
    """A program that an interface has no code for whatever its size: of another modulus, or of too many."""


class UnknownName(ResidueError, ValueError):
    """A name that nothing has; the message has the nearest ones, or those there are."""


class UnknownOption(UnknownName, TypeError):
    """A keyword that nothing takes, or that has no effect here; the message has the nearest ones."""


class RulesError(ResidueError, ValueError):
    """Rules that no engine can follow: a schedule for another interface, a fork that the specification does not know."""


class Halted(ResidueError):
    """A program that is computed on numbers came to a requirement that does not hold, or a number above the modulus."""


class NoOutcome(ResidueError):
    """A program has no outcome on an input: it loads what was not stored, or takes more steps than it was given."""


class Disagreement(ResidueError):
    """Two engines end the same code differently: a mistake in Residue."""


class InternalError(ResidueError):
    """A mistake in Residue."""
