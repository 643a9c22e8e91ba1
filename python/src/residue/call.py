"""Calldata: what a program reads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, SupportsIndex

from residue.errors import Halted
from residue.integers import has_members, refused, shown, truth, whole
from residue.machine import wrong
from residue.recorder import Recorder
from residue.values import SIZE_MAX, Element, Field, Number, Word, WordNumber, WordValue, checked_word

BYTES_MAX = 1 << 24
"""Bytes of calldata that numbers are packed into, and that are hashed on numbers, at most: gas pays for no more."""


def calldata(*numbers: Any, size: SupportsIndex | None = None) -> bytes:
    """Numbers as calldata, each big-endian, one after the other.

    Args:
        numbers: Whole numbers and words take 32 bytes, elements those of their field; bytes stay as they are. Tuples, lists and
            arrays of them are taken by their members.
        size: Bytes of each number, word and element instead, such as 64 for the coordinates of EIP-2537.

    Raises:
        NumberError: One of them is no whole number, negative, or needs more bytes; the message has its place among them.
    """
    each = None if size is None else whole(size, "the size of a number in bytes", 1, SIZE_MAX)
    return b"".join(_packed(part, each, f"number {at} of calldata") for at, part in enumerate(_members(numbers)))


def _members(parts: Any) -> Iterator[Any]:
    for part in parts:
        if isinstance(part, tuple | list):
            yield from _members(part)
        elif has_members(part):
            yield from part.ravel().tolist()
        else:
            yield part


def _packed(part: Any, size: int | None, what: str) -> bytes:
    if isinstance(part, bytes | bytearray | memoryview):
        return bytes(part)
    if isinstance(part, Element):
        size = size or part.field.size
    return packed(part, size or 32, what)


def packed(number: Any, size: int, what: str) -> bytes:
    """A number that is not negative in `size` big-endian bytes."""
    if truth(number) is not None:
        raise refused(f"{what} is a whole number, and {number!r} is a truth: write int(…) if its 0 or 1 is meant")
    value = whole(number, what)
    if value < 0:
        raise refused(f"{what} is not negative, and {shown(value)} is: field(…) makes an element of it, word(…) a word")
    if value.bit_length() > 8 * size:
        raise refused(f"{what} takes {size} bytes, and {shown(value)} needs {(value.bit_length() + 7) // 8}")
    return value.to_bytes(size, "big")


@dataclass(frozen=True)
class Slice:
    """A piece of calldata, to be hashed; bytes past the end are zero."""

    call: Call
    offset: Word
    size: Word

    def bytes(self) -> bytes:
        """Its bytes, where they are known."""
        size = int(self.size)
        if size > BYTES_MAX:
            raise Halted(f"{shown(size)} bytes of calldata are hashed, which no gas pays for")
        return self.call._taken(int(self.offset), size)


class Call:
    """The calldata of a program: elements and words at offsets in bytes, which may be known only when the code runs."""

    def __init__(self, field: Field, data: bytes | None, recorder: Recorder | None = None) -> None:
        self._field, self._data, self._recorder = field, data, recorder

    def _taken(self, offset: int, size: int) -> bytes:
        taken = (self._data or b"")[offset : offset + size] if offset < 1 << 32 else b""
        return taken + bytes(size - len(taken))

    @property
    def size(self) -> Word:
        """Bytes of calldata."""
        if self._recorder is not None:
            self._recorder.has_unknown_reads = True
            return self._recorder.expression("calldata_size", ())
        return WordNumber(len(self._data or b""))

    def word(self, offset: Word | SupportsIndex = 0) -> Word:
        """The 32 bytes from `offset`, big-endian; bytes past the end are zero."""
        offset = checked_word(offset)
        if self._recorder is not None:
            self._note(offset, 32)
            return self._recorder.expression("calldata_word @", (offset,))
        return WordNumber(int.from_bytes(self._taken(int(offset), 32), "big"))

    def element(self, offset: Word | SupportsIndex = 0, size: SupportsIndex | None = None) -> Element:
        """The element written in `size` big-endian bytes from `offset`, those of the field without it.

        The program halts if the number is not below the modulus.
        """
        size, offset = self._size(size), checked_word(offset)
        if self._recorder is not None:
            recorder = self._recorder
            if recorder.unit.field != self._field:
                raise wrong("elements of calldata are of the program's field: read words, and field.reduce or field.element them")
            self._note(offset, size)
            return recorder.statement(f"parse {recorder.word(offset)} bytes {size} -> @")[0]
        number = int.from_bytes(self._taken(int(offset), size), "big")
        if number >= self._field.modulus:
            raise Halted(f"{number:#x} in calldata from {shown(int(offset))} is not below the modulus of {self._field.name}")
        return Number(self._field, number)

    def elements(self, offset: Word | SupportsIndex, count: SupportsIndex, size: SupportsIndex | None = None) -> tuple[Element, ...]:
        """`count` elements, one after the other."""
        step, count = self._size(size), whole(count, "the number of elements in calldata", 0, BYTES_MAX)
        return tuple(self.element(checked_word(offset) + step * number, size) for number in range(count))

    def _size(self, size: SupportsIndex | None) -> int:
        return self._field.size if size is None else whole(size, "the size of an element in bytes", 1, SIZE_MAX)

    def __getitem__(self, piece: slice) -> Slice:
        if not isinstance(piece, slice) or piece.step is not None or piece.stop is None:
            raise wrong("a piece of calldata is call[begin:end], to be hashed; call.word(offset) and call.element(offset) read it")
        begin, end = checked_word(0 if piece.start is None else piece.start), checked_word(piece.stop)
        if self._recorder is not None:
            self._recorder.has_unknown_reads = True
        if isinstance(begin, WordNumber) and isinstance(end, WordNumber) and end.value < begin.value:
            raise wrong(f"a piece of calldata from {shown(begin.value)} ends before it, at {shown(end.value)}")
        return Slice(self, begin, end if isinstance(begin, WordNumber) and begin.value == 0 else end - begin)

    def _note(self, offset: Word | int, size: int) -> None:
        """Remembers what is read where, so that numbers can be encoded."""
        assert self._recorder is not None
        if isinstance(offset, WordValue):
            self._recorder.has_unknown_reads = True
        else:
            self._recorder.reads[int(offset), size] = None
