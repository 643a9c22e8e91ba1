"""Statements of a program besides arithmetic: loops, choices, requirements, functions, memory, hashes, and other fields.

On numbers these do what they say; while a program is recorded they write it down.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Sequence
from typing import Any, SupportsIndex, TypeVar, cast

from residue import _native
from residue.call import Slice
from residue.errors import Halted, NoOutcome
from residue.integers import shown, truth
from residue.machine import computing, home, place, recording, wrong
from residue.recorder import Recorder, Region, Unit
from residue.tree import Leaf, Shape, flatten, map_leaves, unflatten
from residue.values import Condition, Element, Field, Number, Word, WordNumber, WordValue, below, checked_word

T = TypeVar("T")


def require(condition: Condition | SupportsIndex) -> None:
    """Halts the program exceptionally if the condition is 0."""
    recorder = recording.get()
    condition = _checked_condition(condition)
    if recorder is not None and isinstance(condition, WordValue):
        recorder.line(f"require {recorder.word(condition)}")
    elif recorder is not None:
        if not condition:
            recorder.line(f"require {recorder.word(0)}")
    elif not condition:
        raise Halted(f"{place()}: a requirement does not hold")


def repeat(count: Word | SupportsIndex, state: T, body: Callable[..., T]) -> T:
    """The state after `count` turns of a loop of the code.

    Args:
        count: Turns; it may be known only when the code runs.
        state: Values that change from turn to turn: elements and words in tuples, lists, dicts and small classes.
        body: Gets the number of the turn, from 0, and the state (its members, if it is a tuple), and gives the next state.

    A `for` in Python is no loop of the code: it writes its body out as often as it runs.
    """
    spread = type(state) is tuple
    recorder = recording.get()
    state, count = settled(state), checked_word(count)
    if not callable(body):
        raise wrong(f"repeat(count, state, body): {shown(body)} is no function")
    if recorder is None:
        for turn in range(int(count)):
            state = settled(body(WordNumber(turn), *cast("tuple[Any, ...]", state)) if spread else body(WordNumber(turn), state))
        return state
    leaves, shape = flatten(state)
    is_word = [isinstance(leaf, Word) for leaf in leaves]
    variables = _set_all(recorder, "state", [leaf for leaf, w in zip(leaves, is_word, strict=True) if w])
    initial = recorder.operands([leaf for leaf in leaves if not isinstance(leaf, Word)])
    with recorder.within("a loop") as region:
        params = recorder.values(is_word.count(False))
        index = recorder.new_word()
        given = _mixed(is_word, params, [recorder.get(variable) for variable in variables])
        number = WordValue(index, region, 1, False, max(below(count) - 1, 1))
        before = unflatten(shape, given)
        after, after_shape = flatten(settled(body(number, *before) if spread else body(number, before)))
        if after_shape != shape:
            raise wrong(f"the state of a loop is {shape} before a turn and {after_shape} after it")
        elements = []
        for member, (leaf, word) in enumerate(zip(after, is_word, strict=True)):
            if word != isinstance(leaf, Word):
                kinds = ("an element", "a word")
                hint = "" if word else ": begin with word(…)"
                raise wrong(f"member {member} of a loop's state is {kinds[word]} and becomes {kinds[not word]}{hint}")
            if not isinstance(leaf, Word):
                elements.append(leaf)
        # All new words are computed before the first is set.
        words = [recorder.bind(leaf) for leaf in after if isinstance(leaf, Word)]
        for variable, new in zip(variables, words, strict=True):
            recorder.set(variable, new)
        recorder.line(f"give {recorder.operands(elements)}")
    names = " ".join(param.operand for param in params)
    recorder.line(f"repeat {recorder.word(count)} index w{index} ({names}) = {initial} {{")
    recorder.nested(region)
    results = recorder.statement("} -> (@)", len(params))
    final = _mixed(is_word, results, [recorder.get(variable) for variable in variables])
    done: T = unflatten(shape, final)
    return done


def when(condition: Condition | SupportsIndex, then: Any, otherwise: Any = None) -> Any:
    """Result of `then` if the condition is not 0, else of `otherwise`; only one of them is executed.

    Args:
        condition: A word, or a comparison.
        then: A function without arguments, or what it would give.
        otherwise: Likewise; what both give has the same shape.

    Choices and loops stand in each other 63 deep at most; in a function of the code (`function`) they count anew.
    """
    condition = _checked_condition(condition)
    recorder = recording.get()
    if not callable(then) and not callable(otherwise):
        then, otherwise = _alike(then, otherwise)
    arms = [arm if callable(arm) else functools.partial(_same, arm) for arm in (then, otherwise)]
    if recorder is None or not isinstance(condition, WordValue):
        return settled(arms[0]() if condition else arms[1]())
    regions: list[Region] = []
    given = []
    for name, arm in zip(("the first arm of a choice", "the second arm of a choice"), arms, strict=True):
        with recorder.within(name) as region:
            given.append(flatten(arm()))
            regions.append(region)
    (first, shape), (second, other) = given
    if shape != other:
        raise wrong(f"the arms of a choice give {shape} and {other}")
    is_word = [isinstance(a, Word | bool) or isinstance(b, Word | bool) for a, b in zip(first, second, strict=True)]
    variables = [recorder.variable("choice") for word in is_word if word]
    for region, leaves in zip(regions, (first, second), strict=True):
        with _again(recorder, region):
            words = [leaf for leaf, word in zip(leaves, is_word, strict=True) if word]
            for variable, new in zip(variables, words, strict=True):
                recorder.set(variable, checked_word(cast("Word | int", new)))
            elements = [leaf for leaf, word in zip(leaves, is_word, strict=True) if not word]
            recorder.line(f"give {recorder.operands(elements)}")
    recorder.line(f"branch {recorder.word(condition)} {{")
    recorder.nested(regions[0])
    recorder.line("} else {")
    recorder.nested(regions[1])
    results = recorder.statement("} -> (@)", is_word.count(False))
    return unflatten(shape, _mixed(is_word, results, [recorder.get(variable) for variable in variables]))


class _again:
    """A region is recorded further."""

    def __init__(self, recorder: Recorder, region: Region) -> None:
        self.recorder, self.region = recorder, region

    def __enter__(self) -> None:
        self.region.is_open = True
        self.recorder._regions.append(self.region)

    def __exit__(self, *_: object) -> None:
        self.recorder._regions.pop()
        self.region.is_open = False


def _checked_condition(condition: object) -> Condition:
    if isinstance(condition, Element):
        raise wrong("an element is no condition: write x == 0, or x.is_odd()")
    if isinstance(condition, Word):
        return condition
    known = truth(condition)
    if known is None and not hasattr(condition, "__index__"):
        raise wrong(f"{shown(condition)} is no condition: conditions are comparisons and words")
    return bool(int(checked_word(cast("int", condition)))) if known is None else known


def _alike(then: Any, otherwise: Any) -> tuple[Any, Any]:
    """Both arms with words where one of them has a word and the other a number, as code has it whichever is taken."""
    (first, shape), (second, other) = flatten(then), flatten(otherwise)
    if shape != other:
        raise wrong(f"the arms of a choice give {shape} and {other}")
    for at, (a, b) in enumerate(zip(first, second, strict=True)):
        if isinstance(a, Word | bool) or isinstance(b, Word | bool):
            first[at], second[at] = checked_word(cast("Word", a)), checked_word(cast("Word", b))
    return unflatten(shape, first), unflatten(shape, second)


def _same(value: T) -> T:
    return value


def settled(state: T) -> T:
    """The state with whole numbers as elements of the program's field, and truths as words, as code has them."""
    recorder = recording.get()
    field = computing.get() if recorder is None else recorder.unit.field

    def one(leaf: Leaf) -> Leaf:
        if isinstance(leaf, bool):
            return WordNumber(leaf)
        return Number(field, leaf) if isinstance(leaf, int) and field is not None else leaf

    settled_state: T = map_leaves(one, state)
    return settled_state


def _set_all(recorder: Recorder, name: str, words: Sequence[Any]) -> list[int]:
    variables = [recorder.variable(name) for _ in words]
    for variable, word in zip(variables, words, strict=True):
        recorder.set(variable, word)
    return variables


def _mixed(is_word: list[bool], elements: Sequence[Any], words: Sequence[Any]) -> list[Any]:
    of_elements, of_words = iter(elements), iter(words)
    return [next(of_words) if word else next(of_elements) for word in is_word]


def function(body: Callable[..., T]) -> Callable[..., T]:
    """A function of the code: recorded once, and called from wherever it is used, which makes code shorter and calls cost gas.

    It takes and gives elements, in tuples, lists, dicts and small classes; it may use arrays and calldata, no values from outside.
    """

    @functools.wraps(body)
    def called(*arguments: Any) -> T:
        recorder = recording.get()
        if recorder is None:
            return settled(body(*settled(arguments)))
        leaves, shape = flatten(arguments)
        for leaf in leaves:
            if isinstance(leaf, Word | bool):
                raise wrong(f"{body.__name__} is a function of the code: it takes elements, and a word is none")
        key = (body, str(shape))
        known = recorder.unit.called.get(key)
        if known is None:
            results: list[Any] = []
            params = [f"v{number}" for number in range(len(leaves))]

            def recorded() -> Shape:
                given = recorder.values(len(leaves))
                after, result_shape = flatten(body(*unflatten(shape, list(given))))
                if any(isinstance(leaf, Word | bool) for leaf in after):
                    raise wrong(f"{body.__name__} is a function of the code: it gives elements, and a word is none")
                results.extend(recorder.operand(leaf) for leaf in after)
                return result_shape

            made, result_shape = recorder.record(body.__name__.strip("<>"), recorded, home(body))
            made.params, made.results = params, results
            known = (recorder.unit.functions.index(made), result_shape, len(results))
            recorder.unit.called[key] = known
        number, result_shape, count = known
        values = recorder.statement(f"call f{number} {recorder.operands(leaves)} -> (@)", count)
        result: T = unflatten(result_shape, list(values))
        return result

    return called


def over(field: Field, body: Callable[..., Any], *words: Word | SupportsIndex) -> Any:
    """Result of `body` on words, computed over another field.

    Elements go from one field to another as words: `body` takes words and gives words, and what it does in between is recorded once.
    Interfaces with several field contexts have code for it: EIP-6601, EIP-6690, EIP-7747.
    """
    recorder = recording.get()
    if not isinstance(field, Field):
        raise wrong(f"over(field, function, *words): {shown(field)} is no field")
    if recorder is None:
        token = computing.set(field)
        try:
            return map_leaves(_back, body(*map(checked_word, words)))
        finally:
            computing.reset(token)
    if recorder.unit is not recorder.units[0]:
        raise wrong("over(…) within over(…): what is computed over another field enters no third")
    known = recorder.entered.get(body)
    if known is None:
        unit = Unit(body.__name__.strip("<>"), field)
        inputs = [recorder.variable("argument") for _ in words]
        outputs: list[int] = []

        def recorded() -> Shape:
            leaves, shape = flatten(body(*[recorder.get(variable) for variable in inputs]))
            outputs.extend(_set_all(recorder, "result", list(map(_back, leaves))))
            return shape

        _, shape = recorder.record(unit.name, recorded, home(body), unit)
        recorder.units.append(unit)
        known = (len(recorder.units) - 2, inputs, outputs, shape, field)
        recorder.entered[body] = known
    number, inputs, outputs, shape, known_field = known
    if known_field != field or len(inputs) != len(words):
        raise wrong(f"{body.__name__} was recorded over {known_field.name} with {len(inputs)} words")
    for variable, word in zip(inputs, words, strict=True):
        recorder.set(variable, checked_word(word))
    recorder.line(f"enter p{number} ()")
    return unflatten(shape, [recorder.get(variable) for variable in outputs])


def _back(leaf: Leaf) -> Word:
    """Result from another field."""
    if isinstance(leaf, Element):
        raise wrong("what is computed over another field comes back as words: element.word()")
    return checked_word(leaf)


Piece = Word | int | Element | bytes | Slice | tuple[Word, Word | int]
"""Input of a hash: words and numbers as 32 bytes, elements as words, known bytes, the first bytes of a word, a piece of calldata."""


def sha256(*pieces: Piece) -> Word:
    """SHA-256 of pieces, one after the other, as a word."""
    return _hashed("sha256", pieces, lambda text: hashlib.sha256(text).digest())


def keccak256(*pieces: Piece) -> Word:
    """Keccak-256 of pieces, one after the other, as a word."""
    return _hashed("keccak256", pieces, _native.keccak256)


def _hashed(name: str, pieces: Sequence[Piece], hash_of: Callable[[bytes], bytes]) -> Word:
    recorder = recording.get()
    parts = [part for piece in pieces for part in _parts(piece)]
    if recorder is None:
        return WordNumber(int.from_bytes(hash_of(b"".join(map(_bytes, parts))), "big"))
    written = []
    for part in parts:
        if isinstance(part, Slice):
            written.append(f"calldata {recorder.word(part.offset)} bytes {recorder.word(part.size)}")
        else:
            written.append(f"word {recorder.word(part[0])} bytes {recorder.word(part[1])}")
    return recorder.defined(f"{name} ({' '.join(written)}) -> @")


def _parts(piece: Piece) -> list[Slice | tuple[Word, Word]]:
    """Pieces of calldata, and words each with how many of its bytes are hashed."""
    if isinstance(piece, Slice):
        return [piece]
    if isinstance(piece, Element):
        return [(word, WordNumber(32)) for word in piece.words()]
    if isinstance(piece, bytes | bytearray):
        whole = [piece[at : at + 32] for at in range(0, len(piece), 32)]
        return [(WordNumber(int.from_bytes(one.ljust(32, b"\0"), "big")), WordNumber(len(one))) for one in whole]
    if not isinstance(piece, tuple):
        return [(checked_word(piece), WordNumber(32))]
    if len(piece) != 2:
        raise wrong(f"what is hashed in part is a word and the number of its bytes, and {len(piece)} members are given")
    word, size = map(checked_word, piece)
    if isinstance(size, WordNumber) and size.value > 32:
        raise wrong(f"a word has 32 bytes, and its first {shown(size.value)} are asked for")
    return [(word, size)]


def _bytes(part: Slice | tuple[Word, Word]) -> bytes:
    if isinstance(part, Slice):
        return part.bytes()
    word, size = map(int, part)
    if size > 32:
        raise NoOutcome(f"{place()}: the first {shown(size)} bytes of a word, which has 32")
    return word.to_bytes(32, "big")[:size]
