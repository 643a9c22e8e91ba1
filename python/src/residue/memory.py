"""Where a program keeps things: variables, arrays in memory, tables in code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, TypeVar

from residue.control import settled
from residue.errors import NoOutcome
from residue.machine import place, recording, wrong
from residue.recorder import Recorder, Unit, written
from residue.tree import flatten, unflatten
from residue.values import Field, Number, Word, WordValue, checked_word

T = TypeVar("T")


class Variable:
    """A word that can be set again, also within loops and choices."""

    def __init__(self, initial: Word | int = 0, name: str = "variable") -> None:
        self._recorder = recording.get()
        self._word = checked_word(initial)
        if self._recorder is not None:
            self._number = self._recorder.variable(name)
            self._recorder.set(self._number, initial)

    def get(self) -> Word:
        """What it holds now."""
        return self._word if self._recorder is None else self._recorder.get(self._number)

    def set(self, word: Word | int) -> None:
        """Makes it hold a word."""
        if self._recorder is None:
            self._word = checked_word(word)
        else:
            self._recorder.set(self._number, word)


class Array(Generic[T]):
    """An array in memory, whose index may be known only when the code runs. What is loaded has been stored before."""

    def __init__(self, like: T, capacity: int | None = None, name: str = "array") -> None:
        """An array.

        Args:
            like: An element: its values do not matter, only how many it has, and in which tuples and classes.
            capacity: Elements that it has room for; without it `reserve` makes room.
            name: For messages and profiles.
        """
        if capacity is not None and capacity < 1:
            raise wrong(f"an array has room for at least one element, and {capacity} is asked for")
        leaves, self._shape = flatten(like)
        self._count, self._name, self._capacity = len(leaves), name, capacity
        self._recorder = recording.get()
        self._held: dict[int, list[Any]] = {}
        if self._recorder is not None:
            self._unit = self._recorder.unit
            self._number = self._unit.arrays
            self._unit.arrays += 1
            room = "unbounded" if capacity is None else capacity
            text = f"array a{self._number} {written(name)} values {self._count} capacity {room}"
            self._unit.declared.append(([text], place()))

    def _leaves(self, value: Any) -> list[Any]:
        leaves, shape = flatten(settled(value))
        if shape != self._shape or any(isinstance(leaf, Word) for leaf in leaves):
            raise wrong(f"an element of array {self._name} is {self._shape}, and {shape} is none")
        return leaves

    def _recording(self) -> Recorder | None:
        if self._recorder is not None and self._recorder.unit is not self._unit:
            raise wrong(f"array {self._name} is of another field's part of the program")
        return self._recorder

    def reserve(self, count: Word | int) -> None:
        """Makes room for elements 0 to `count` − 1 of an array without a capacity."""
        recorder = self._recording()
        if recorder is not None:
            recorder.line(f"reserve a{self._number} {recorder.word(count)}")

    def fill(self, count: int, value: T) -> None:
        """Sets elements 0 to `count` − 1, which are at least one, to the same."""
        recorder, leaves = self._recording(), self._leaves(value)
        if recorder is not None:
            recorder.line(f"fill a{self._number} count {count} {recorder.operands(leaves)}")
        self._held.update((index, leaves) for index in range(count) if recorder is None)

    def __getitem__(self, index: Word | int) -> T:
        recorder = self._recording()
        if recorder is not None:
            values: list[Any] = list(recorder.statement(f"load a{self._number} {recorder.word(index)} -> (@)", self._count))
        elif int(index) in self._held:
            values = self._held[int(index)]
        else:
            raise NoOutcome(f"{place()}: element {index} of array {self._name} is loaded before it is stored")
        value: T = unflatten(self._shape, values)
        return value

    def __setitem__(self, index: Word | int, value: T) -> None:
        recorder, leaves = self._recording(), self._leaves(value)
        if recorder is not None:
            recorder.line(f"store a{self._number} {recorder.word(index)} {recorder.operands(leaves)}")
        else:
            self._held[int(index)] = leaves

    __iter__ = None


class Table:
    """Constants in code, which take no slots, whose index may be known only when the code runs."""

    def __init__(self, field: Field, rows: Sequence[Any], name: str = "table") -> None:
        """A table of rows of the same shape: numbers, or tuples of numbers."""
        self._field, self._rows, self._name = field, list(rows), name
        if not self._rows:
            raise ValueError(f"table {name} has no rows")
        self._shape = flatten(self._rows[0])[1]
        self._numbers: dict[Unit, int] = {}

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: Word | int) -> Any:
        if not isinstance(index, WordValue):
            leaves, shape = flatten(self._rows[int(index)])
            return unflatten(shape, [Number(self._field, int(leaf)) for leaf in leaves])
        recorder = recording.get()
        if recorder is None or recorder.unit.field != self._field:
            raise wrong(f"table {self._name} is of {self._field.name}")
        unit = recorder.unit
        if unit not in self._numbers:
            self._numbers[unit] = self._declare(unit)
        count = len(flatten(self._rows[0])[0])
        values = recorder.statement(f"lookup t{self._numbers[unit]} {recorder.word(index)} -> (@)", count)
        return unflatten(self._shape, list(values))

    def _declare(self, unit: Unit) -> int:
        number = unit.tables
        unit.tables += 1
        rows = [flatten(row) for row in self._rows]
        if any(shape != self._shape for _, shape in rows):
            raise wrong(f"the rows of table {self._name} have different shapes")
        lines = [f"table t{number} {written(self._name)} values {len(rows[0][0])} {{"]
        m = self._field.modulus
        lines += [f"  ({' '.join(hex(int(leaf) % m) for leaf in leaves)})" for leaves, _ in rows]
        unit.declared.append(([*lines, "}"], place()))
        return number
