"""Records what a Python function does with elements and words, and writes it in the text form of the IR (`docs/ir.md`).

A recorder has units, one for the program and one for each part over another modulus; a unit has functions; a function has regions of
statements, one within another. What is used has to come from a region that is still being recorded: a value from within a loop or a
branch is not there after it.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any

from residue.machine import is_ours, place, recording, wrong
from residue.values import WORD, Element, Field, Number, Value, Word, WordNumber, WordValue, below, below_result, checked_word

PARTS_MAX = 48
"""A word that is made of more parts is bound, as expressions are computed wherever they are used."""


REGIONS_MAX = 63
"""Loops and choices in each other, at most: the text form has 64 with the function's own; in a function of the code they count anew."""


@dataclass(eq=False)
class Region:
    """Statements that are done one after the other.

    Attributes:
        function: The function that it is in.
        what: Its name in messages.
        items: Lines of text, each with its place and the stretch of an operation; and regions.
        is_open: True while it is being recorded.
    """

    function: Function
    what: str
    depth: int
    items: list[tuple[str, str | None, int | None] | Region] = dataclasses.field(default_factory=list)
    is_open: bool = True


@dataclass(eq=False)
class Function:
    """A function of the program.

    Attributes:
        name: Its name.
        unit: The unit that it is in.
        words: Its words, as the text has them.
        stretches: Its named stretches, each with the one around it.
    """

    name: str
    unit: Unit
    values: int = 0
    words: list[tuple[str, str | None]] = dataclasses.field(default_factory=list)
    known_words: dict[str, int] = dataclasses.field(default_factory=dict)
    stretches: list[tuple[str, int | None]] = dataclasses.field(default_factory=list)
    running: list[tuple[FrameType, int | None, int | None, dict[int, int]]] = dataclasses.field(default_factory=list)
    params: list[str] = dataclasses.field(default_factory=list)
    results: list[str] = dataclasses.field(default_factory=list)
    place: str | None = None

    def __post_init__(self) -> None:
        self.body = Region(self, f"function {self.name}", 0)


@dataclass(eq=False)
class Unit:
    """Part of a program over one modulus.

    Attributes:
        name: Its name.
        field: Its field.
        constants: Its constants, by number.
        declared: Lines of its arrays and tables.
        functions: Its functions that are finished, callees first.
        called: Functions by what they were recorded from.
    """

    name: str
    field: Field
    constants: dict[int, int] = dataclasses.field(default_factory=dict)
    declared: list[tuple[list[str], str | None]] = dataclasses.field(default_factory=list)
    arrays: int = 0
    tables: int = 0
    functions: list[Function] = dataclasses.field(default_factory=list)
    called: dict[Any, Any] = dataclasses.field(default_factory=dict)


class Recorder:
    """The recording of one program.

    Attributes:
        name: The program's name.
        size: Bytes of an element that it returns.
        home: File and line of the program.
        units: The program, and what it computes over other fields.
        variables: Names of its variables.
        entered: Units by what they were recorded from.
        reads: Offsets and bytes of what it reads of calldata.
        has_unknown_reads: True if it also reads at offsets that are known only at run time.
    """

    def __init__(self, name: str, field: Field, size: int, home: str) -> None:
        self.name = name
        self.size = size
        self.home = home
        self.units = [Unit(name, field)]
        self.variables: list[str] = []
        self.entered: dict[Any, Any] = {}
        self.reads: dict[tuple[int, int], None] = {}
        self.has_unknown_reads = False
        self._functions: list[Function] = []
        self._regions: list[Region] = []
        self._unit = self.units[0]

    # --- where recording is ---------------------------------------------------------------------------------------------------

    @property
    def unit(self) -> Unit:
        """The unit that is being recorded."""
        return self._unit

    @property
    def region(self) -> Region:
        """The innermost region that is being recorded."""
        return self._regions[-1]

    def record(self, name: str, body: Callable[[], Any], home: str, unit: Unit | None = None) -> tuple[Function, Any]:
        """A function of a unit from what `body` does; what it gives is for who calls."""
        before, self._unit = self._unit, unit or self._unit
        function = Function(self._unique(name), self._unit, place=home)
        self._functions.append(function)
        self._regions.append(function.body)
        token = recording.set(self)
        try:
            given = body()
        finally:
            recording.reset(token)
            function.running.clear()
            for region in self._regions[self._regions.index(function.body) :]:
                region.is_open = False
            del self._regions[self._regions.index(function.body) :]
            self._functions.pop()
            self._unit = before
        function.unit.functions.append(function)
        return function, given

    def _unique(self, name: str) -> str:
        taken = {function.name for function in [*self._unit.functions, *self._functions]}
        number, found = 1, name
        while found in taken:
            number += 1
            found = f"{name}_{number}"
        return found

    def within(self, what: str) -> AbstractContextManager[Region]:
        """A region within the innermost one; who asks for it puts it among the items."""
        if self.region.depth == REGIONS_MAX:
            raise wrong(
                f"loops and choices stand in each other {REGIONS_MAX} deep at most: put the inner ones into a function of the code "
                "(@function), or choose among results one after the other"
            )
        return self._within(what)

    @contextmanager
    def _within(self, what: str) -> Iterator[Region]:
        region = Region(self._functions[-1], what, self.region.depth + 1)
        self._regions.append(region)
        try:
            yield region
        finally:
            region.is_open = False
            self._regions.pop()

    def line(self, text: str) -> None:
        """A line of text as the next statement, or a part of one."""
        self.region.items.append((text, place(), None))

    def nested(self, region: Region) -> None:
        """A region as the next part of a statement."""
        self.region.items.append(region)

    # --- elements -------------------------------------------------------------------------------------------------------------

    def _check(self, region: Region, shown: object) -> None:
        if region.is_open and region.function is self._functions[-1]:
            return
        if not region.is_open:
            raise wrong(f"{shown!r} comes from {region.what}, which is over: give it back from there, and use what comes out")
        raise wrong(f"{shown!r} comes from outside of function {self._functions[-1].name}: pass it as an argument")

    def operand(self, element: Element | Word | int) -> str:
        """An element as the text names it."""
        if isinstance(element, Word):
            raise wrong("an element is wanted, and a word is given: field.reduce(word) makes an element of it")
        if not isinstance(element, Element):
            element = self.unit.field(element)
        if element.field != self.unit.field:
            raise wrong(
                f"an element of {element.field.name} in what is computed over {self.unit.field.name}: "
                "over(field, function, *words) computes over another field"
            )
        if isinstance(element, Number):
            constants = self.unit.constants
            return f"c{constants.setdefault(element.value, len(constants))}"
        assert isinstance(element, Value)
        self._check(element.region, element)
        return element.operand

    def operands(self, elements: Sequence[Element | Word | int]) -> str:
        """Elements as the text lists them."""
        return f"({' '.join(map(self.operand, elements))})"

    def value(self, region: Region | None = None) -> Value:
        """A new value, defined in the innermost region or in the one given."""
        function = self._functions[-1]
        function.values += 1
        return Value(self.unit.field, f"v{function.values - 1}", region or self.region)

    def values(self, count: int, region: Region | None = None) -> list[Value]:
        """New values."""
        return [self.value(region) for _ in range(count)]

    def operation(self, kind: str, x: Element, y: Element) -> Element:
        """X kind y."""
        a, b = self.operand(x), self.operand(y)
        result = self.value()
        self.region.items.append((f"{result.operand} = {kind} {a} {b}", place(), self._stretch()))
        return result

    def statement(self, text: str, count: int = 1) -> list[Value]:
        """A statement that defines values: their names stand in place of `@`."""
        results = self.values(count)
        self.line(text.replace("@", " ".join(result.operand for result in results)))
        return results

    def reduce(self, field: Field, word: Word) -> Element:
        """The element that a word is modulo the modulus."""
        self._of(field)
        return self.statement(f"reduce {self.word(word)} -> @")[0]

    def element_of(self, field: Field, words: Sequence[Word | int]) -> Element:
        """The element with the number that words are."""
        self._of(field)
        return self.statement(f"element_of ({' '.join(map(self.word, words))}) -> @")[0]

    def _of(self, field: Field) -> None:
        if field != self.unit.field:
            raise wrong(
                f"an element of {field.name} in what is computed over {self.unit.field.name}: "
                "over(field, function, *words) computes over another field"
            )

    def is_odd(self, element: Value) -> Word:
        """1 if the element's number is odd."""
        return self.defined(f"is_odd {self.operand(element)} -> @", True)

    def equal(self, x: Element, y: Element) -> Word:
        """1 if they are equal."""
        if isinstance(y, Number) and y.value == 0:
            return self.defined(f"is_zero {self.operand(x)} -> @", True)
        return self.defined(f"equal {self.operand(x)} {self.operand(y)} -> @", True)

    def word_of(self, element: Value, number: int) -> Word:
        """A word of the element's number."""
        return self.defined(f"word_of {self.operand(element)} from {256 * number} -> @")

    # --- words ----------------------------------------------------------------------------------------------------------------

    def word(self, word: Word | int) -> str:
        """A word as the text names it."""
        return f"w{self._word(checked_word(word))[0]}"

    def _word(self, word: Word) -> tuple[int, WordValue | None]:
        if isinstance(word, WordNumber):
            return self._expression(hex(word.value)), None
        assert isinstance(word, WordValue)
        self._check(word.region, word)
        return word.index, word

    def _expression(self, text: str) -> int:
        function = self._functions[-1]
        index = function.known_words.setdefault(text, len(function.words))
        if index == len(function.words):
            function.words.append((text, place()))
        return index

    def expression(self, text: str, of: Sequence[Word | int], is_condition: bool = False, below: int = WORD) -> Word:
        """The word `text` of others, which stand in place of `@`."""
        parts, region = 1, self._functions[-1].body
        for inner in of:
            index, value = self._word(checked_word(inner))
            text = text.replace("@", f"w{index}", 1)
            parts += 1 if value is None else value.parts
            if value is not None and value.region.depth > region.depth:
                region = value.region
        made = WordValue(self._expression(text), region, parts, is_condition, below)
        return self.bind(made) if parts > PARTS_MAX else made

    def word_op(self, op: str, a: Word, b: Word) -> Word:
        """A op b."""
        return self.expression(f"{op} @ @", (a, b), op in ("lt", "eq"), below_result(op, a, b))

    def defined(self, text: str, is_condition: bool = False, below: int = WORD) -> Word:
        """The word that a statement defines: its name stands in place of `@`."""
        index = self.new_word()
        self.line(text.replace("@", f"w{index}"))
        return WordValue(index, self.region, 1, is_condition, below)

    def new_word(self) -> int:
        """A word that a statement will define."""
        words = self._functions[-1].words
        words.append(("defined", place()))
        return len(words) - 1

    def bind(self, word: Word) -> Word:
        """The word, computed here and kept."""
        return self.defined(f"bind {self.word(word)} -> @", isinstance(word, WordValue) and word.is_condition, below(word))

    def held_below(self, index: Word, count: int) -> Word:
        """The index, and the program halts where it is not below `count`: code asks only if what it is made of does not say so."""
        if below(index) > count:
            index = self.bind(index)
            self.line(f"require {self.word(self.word_op('lt', index, WordNumber(count)))}")
        return index

    def variable(self, name: str) -> int:
        """A new variable."""
        self.variables.append(name)
        return len(self.variables) - 1

    def get(self, variable: int) -> Word:
        """Value of a variable."""
        return self.defined(f"get x{variable} -> @")

    def set(self, variable: int, word: Word | int) -> None:
        """Makes a variable hold a word."""
        self.line(f"set x{variable} {self.word(word)}")

    # --- stretches ------------------------------------------------------------------------------------------------------------

    def _stretch(self) -> int | None:
        """The stretch of the Python source that an operation comes from: functions, and lines in them."""
        function = self._functions[-1]
        stack: list[FrameType] = []
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame.f_code is not _RECORD:
            if not is_ours(frame):
                stack.append(frame)
            frame = frame.f_back
        del frame
        stack.reverse()
        around: int | None = None
        running = function.running
        for depth, one in enumerate(stack):
            known = running[depth] if depth < len(running) else None
            if known is None or known[0] is not one or known[1] != around:
                del running[depth:]
                name = _name(one)
                has_name = depth > 0 and not name.startswith("<")
                known = (one, around, self._new_stretch(name, around) if has_name else around, {})
                running.append(known)
            _, _, within, lines = known
            line, name = one.f_lineno, f"{_file(one)}:{one.f_lineno}"
            if line not in lines:
                # A lambda on the line of its call is part of that line.
                is_same = within is not None and function.stretches[within][0] == name
                lines[line] = within if is_same and within is not None else self._new_stretch(name, within)
            around = lines[line]
        del running[len(stack) :]
        return around

    def _new_stretch(self, name: str, around: int | None) -> int:
        stretches = self._functions[-1].stretches
        stretches.append((name, around))
        return len(stretches) - 1


_RECORD = Recorder.record.__code__


def _file(frame: FrameType) -> str:
    return frame.f_code.co_filename.replace("\\", "/").rsplit("/", 1)[-1]


def _name(frame: FrameType) -> str:
    """The name of a function; of a method with its class."""
    code = frame.f_code
    if code.co_argcount > 0 and code.co_varnames[0] == "self":
        return f"{type(frame.f_locals['self']).__name__}.{code.co_name}"
    return code.co_name


def written(text: str) -> str:
    """A name in quotes, with the escapes of the text form."""
    shown = "".join(c if c.isprintable() and c not in '"\\' else f"\\u{{{ord(c):x}}}" for c in text)
    return f'"{shown}"'


assert WORD == 1 << 256
