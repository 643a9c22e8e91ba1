"""Calldata: what a program reads."""

from __future__ import annotations

from dataclasses import dataclass

from residue.errors import Halted
from residue.machine import wrong
from residue.recorder import Recorder
from residue.values import Element, Field, Number, Word, WordNumber, WordValue, checked_word


@dataclass(frozen=True)
class Slice:
    """A piece of calldata, to be hashed; bytes past the end are zero."""

    call: Call
    offset: Word | int
    size: Word | int

    def bytes(self) -> bytes:
        """Its bytes, where they are known."""
        return self.call._taken(int(self.offset), int(self.size))


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

    def word(self, offset: Word | int = 0) -> Word:
        """The 32 bytes from `offset`, big-endian; bytes past the end are zero."""
        offset = checked_word(offset)
        if self._recorder is not None:
            self._note(offset, 32)
            return self._recorder.expression("calldata_word @", (offset,))
        return WordNumber(int.from_bytes(self._taken(int(offset), 32), "big"))

    def element(self, offset: Word | int = 0, size: int | None = None) -> Element:
        """The element written in `size` big-endian bytes from `offset`, those of the field without it.

        The program halts if the number is not below the modulus.
        """
        size, offset = size or self._field.size, checked_word(offset)
        if self._recorder is not None:
            recorder = self._recorder
            if recorder.unit.field != self._field:
                raise wrong("elements of calldata are of the program's field: read words, and field.reduce or field.element them")
            self._note(offset, size)
            return recorder.statement(f"parse {recorder.word(offset)} bytes {size} -> @")[0]
        number = int.from_bytes(self._taken(int(offset), size), "big")
        if number >= self._field.modulus:
            raise Halted(f"{number:#x} in calldata from {int(offset)} is not below the modulus of {self._field.name}")
        return Number(self._field, number)

    def elements(self, offset: Word | int, count: int, size: int | None = None) -> tuple[Element, ...]:
        """`count` elements, one after the other."""
        step = size or self._field.size
        return tuple(self.element(checked_word(offset) + step * number, size) for number in range(count))

    def __getitem__(self, piece: slice) -> Slice:
        if not isinstance(piece, slice) or piece.step is not None or piece.stop is None:
            raise wrong("a piece of calldata is call[begin:end], to be hashed; call.word(offset) and call.element(offset) read it")
        start = piece.start or 0
        if self._recorder is not None:
            self._recorder.has_unknown_reads = True
        if isinstance(start, int) and (start == 0 or isinstance(piece.stop, int)):
            return Slice(self, start, piece.stop - start if start else piece.stop)
        return Slice(self, start, piece.stop - checked_word(start))

    def _note(self, offset: Word | int, size: int) -> None:
        """Remembers what is read where, so that numbers can be encoded."""
        assert self._recorder is not None
        if isinstance(offset, WordValue):
            self._recorder.has_unknown_reads = True
        else:
            self._recorder.reads[int(offset), size] = None
