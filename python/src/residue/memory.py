"""Storage of a program: variables, arrays in memory, tables in code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Generic, SupportsIndex, TypeVar

from residue.control import settled
from residue.errors import Halted, NoOutcome
from residue.integers import refused, shown, whole
from residue.machine import place, recording, wrong
from residue.recorder import Recorder, Unit, written
from residue.tree import flatten, unflatten
from residue.values import Element, Field, Number, Word, WordNumber, WordValue, checked_word

T = TypeVar("T")


class Variable:
    """A word that can be set again, also within loops and choices."""

    def __init__(self, initial: Word | SupportsIndex | None = 0, name: str = "variable") -> None:
        """A variable that holds a word; with None one that is set before it is read."""
        self._recorder = recording.get()
        self._word = checked_word(0 if initial is None else initial)
        if self._recorder is not None:
            self._number = self._recorder.variable(name)
            if initial is not None:
                self._recorder.set(self._number, self._word)

    def name_in(self, _recorder: Recorder) -> str:
        """Its name in the text."""
        return f"x{self._number}"

    def get(self) -> Word:
        """Its current value."""
        return self._word if self._recorder is None else self._recorder.get(self._number)

    def set(self, word: Word | SupportsIndex) -> None:
        """Makes it hold a word."""
        word = checked_word(word)
        if self._recorder is None:
            self._word = word
        else:
            self._recorder.set(self._number, word)


def _held(index: Word | SupportsIndex, count: int, of: str) -> Word:
    """An index that is below `count`: refused where it is known and is not, else the program halts if it is not."""
    index, recorder = checked_word(index), recording.get()
    if isinstance(index, WordNumber):
        if index.value >= count:
            what = f"index {shown(index.value)} of {of}, which has {count}"
            raise Halted(f"{place()}: {what}") if recorder is None else wrong(what)
        return index
    assert recorder is not None
    return recorder.held_below(index, count)


class Array(Generic[T]):
    """An array in memory, whose index may be known only when the code runs. What is loaded has been stored before.

    The program halts at an index that is not below the capacity. Code asks only where it does not show in what the index is made of:
    `index & 7` and `index % 5` are free of it.
    """

    def __init__(self, like: T, capacity: SupportsIndex | None = None, name: str = "array") -> None:
        """An array.

        Args:
            like: An element: its values do not matter, only how many it has, and in which tuples and classes.
            capacity: Elements that it has room for; without it `reserve` makes room.
            name: For messages and profiles.
        """
        if capacity is not None:
            capacity = whole(capacity, "the capacity of an array, its room for elements,", 1)
        leaves, self._shape = flatten(like)
        if not leaves:
            raise wrong(f"an element of an array has at least one value, and {self._shape} has none")
        self._count, self._name, self._capacity = len(leaves), name, capacity
        self._room = capacity or 0
        self._recorder = recording.get()
        self._held: dict[int, list[Any]] = {}
        if self._recorder is not None:
            self._unit = self._recorder.unit
            self._number = self._unit.arrays
            self._unit.arrays += 1
            room = "unbounded" if capacity is None else capacity
            text = f"array a{self._number} {written(name)} values {self._count} capacity {room}"
            self._unit.declared.append(([text], place()))

    def name_in(self, recorder: Recorder) -> str:
        """Its name in the text of the unit that is being recorded."""
        assert self._recording() is recorder
        return f"a{self._number}"

    def _leaves(self, value: Any) -> list[Any]:
        leaves, shape = flatten(settled(value))
        if shape != self._shape or any(isinstance(leaf, Word) for leaf in leaves):
            raise wrong(f"an element of array {self._name} is {self._shape}, and {shape} is none")
        return leaves

    def _recording(self) -> Recorder | None:
        if self._recorder is not None and self._recorder.unit is not self._unit:
            raise wrong(f"array {self._name} is of another field's part of the program")
        return self._recorder

    def _index(self, index: Word | SupportsIndex) -> Word:
        if self._capacity is not None:
            return _held(index, self._capacity, f"array {self._name}")
        index = checked_word(index)
        if self._recorder is None and int(index) >= self._room:
            raise NoOutcome(f"{place()}: element {shown(int(index))} of array {self._name}, which reserved room for {self._room}")
        return index

    def reserve(self, count: Word | SupportsIndex) -> None:
        """Makes room for elements 0 to `count` − 1 of an array without a capacity."""
        recorder, count = self._recording(), checked_word(count)
        if self._capacity is not None:
            raise wrong(f"array {self._name} has room for {self._capacity} elements, and no more is reserved")
        if recorder is not None:
            recorder.line(f"reserve a{self._number} {recorder.word(count)}")
        else:
            self._room = max(self._room, int(count))

    def fill(self, count: SupportsIndex, value: T) -> None:
        """Sets elements 0 to `count` − 1, which are at least one, to the same."""
        recorder, leaves = self._recording(), self._leaves(value)
        count = whole(count, "the number of elements that are filled", 1, self._capacity)
        if recorder is not None:
            recorder.line(f"fill a{self._number} count {count} {recorder.operands(leaves)}")
        self._held.update((index, leaves) for index in range(count) if recorder is None)

    def __getitem__(self, index: Word | SupportsIndex) -> T:
        recorder, index = self._recording(), self._index(index)
        if recorder is not None:
            values: list[Any] = list(recorder.statement(f"load a{self._number} {recorder.word(index)} -> (@)", self._count))
        elif int(index) in self._held:
            values = self._held[int(index)]
        else:
            raise NoOutcome(f"{place()}: element {shown(int(index))} of array {self._name} is loaded before it is stored")
        value: T = unflatten(self._shape, values)
        return value

    def __setitem__(self, index: Word | SupportsIndex, value: T) -> None:
        recorder, leaves, index = self._recording(), self._leaves(value), self._index(index)
        if recorder is not None:
            recorder.line(f"store a{self._number} {recorder.word(index)} {recorder.operands(leaves)}")
        else:
            self._held[int(index)] = leaves

    __iter__ = None


class Table:
    """Constants in code, which take no slots, whose index may be known only when the code runs.

    The program halts at an index that is no row. Code asks only where it does not show in what the index is made of, as for `Array`.
    """

    def __init__(self, field: Field, rows: Sequence[Any], name: str = "table") -> None:
        """A table of rows of the same shape: numbers, or tuples of numbers."""
        if not isinstance(field, Field):
            raise wrong(f"Table(field, rows): {shown(field)} is no field")
        self._field, self._name = field, name
        flat = [flatten(row) for row in rows]
        if not flat:
            raise refused(f"table {name} has no rows")
        self._shape = flat[0][1]
        if any(shape != self._shape for _, shape in flat):
            raise wrong(f"the rows of table {name} have different shapes")
        if not flat[0][0]:
            raise wrong(f"a row of a table has at least one number, and {self._shape} has none")
        self._rows = [[self._known(leaf) for leaf in leaves] for leaves, _ in flat]
        self._numbers: dict[Unit, int] = {}

    def _known(self, leaf: Any) -> Element:
        if isinstance(leaf, bool):
            raise refused(f"a row of table {self._name} has numbers, and {leaf!r} is a truth")
        element = self._field(leaf)
        if not isinstance(element, Number):
            raise wrong(f"a row of table {self._name} is known when the program is recorded, and {element!r} is not: Array holds such")
        return element

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: Word | SupportsIndex) -> Any:
        index = _held(index, len(self), f"table {self._name}")
        if not isinstance(index, WordValue):
            return unflatten(self._shape, list(self._rows[int(index)]))
        recorder = recording.get()
        if recorder is None or recorder.unit.field != self._field:
            raise wrong(f"table {self._name} is of {self._field.name}")
        values = recorder.statement(f"lookup t{self.number(recorder.unit)} {recorder.word(index)} -> (@)", len(self._rows[0]))
        return unflatten(self._shape, list(values))

    def __iter__(self) -> Iterator[Any]:
        """Its rows, which are known."""
        return (self[row] for row in range(len(self)))

    def number(self, unit: Unit) -> int:
        """Its number in a unit, which declares it."""
        if unit not in self._numbers:
            self._numbers[unit] = self._declare(unit)
        return self._numbers[unit]

    def _declare(self, unit: Unit) -> int:
        number = unit.tables
        unit.tables += 1
        lines = [f"table t{number} {written(self._name)} values {len(self._rows[0])} {{"]
        lines += [f"  ({' '.join(hex(int(leaf)) for leaf in leaves)})" for leaves in self._rows]
        unit.declared.append(([*lines, "}"], place()))
        return number
