"""What a program may do besides arithmetic: loops, choices, requirements, functions, memory, hashes, and other fields.

On numbers these do what they say; while a program is recorded they write it down.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

from residue import _native
from residue.call import Slice
from residue.errors import Halted
from residue.machine import computing, home, place, recording, wrong
from residue.recorder import Recorder, Region, Unit
from residue.tree import Leaf, Shape, flatten, map_leaves, unflatten
from residue.values import Condition, Element, Field, Number, Word, WordNumber, WordValue, checked_word

T = TypeVar("T")


def require(condition: Condition | int) -> None:
    """Halts the program exceptionally if the condition is 0."""
    recorder = recording.get()
    _check_condition(condition)
    if recorder is not None and not isinstance(condition, bool):
        recorder.line(f"require {recorder.word(condition)}")
    elif not condition:
        raise Halted(f"{place()}: a requirement does not hold")


def repeat(count: Word | int, state: T, body: Callable[..., T]) -> T:
    """The state after `count` turns of a loop of the code.

    Args:
        count: Turns; it may be known only when the code runs.
        state: What changes from turn to turn: elements and words in tuples, lists, dicts and small classes.
        body: Gets the number of the turn, from 0, and the state (its members, if it is a tuple), and gives the next state.

    A `for` in Python is no loop of the code: it writes its body out as often as it runs.
    """
    spread = type(state) is tuple
    recorder = recording.get()
    if recorder is None:
        state = settled(state)
        for turn in range(int(checked_word(count))):
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
        number = WordValue(index, region, 1, False)
        before = unflatten(shape, given)
        after, after_shape = flatten(body(number, *before) if spread else body(number, before))
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


def when(condition: Condition | int, then: Any, otherwise: Any = None) -> Any:
    """What `then` gives if the condition is not 0, else what `otherwise` gives; only one of them is executed.

    Args:
        condition: A word, or a comparison.
        then: A function without arguments, or what it would give.
        otherwise: Likewise; what both give has the same shape.
    """
    _check_condition(condition)
    arms = [arm if callable(arm) else functools.partial(_same, arm) for arm in (then, otherwise)]
    recorder = recording.get()
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


def _check_condition(condition: object) -> None:
    if isinstance(condition, Element):
        raise wrong("an element is no condition: write x == 0, or x.is_odd()")
    if not isinstance(condition, Word | int):
        raise wrong(f"{condition!r} is no condition: conditions are comparisons and words")


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
            if isinstance(leaf, Word):
                raise wrong(f"{body.__name__} is a function of the code: it takes elements, and a word is none")
        key = (body, str(shape))
        known = recorder.unit.called.get(key)
        if known is None:
            results: list[Any] = []
            params = [f"v{number}" for number in range(len(leaves))]

            def recorded() -> Shape:
                given = recorder.values(len(leaves))
                after, result_shape = flatten(body(*unflatten(shape, list(given))))
                if any(isinstance(leaf, Word) for leaf in after):
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


def over(field: Field, body: Callable[..., Any], *words: Word | int) -> Any:
    """What `body` makes of words, computed over another field.

    Elements go from one field to another as words: `body` takes words and gives words, and what it does in between is recorded once.
    Interfaces with several field contexts have code for it: EIP-6601, EIP-6690, EIP-7747.
    """
    recorder = recording.get()
    if not isinstance(field, Field):
        raise wrong(f"over(field, function, *words): {field!r} is no field")
    if recorder is None:
        token = computing.set(field)
        try:
            return settled(body(*map(checked_word, words)))
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
            for leaf in leaves:
                if isinstance(leaf, Element):
                    raise wrong("what is computed over another field comes back as words: element.word()")
            outputs.extend(_set_all(recorder, "result", [int(leaf) if isinstance(leaf, bool) else leaf for leaf in leaves]))
            return shape

        _, shape = recorder.record(unit.name, recorded, home(body), unit)
        recorder.units.append(unit)
        known = (len(recorder.units) - 2, inputs, outputs, shape, field)
        recorder.entered[body] = known
    number, inputs, outputs, shape, known_field = known
    if known_field != field or len(inputs) != len(words):
        raise wrong(f"{body.__name__} was recorded over {known_field.name} with {len(inputs)} words")
    for variable, word in zip(inputs, words, strict=True):
        recorder.set(variable, word)
    recorder.line(f"enter p{number} ()")
    return unflatten(shape, [recorder.get(variable) for variable in outputs])


Piece = Word | Element | Slice | tuple[Word, Word | int]
"""What is hashed: a word or an element as 32 bytes, the first bytes of a word, or a piece of calldata."""


def sha256(*pieces: Piece) -> Word:
    """SHA-256 of pieces, one after the other, as a word."""
    return _hashed("sha256", pieces, lambda text: hashlib.sha256(text).digest())


def keccak256(*pieces: Piece) -> Word:
    """Keccak-256 of pieces, one after the other, as a word."""
    return _hashed("keccak256", pieces, _native.keccak256)


def _hashed(name: str, pieces: Sequence[Piece], hash_of: Callable[[bytes], bytes]) -> Word:
    recorder = recording.get()
    if recorder is None:
        return WordNumber(int.from_bytes(hash_of(b"".join(map(_bytes, pieces))), "big"))
    parts = []
    for piece in pieces:
        if isinstance(piece, Slice):
            parts.append(f"calldata {recorder.word(piece.offset)} bytes {recorder.word(piece.size)}")
            continue
        word, size = piece if isinstance(piece, tuple) else (piece, 32)
        parts += [f"word {recorder.word(one)} bytes {recorder.word(size)}" for one in _words(word)]
    return recorder.defined(f"{name} ({' '.join(parts)}) -> @")


def _words(piece: Word | Element) -> tuple[Word, ...]:
    return piece.words() if isinstance(piece, Element) else (piece,)


def _bytes(piece: Piece) -> bytes:
    if isinstance(piece, Slice):
        return piece.bytes()
    word, size = piece if isinstance(piece, tuple) else (piece, 32)
    whole = b"".join(int(one).to_bytes(32, "big") for one in _words(word))
    return whole[: int(size)] if isinstance(piece, tuple) else whole
