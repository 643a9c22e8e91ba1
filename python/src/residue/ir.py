"""Statements of the text form (`docs/ir.md`) by their own names, for what has no form of its own in this package.

`residue print --python` writes them. They are recorded and not computed on numbers: `evaluate` computes a program that has some.
A text has `{}` where an element, a word, an array, a table, a variable or a subprogram stands.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from residue.integers import shown, whole
from residue.machine import home, recording, wrong
from residue.memory import Array, Table, Variable
from residue.recorder import Recorder, Unit
from residue.tree import flatten
from residue.values import Element, Field, Value, Word, WordValue


class Given(Field):
    """The integers modulo a number that a subprogram is entered with, of so many limbs of 64 bits."""

    def __init__(self, limbs: int, name: str) -> None:
        self.limbs = whole(limbs, "the limbs of a modulus", 1, 512)
        super().__init__(1 << 64 * self.limbs, name)

    @property
    def spelt(self) -> str:
        return f"given limbs {self.limbs}"

    @property
    def bits(self) -> int:
        return 64 * self.limbs


class Subprogram:
    """Part of the program over another modulus, which `enter` does."""

    def __init__(self, number: int) -> None:
        self.number = number


Part = Element | Word | Array[Any] | Table | Variable | Subprogram
"""What stands in a statement."""


def _recorder() -> Recorder:
    recorder = recording.get()
    if recorder is None:
        raise wrong("a statement of residue.ir is recorded, and computed by evaluate(…): it has no meaning on numbers here")
    return recorder


def _named(recorder: Recorder, part: Part) -> str:
    match part:
        case Element():
            return recorder.operand(part)
        case Word():
            return recorder.word(part)
        case Array() | Variable():
            return part.name_in(recorder)
        case Table():
            return f"t{part.number(recorder.unit)}"
        case Subprogram():
            return f"p{part.number}"
        case _:
            raise wrong(f"{shown(part)} stands in no statement: elements, words, arrays, tables, variables and subprograms do")


def _filled(recorder: Recorder, text: str, parts: Sequence[Part]) -> str:
    pieces = text.split("{}")
    if len(pieces) != len(parts) + 1:
        raise wrong(f"{text!r} has {len(pieces) - 1} places, and {len(parts)} parts are given")
    return "".join(piece for pair in zip(pieces, [*(_named(recorder, part) for part in parts), ""], strict=True) for piece in pair)


def declare(*parts: Part) -> None:
    """Gives constants and tables their numbers in this order, not in that of their first use."""
    recorder = _recorder()
    for part in parts:
        _named(recorder, part)


def effect(text: str, *parts: Part) -> Any:
    """A statement by its text: `effect("invert {} -> v", x)`.

    It gives the element or the word that the text defines as `v` or `w`, a tuple of elements for `(v v)`, and nothing without an arrow.
    """
    recorder = _recorder()
    before, arrow, after = _filled(recorder, text, parts).partition(" -> ")
    if not arrow:
        return recorder.line(before)
    if after == "w":
        return recorder.defined(f"{before} -> @")
    if after == "v":
        return recorder.statement(f"{before} -> @")[0]
    count = after.count("v")
    if after != f"({' '.join('v' * count)})":
        raise wrong(f"a statement defines v, w or (v v …), and {after!r} is neither")
    return tuple(recorder.statement(f"{before} -> (@)", count))


def word(text: str, *parts: Word) -> Word:
    """A word by its text: `word("addmod {} {} {}", a, b, m)`. It is as it is written, also where its parts are known."""
    recorder = _recorder()
    known = [part for part in parts if isinstance(part, Word)]
    if len(known) != len(parts) or text.count("{}") != len(parts):
        raise wrong(f"{text!r} has {text.count('{}')} places for words")
    made = recorder.expression(text.replace("{}", "@"), known)
    assert isinstance(made, WordValue)
    # It is one part of others, however many it has: programs have words that are shared by more than could be written out.
    made.parts = 1
    return made


def operation(kind: str, x: Element, y: Element) -> Element:
    """`add`, `sub` or `mul` of elements: an operation of the program also where both are known."""
    return _recorder().operation(kind, x, y)


def function(name: str, params: int) -> Callable[[Callable[..., Any]], Callable[..., tuple[Value, ...]]]:
    """A function of the program, recorded where it stands: it takes and gives elements."""
    recorder, params = _recorder(), whole(params, "the number of a function's parameters", 0)

    def recorded(body: Callable[..., Any]) -> Callable[..., tuple[Value, ...]]:
        names: list[str] = []
        results: list[str] = []

        def given() -> None:
            values = recorder.values(params)
            names.extend(value.operand for value in values)
            leaves, _ = flatten(body(*values))
            results.extend(map(recorder.operand, leaves))

        made, _ = recorder.record(name, given, home(body))
        made.params, made.results = names, results
        number = made.unit.functions.index(made)

        def called(*arguments: Element) -> tuple[Value, ...]:
            return tuple(recorder.statement(f"call f{number} {recorder.operands(arguments)} -> (@)", len(results)))

        return called

    return recorded


def control(text: str, *parts: Part, state: Sequence[Element], arms: Sequence[tuple[str, Callable[..., Any], str]]) -> tuple[Value, ...]:
    """A sequence or a countdown by the text before its state: `control("countdown {}", n, state=(x,), arms=[("turn", first, "")])`.

    Each arm has the word before it, a function from the state to the next one, and the text after it, such as `then 3`.
    """
    recorder = _recorder()
    head = f"{_filled(recorder, text, parts)} {recorder.operands(state)} {{"
    regions = []
    for name, body, after in arms:
        with recorder.within(f"a {name}") as region:
            params = recorder.values(len(state))
            leaves, _ = flatten(body(*params))
            recorder.line(f"give {recorder.operands(leaves)}")
        regions.append((f"{name} ({' '.join(param.operand for param in params)}) {{", region, f"}} {after}".rstrip()))
    recorder.line(head)
    for before, region, end in regions:
        recorder.line(before)
        recorder.nested(region)
        recorder.line(end)
    return tuple(recorder.statement("} -> (@)", len(state)))


def subprogram(field: Field, name: str) -> Callable[[Callable[[], Any]], Subprogram]:
    """Part of the program over another field, recorded where it stands: `effect("enter {} ()", part)` does it."""
    recorder = _recorder()

    def recorded(body: Callable[[], Any]) -> Subprogram:
        unit = Unit(name, field)
        recorder.record(name, body, home(body), unit)
        recorder.units.append(unit)
        return Subprogram(len(recorder.units) - 2)

    return recorded
