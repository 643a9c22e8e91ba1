"""Numbers of every kind at every entry: what Python takes as an index is exact everywhere, all else is refused with its line.

Entries are found by introspection, so that a new one has to have a probe here.
"""

import decimal
import enum
import fractions
import inspect
import numbers
import operator
import os
import random
import re

import numpy as np
import pytest

import residue as rs
from residue.memory import Array
from residue.values import below

F = rs.Field(97)
M61 = rs.Field(2**61 - 1)
BIG = rs.Field(2**255 - 19)
ONE = rs.Program(lambda call: call.element(0) + 1, BIG, "one")
WORD = rs.Program(lambda call: call.word(0) + 1, BIG, "word")
CODE = ONE.compile()
TEXT = rs.ProgramText(ONE.recorded, "text")
CONTRACT = rs.contract("bn254/add")


class Index:
    """An integer of a library's."""

    def __init__(self, number):
        self.number = number

    def __index__(self):
        return self.number


class Colour(enum.IntEnum):
    RED = 5


# --- kinds of numbers ---

KINDS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
random_ = random.Random(61)
SAMPLE = [-(1 << 300), -(1 << 64), -3, -1, 0, 1, 2, 3, 5, 31, 32, 63, 96, 97, 255, 256, 4096, 4097, 1 << 31, (1 << 64) - 1, 1 << 64]
SAMPLE += [(1 << 256) - 1, 1 << 256, 1 << 300, *(random_.randrange(1 << random_.randrange(2, 300)) for _ in range(4))]
INTEGERS = [
    *(kind(number) for kind in KINDS for number in (3, np.iinfo(kind).max)),
    *(kind(-2) for kind in KINDS[:4]),
    np.array(3),
    Colour.RED,
    *(Index(number) for number in SAMPLE),
]
TRUTHS = [True, False, np.True_, np.False_]
NO_NUMBERS = [
    2.5,
    2.0,
    float("nan"),
    float("inf"),
    np.float64(3.0),
    np.float32(2.5),
    2j,
    "5",
    "%d",
    "",
    np.str_("5"),
    b"5",
    bytearray(b"5"),
]
NO_NUMBERS += [decimal.Decimal(2), fractions.Fraction(4, 2), fractions.Fraction(1, 2), None, [], [1], (), {}, {1}, object(), int, len]
NO_NUMBERS += [np.array([1, 2]), np.array([2.5])]


# --- entries, and how each is tried ---


def text(body):
    """The function as a program, or on numbers: both have to treat a number alike."""
    return rs.Program(body, F, "one").text


def small(number, most=64):
    """The number, and one that is refused for one that would take long."""
    try:
        return number if operator.index(number) <= most else -1
    except TypeError:
        return number


def past_numbers(action):
    """Checks the numbers of a campaign: one with two ends is refused after them."""
    try:
        action()
    except rs.NumberError:
        raise
    except rs.ResidueError:
        return "taken"
    raise AssertionError("a campaign with two ends")


def on_both(action):
    """An action on an element of F that is known, and on one that is recorded."""
    return [lambda n: int(action(F(5), n)), lambda n: text(lambda call: action(call.element(0), n))]


def words_on_both(action):
    return [lambda n: int(action(rs.word(5), n)), lambda n: text(lambda call: action(call.word(0), n))]


def eq(one):
    return [lambda n: bool(operator.eq(one, n)), lambda n: bool(operator.ne(one, n))]


def an_array(call, number):
    array = Array(1, 8)
    array.fill(8, 0)
    return array


def stored(call, number):
    array = an_array(call, number)
    array[number] = 3
    return array[number]


def reserved(call, number):
    array = Array(1)
    array.reserve(number)
    return rs.word(1)


def filled(call, number):
    array = Array(1, 8)
    array.fill(number, 3)
    return array[0]


def set_to(number):
    variable = rs.Variable(3)
    variable.set(number)
    return variable.get()


def changed(array, number):
    array[1] = number
    return array[1]


def filled_with(number):
    array = Array(1, 8)
    array.fill(2, number)
    return array[1]


def hashed(hash_of):
    return [lambda n: int(hash_of(n)), lambda n: text(lambda call: hash_of(call.word(0), n)), lambda n: int(hash_of((rs.word(7), n)))]


def ran(run):
    return (run.success, run.halt, run.output, run.gas_used)


def both(body):
    """A program of a number, recorded and as it computes."""
    return [lambda n: text(lambda call: body(call, n)), lambda n: rs.Program(lambda call: body(call, n), F, "one")(bytes(96))]


def program_of(n):
    return rs.Program(lambda call: call.element(0), F, "one", n).text


NUMBER, REAL, ANY = "a whole number", "a number, also with a fraction", "of any kind"
WORDS, HASHED = "a word, so that a truth is one too", "bytes or a word"
VALUES, BYTES = "values in tuples and classes, with what is no value aside", "bytes or a whole number"
PROBES = {
    "Array.__init__.like": (VALUES, [lambda n: text(lambda call: changed(Array(n, 3), 7))]),
    "Array.__init__.capacity": (NUMBER, both(lambda call, n: changed(Array(1, n), 7))),
    "Array.reserve.count": (WORDS, both(reserved)),
    "Array.fill.count": (NUMBER, both(filled)),
    "Array.fill.value": (NUMBER, both(lambda call, n: filled_with(n))),
    "Array.__getitem__.index": (WORDS, both(lambda call, n: an_array(call, n)[n])),
    "Array.__setitem__.index": (WORDS, both(stored)),
    "Array.__setitem__.value": (NUMBER, both(lambda call, n: changed(Array(1, 3), n))),
    "Call.word.offset": (WORDS, both(lambda call, n: call.word(n))),
    "Call.element.offset": (WORDS, both(lambda call, n: call.element(n))),
    "Call.element.size": (NUMBER, both(lambda call, n: call.element(0, n))),
    "Call.elements.offset": (WORDS, both(lambda call, n: call.elements(n, 2))),
    "Call.elements.count": (NUMBER, [lambda n: text(lambda call: call.elements(0, small(n, 300)))]),
    "Call.elements.size": (NUMBER, both(lambda call, n: call.elements(0, 2, n))),
    "Code.encode.arguments": (NUMBER, [lambda n: CODE.encode(n)]),
    "Code.run.arguments": (NUMBER, [lambda n: ran(CODE.run(n))]),
    "Code.run.gas": (NUMBER, [lambda n: ran(CODE.run(5, gas=n))]),
    "Code.trace.arguments": (NUMBER, [lambda n: CODE.trace(n)]),
    "Code.trace.gas": (NUMBER, [lambda n: CODE.trace(5, gas=n)]),
    "Code.trace.limit": (NUMBER, [lambda n: CODE.trace(5, limit=n)]),
    "Code.profile.arguments": (NUMBER, [lambda n: CODE.profile(n)]),
    "Code.profile.gas": (NUMBER, [lambda n: CODE.profile(5, gas=n)]),
    "Code.profile.rounds": (NUMBER, [lambda n: CODE.profile(5, rounds=small(n)).gas_used]),
    "Code.explain.arguments": (NUMBER, [lambda n: CODE.explain(n)]),
    "Code.explain.gas": (NUMBER, [lambda n: CODE.explain(5, gas=n)]),
    "Compilable.encode.arguments": (NUMBER, [lambda n: ONE.encode(n)]),
    "Compilable.run.arguments": (NUMBER, [lambda n: ran(ONE.run(n))]),
    "Compilable.run.gas": (NUMBER, [lambda n: ran(ONE.run(5, gas=n))]),
    "Compilable.trace.arguments": (NUMBER, [lambda n: ONE.trace(n)]),
    "Compilable.trace.limit": (NUMBER, [lambda n: ONE.trace(5, limit=n)]),
    "Compilable.profile.arguments": (NUMBER, [lambda n: ONE.profile(n)]),
    "Compilable.profile.rounds": (NUMBER, [lambda n: ONE.profile(5, rounds=small(n)).gas_used]),
    "Compilable.explain.arguments": (NUMBER, [lambda n: ONE.explain(n)]),
    "Contract.encode.arguments": (BYTES, [lambda n: CONTRACT.encode(n)]),
    "Element.__add__.other": (NUMBER, on_both(lambda x, n: x + n)),
    "Element.__sub__.other": (NUMBER, on_both(lambda x, n: x - n)),
    "Element.__mul__.other": (NUMBER, on_both(lambda x, n: x * n)),
    "Element.__radd__.other": (NUMBER, on_both(lambda x, n: n + x)),
    "Element.__rsub__.other": (NUMBER, on_both(lambda x, n: n - x)),
    "Element.__rmul__.other": (NUMBER, on_both(lambda x, n: n * x)),
    "Element.__truediv__.other": (NUMBER, on_both(lambda x, n: x / n)),
    "Element.__rtruediv__.other": (NUMBER, on_both(lambda x, n: n / x)),
    "Element.__pow__.exponent": (NUMBER, on_both(lambda x, n: x**n)),
    "Element.__rpow__.other": (NUMBER, on_both(lambda x, n: n**x)),
    "Element.__lt__.other": (NUMBER, on_both(lambda x, n: x < n)),
    "Element.__le__.other": (NUMBER, on_both(lambda x, n: x <= n)),
    "Element.__gt__.other": (NUMBER, on_both(lambda x, n: n < x)),
    "Element.__ge__.other": (NUMBER, on_both(lambda x, n: x >= n)),
    "Element.__eq__.other": (ANY, eq(F(5))),
    "Element.__ne__.other": (
        NUMBER,
        [lambda n: text(lambda call: call.element(0) != n), lambda n: text(lambda call: n == call.element(0))],
    ),
    "Element.word.number": (NUMBER, [lambda n: int(BIG(5).word(n)), lambda n: text(lambda call: call.element(0).word(n))]),
    "Field.__init__.modulus": (NUMBER, [lambda n: rs.Field(n).modulus]),
    "Field.__init__.size": (NUMBER, [lambda n: rs.Field(97, size=n).size]),
    "Field.__call__.number": (NUMBER, [lambda n: int(M61(n) * M61(n)), lambda n: text(lambda call: call.element(0) * (F(n) * F(n)))]),
    "Field.reduce.word": (WORDS, [lambda n: int(F.reduce(n)), lambda n: text(lambda call: F.reduce(call.word(0) + n))]),
    "Field.element.words": (WORDS, [lambda n: int(BIG.element(n)), lambda n: text(lambda call: F.element(call.word(0) + n))]),
    "Field.__eq__.other": (ANY, eq(F)),
    "Program.__init__.size": (NUMBER, [program_of]),
    "Program.encode.arguments": (NUMBER, [lambda n: ONE.encode(n), lambda n: WORD.encode(n)]),
    "Program.__call__.arguments": (NUMBER, [lambda n: ONE(n), lambda n: WORD(n)]),
    "Program.evaluate.arguments": (NUMBER, [lambda n: ONE.evaluate(n)]),
    "Program.evaluate.steps_max": (NUMBER, [lambda n: ONE.evaluate(5, steps_max=n)]),
    "ProgramText.encode.arguments": (NUMBER, [lambda n: TEXT.encode(n)]),
    "ProgramText.evaluate.arguments": (NUMBER, [lambda n: TEXT.evaluate(n)]),
    "ProgramText.evaluate.steps_max": (NUMBER, [lambda n: TEXT.evaluate(5, steps_max=n)]),
    "Run.numbers.size": (NUMBER, [lambda n: CODE.run(5).numbers(n)]),
    "Table.__init__.rows": (NUMBER, [lambda n: int(rs.Table(F, [n])[0]), lambda n: text(lambda call: rs.Table(F, [1, n])[call.word(0)])]),
    "Table.__getitem__.index": (WORDS, both(lambda call, n: rs.Table(F, [(1, 2), (3, 4)])[n])),
    "Variable.__init__.initial": (WORDS, both(lambda call, n: rs.Variable(n).get())),
    "Variable.set.word": (WORDS, both(lambda call, n: set_to(n))),
    "Word.__add__.other": (WORDS, words_on_both(lambda w, n: w + n)),
    "Word.__sub__.other": (WORDS, words_on_both(lambda w, n: w - n)),
    "Word.__mul__.other": (WORDS, words_on_both(lambda w, n: w * n)),
    "Word.__floordiv__.other": (WORDS, words_on_both(lambda w, n: w // n)),
    "Word.__truediv__.other": (NUMBER, words_on_both(lambda w, n: w / n)),
    "Word.__rtruediv__.other": (NUMBER, words_on_both(lambda w, n: n / w)),
    "Word.__pow__.other": (NUMBER, words_on_both(lambda w, n: w**n)),
    "Word.__rpow__.other": (NUMBER, words_on_both(lambda w, n: n**w)),
    "Word.__mod__.other": (WORDS, words_on_both(lambda w, n: w % n)),
    "Word.__and__.other": (WORDS, words_on_both(lambda w, n: w & n)),
    "Word.__or__.other": (WORDS, words_on_both(lambda w, n: w | n)),
    "Word.__xor__.other": (WORDS, words_on_both(lambda w, n: w ^ n)),
    "Word.__lshift__.other": (WORDS, words_on_both(lambda w, n: w << n)),
    "Word.__rshift__.other": (WORDS, words_on_both(lambda w, n: w >> n)),
    "Word.__radd__.other": (WORDS, words_on_both(lambda w, n: n + w)),
    "Word.__rsub__.other": (WORDS, words_on_both(lambda w, n: n - w)),
    "Word.__rmul__.other": (WORDS, words_on_both(lambda w, n: n * w)),
    "Word.__rfloordiv__.other": (WORDS, words_on_both(lambda w, n: n // w)),
    "Word.__rmod__.other": (WORDS, words_on_both(lambda w, n: n % w)),
    "Word.__rand__.other": (WORDS, words_on_both(lambda w, n: n & w)),
    "Word.__ror__.other": (WORDS, words_on_both(lambda w, n: n | w)),
    "Word.__rxor__.other": (WORDS, words_on_both(lambda w, n: n ^ w)),
    "Word.__rlshift__.other": (WORDS, words_on_both(lambda w, n: n << w)),
    "Word.__rrshift__.other": (WORDS, words_on_both(lambda w, n: n >> w)),
    "Word.__lt__.other": (WORDS, words_on_both(lambda w, n: w < n)),
    "Word.__gt__.other": (WORDS, words_on_both(lambda w, n: n < w)),
    "Word.__le__.other": (WORDS, words_on_both(lambda w, n: w <= n)),
    "Word.__ge__.other": (WORDS, words_on_both(lambda w, n: n >= w)),
    "Word.__eq__.other": (ANY, eq(rs.word(5))),
    "Word.__ne__.other": (WORDS, [lambda n: text(lambda call: (call.word(0) != n, n == call.word(0)))]),
    "Word.byte.index": (WORDS, words_on_both(lambda w, n: w.byte(n))),
    "Word.bit.index": (WORDS, words_on_both(lambda w, n: w.bit(n))),
    "Word.first.size": (
        WORDS,
        [lambda n: int(rs.sha256(rs.word(7).first(n))), lambda n: text(lambda call: rs.sha256(call.word(0).first(n)))],
    ),
    "bind.word": (WORDS, [lambda n: int(rs.bind(n)), lambda n: text(lambda call: rs.bind(n))]),
    "calldata.numbers": (BYTES, [lambda n: rs.calldata(n), lambda n: rs.calldata([1, n])]),
    "calldata.size": (NUMBER, [lambda n: rs.calldata(5, size=n)]),
    "campaign.shards": (NUMBER, [lambda n: past_numbers(lambda: rs.campaign(hours=1, slices=1, shards=n))]),
    "campaign.slices": (NUMBER, [lambda n: past_numbers(lambda: rs.campaign(hours=1, slices=1 if n is None else n))]),
    "campaign.seed": (NUMBER, [lambda n: past_numbers(lambda: rs.campaign(hours=1, slices=1, seed=n))]),
    "campaign.slice_runs": (NUMBER, [lambda n: past_numbers(lambda: rs.campaign(hours=1, slices=1, slice_runs=n))]),
    "campaign.hours": (REAL, [lambda n: past_numbers(lambda: rs.campaign(slices=1, hours=1 if n is None else n))]),
    "compare.arguments": (NUMBER, [lambda n: str(rs.compare(ONE, n, revisions="eip6690-2024"))]),
    "finish.result": (VALUES, [lambda n: text(lambda call: (rs.finish(n), call.word(0))[1])]),
    "gas_snapshot.tolerance": (REAL, [lambda n: rs.gas_snapshot(os.devnull, [], check=True, tolerance=n)]),
    "keccak256.pieces": (HASHED, hashed(rs.keccak256)),
    "sha256.pieces": (HASHED, hashed(rs.sha256)),
    "not_.condition": (WORDS, [lambda n: int(rs.not_(n))]),
    "output.values": (VALUES, [lambda n: text(lambda call: rs.output((call.element(0), n), 32))]),
    "output.size": (NUMBER, [lambda n: text(lambda call: rs.output(call.element(0), n))]),
    "over.words": (WORDS, both(lambda call, n: rs.over(BIG, lambda w: (BIG.reduce(w) + 1).word(), n))),
    "program.size": (NUMBER, [lambda n: rs.program(F, size=n)(lambda call: call.element(0)).text]),
    "repeat.count": (
        WORDS,
        [
            lambda n: text(lambda call: rs.repeat(n, call.element(0), lambda turn, x: x + 1)),
            lambda n: int(rs.repeat(small(n, 5000), F(1), lambda turn, x: 2 * x)),
        ],
    ),
    "repeat.state": (VALUES, both(lambda call, n: rs.repeat(2, n, lambda turn, x: x))),
    "require.condition": (WORDS, both(lambda call, n: rs.require(n))),
    "sweep.gas": (NUMBER, [lambda n: str(rs.sweep(ONE, [5], "eip6690-2024", gas=n))]),
    "sweep.inputs": (NUMBER, [lambda n: str(rs.sweep(ONE, [n], "eip6690-2024"))]),
    "when.condition": (WORDS, both(lambda call, n: rs.when(n, 2, 3))),
    "when.then": (VALUES, [lambda n: text(lambda call: rs.when(call.word(0), n, n)), lambda n: text(lambda call: rs.when(True, n, n))]),
    "when.otherwise": (VALUES, [lambda n: text(lambda call: rs.when(call.word(0), lambda: n, lambda: n))]),
    "word.number": (WORDS, [lambda n: int(rs.word(n))]),
}
"""Type of number of each entry, and ways to give it one."""

OPTIONAL = re.compile(r"\.(capacity|size|limit|slices|hours|like|initial)$")
"""Entries that have a meaning for None, or for nothing."""


def entries():
    """Every parameter of what is public whose annotation has a number in it."""
    for name in rs.__all__:
        thing = getattr(rs, name)
        if inspect.isclass(thing) and not issubclass(thing, BaseException):
            for member, function in vars(thing).items():
                inner = getattr(function, "__func__", function)
                is_generated = hasattr(thing, "__dataclass_fields__") and member.startswith("__")
                if inspect.isfunction(inner) and not is_generated and (not member.startswith("_") or member.startswith("__")):
                    yield from parameters(f"{name}.{member}", inner)
        elif inspect.isfunction(thing):
            yield from parameters(name, thing)


def parameters(name, function):
    for parameter in list(inspect.signature(function).parameters.values()):
        kinds = str(parameter.annotation)
        is_number = re.search(r"\b(int|SupportsIndex|float|Word|Element|Condition|Piece|Any|T|object)\b", kinds) and "Callable" not in kinds
        if is_number and parameter.name != "self" and parameter.kind is not parameter.VAR_KEYWORD:
            yield f"{name}.{parameter.name}"


ELSEWHERE = {
    "Block.of.told",
    "Compilable.options.options",
    "Contract.__init__.precompile",
    "Options.of.options",
    "Profile.of.told",
    "Run.of.told",
    "Trace.of.told",
    "gas_snapshot.subjects",
}
"""Found by their annotation, and no numbers."""


def test_every_entry_is_tried():
    found = {entry for entry in entries() if entry not in ELSEWHERE}
    assert found - set(PROBES) == set()
    # An operator that is the same function as another's is found once.
    assert set(PROBES) - found == set()


def outcome(probe, number):
    """The result, or the type of our exception that refused it."""
    try:
        return probe(number)
    except rs.ResidueError as error:
        return type(error)


def is_refused(given):
    return isinstance(given, type) and issubclass(given, rs.ResidueError)


PAIRS = [pytest.param(kind, probe, id=f"{name}-{at}") for name, (kind, probes) in PROBES.items() for at, probe in enumerate(probes)]


@pytest.mark.parametrize(("kind", "probe"), PAIRS)
def test_integers_of_every_kind_are_the_same_number(kind, probe):
    for number in INTEGERS:
        exact = int(operator.index(number))
        assert same(outcome(probe, number), outcome(probe, exact)), repr(number)


def same(a, b):
    # Lines of Python stand in messages and stretches alone, and are the same.
    return a is b or a == b


@pytest.mark.parametrize(("kind", "probe"), PAIRS)
def test_truths_are_words_and_no_numbers(kind, probe):
    for value in TRUTHS:
        given = outcome(probe, value)
        if kind in (WORDS, HASHED, VALUES):
            assert not is_refused(given) or is_refused(outcome(probe, int(value))), repr(value)
        elif kind is not ANY:
            assert is_refused(given), repr(value)


@pytest.mark.parametrize("name", PROBES)
def test_what_is_no_whole_number_is_refused(name):
    kind, probes = PROBES[name]
    for probe in probes:
        for value in NO_NUMBERS:
            if kind is ANY or meant(name, kind, value):
                continue
            try:
                given = probe(value)
            except rs.ResidueError:
                continue
            except TypeError as error:
                # An operator leaves what is no number to the other's class, and text has a % of its own.
                is_left = isinstance(value, list | tuple | dict | set | type | str | bytes) or type(value) is object or callable(value)
                assert is_left, (value, error)
                assert "__" in name or "unsupported operand" in str(error), (value, error)
                continue
            raise AssertionError(f"{value!r} is taken, and gives {given!r}")


def meant(name, kind, value):
    """True if such a value has a meaning where numbers are taken."""
    if value is None and OPTIONAL.search(name):
        return True
    if name.endswith("__ne__.other") and (value is None or not isinstance(value, numbers.Number | str | bytes | bytearray)):
        # Unequal, as everywhere in Python.
        return True
    if name == "Word.__rmod__.other" and isinstance(value, str | bytes | bytearray):
        # Text is formatted.
        return True
    if kind is REAL:
        return isinstance(value, numbers.Real) and 0 <= value < float("inf")
    if kind is VALUES:
        return not isinstance(value, numbers.Number)
    if isinstance(value, list | tuple | np.ndarray) and name in ("calldata.numbers", "Table.__init__.rows"):
        return True
    if isinstance(value, np.ndarray) and name.startswith(("Element.__", "Word.__")):
        # By its members.
        return value.dtype.kind == "i"
    if isinstance(value, bytes | bytearray):
        return kind in (BYTES, HASHED) or name.endswith((".arguments", ".inputs"))
    return False


def test_arrays_are_taken_by_their_members():
    numbers_, words = np.array([[1, 2], [3, 4]]), np.array([1, 40], dtype=np.uint8)
    for action in (lambda x, n: n * x, lambda x, n: x - n, lambda x, n: n - x, lambda x, n: x + n, lambda x, n: x / n):
        assert (action(F(5), numbers_) == np.array([[action(F(5), int(n)) for n in row] for row in numbers_])).all()
    assert [int(w) for w in words << rs.word(3)] == [8, 320]
    assert list(words < rs.word(3)) == [True, False]
    assert list(rs.word(40) != words) == [True, False]
    matrix = np.array([[2, 1], [1, 3]])

    def body(call):
        state = np.array(call.elements(0, 2), dtype=object)
        return rs.repeat(3, state, lambda turn, state: matrix @ (state * state) + 2**62)

    one = rs.Program(body, M61, "matrix")
    assert one(3, 4) == one.run(3, 4).output == one.evaluate(3, 4)
    assert rs.calldata(matrix, F(3), b"abc", size=2) == bytes([0, 2, 0, 1, 0, 1, 0, 3, 0, 3]) + b"abc"


def test_constants_of_numpy_are_exact_in_code():
    for p in (2**61 - 1, 2**31 - 1, 2013265921, 2**32 - 5, 2**63 - 25):
        field, a, b = rs.Field(np.int64(p)), np.int64(p - 2), np.int64(p - 3)
        assert int(field(a) * field(b)) == (p - 2) * (p - 3) % p
        one = rs.Program(lambda call, a=a, b=b, field=field: call.element(0) * (field(a) * b) + a, field, "one")
        expected = (5 * (p - 2) * (p - 3) + p - 2) % p
        assert one.run(np.uint8(5)).numbers() == (expected,)
        assert int.from_bytes(one(5), "big") == expected


def test_what_is_out_of_range_says_so():
    for action, part in [
        (lambda: ONE.run(-1), "number 0 of one's calldata is not negative, and -1 is"),
        (lambda: ONE.run(1 << 256), "takes 32 bytes"),
        (lambda: ONE.run(5, gas=-1), "gas is at least 0, and -1"),
        (lambda: ONE.run(5, gas=1 << 64), r"gas is at most 2\^64"),
        (lambda: ONE.run(5.7), "5.7 is a float"),
        (lambda: rs.calldata(1, -1), "number 1 of calldata"),
        (lambda: rs.calldata(1, 10**6000), "a number of 19932 bits"),
        (lambda: CODE.run(5).numbers(5), "no numbers of 5 bytes each"),
        (lambda: F("5"), r"int\(text, 0\)"),
    ]:
        with pytest.raises(rs.NumberError, match=part) as error:
            action()
        assert str(error.value).startswith(f"{__file__}:")
        assert isinstance(error.value, ValueError)
        assert isinstance(error.value, TypeError)


@pytest.mark.parametrize("like", [lambda rows: rs.Table(F, rows, "rows"), lambda rows: an_array(None, 0)])
def test_an_index_past_the_end_halts_in_code_and_in_python(like):
    one = rs.Program(lambda call: like([3, 4])[call.word(0)], F, "read")
    assert [int(row) for row in rs.Table(F, [3, 4])] == [3, 4]
    data = rs.calldata(8)
    with pytest.raises(rs.Halted, match="index 8 of"):
        one(data)
    assert one.evaluate(data) is None
    for revision in ("eip6690-2024", "evm384-v7", "eip7747", "evm"):
        assert not one.run(data, revision=revision).success
    assert one(rs.calldata(1)) == one.run(1).output == one.evaluate(1)
    with pytest.raises(rs.RecordingError, match="index 8 of"):
        assert rs.Program(lambda call: like([3, 4])[8], F, "read").text


def test_code_asks_only_where_an_index_may_be_past_the_end():
    table = rs.Table(F, range(8))
    for index in (
        lambda w: w & 7,
        lambda w: w % 8,
        lambda w: w.bit(9),
        lambda w: w >> 253,
        lambda w: (w & 3) + (w.byte(0) & 4),
        lambda w: ((w & 1) << 2) | 3,
        lambda w: (w & 1) * 7,
        lambda w: (w & 63) // 8,
        lambda w: (w % 8).bind(),
        lambda w: (w & 5) ^ 2,
    ):
        one = rs.Program(lambda call, index=index: table[index(call.word(0))], F, "read")
        assert "require" not in one.text
        for value in (0, (1 << 256) - 1, 0xF << 252, 12345):
            assert one(value) == one.run(value).output
    assert "require" not in text(lambda call: rs.repeat(8, 0, lambda turn, x: x + table[turn]))
    for index in (lambda w: w, lambda w: w & 8, lambda w: (w & 7) - 1, lambda w: (w & 7) + 1, lambda w: 7 // w, lambda w: (w & 3) << w):
        one = rs.Program(lambda call, index=index: table[index(call.word(0))], F, "read")
        assert "require" in one.text or index(rs.word(1)) == 7, one.text
    assert "require" in text(lambda call: rs.repeat(9, 0, lambda turn, x: x + table[turn]))


def test_what_a_word_is_below_is_above_all_that_it_can_be():
    operations = [operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod, operator.and_, operator.or_, operator.xor]
    operations += [
        operator.lshift,
        operator.rshift,
        lambda a, b: a.byte(b),
        lambda a, b: rs.word(0) + (a < b),
        lambda a, b: rs.word(0) + (a == b),
    ]
    bounded = 0

    def grown(words, choices):
        for operation, at, other in choices:
            words = [*words, operations[operation](words[at % len(words)], words[other % len(words)])]
        return words

    for _ in range(400):
        choices = [(random_.randrange(len(operations)), random_.randrange(1 << 16), random_.randrange(1 << 16)) for _ in range(8)]
        known = [rs.word(random_.choice([0, 1, 3, 7, 255, 256, 1 << 255, random_.randrange(1 << 256)])) for _ in range(3)]
        belows = []

        def body(call, known=known, choices=choices, belows=belows):
            words = grown([call.word(0), call.word(32) & 0xFF, *known], choices)
            belows.extend(below(word) for word in words)
            return words[-1]

        assert rs.Program(body, F, "grown").text
        for _ in range(4):
            inputs = [rs.word(random_.choice([0, 1, (1 << 256) - 1, random_.randrange(1 << random_.randrange(1, 257))])) for _ in range(2)]
            words = grown([inputs[0], inputs[1] & 0xFF, *known], choices)
            assert all(int(word) < limit for word, limit in zip(words, belows, strict=True)), (choices, known, inputs)
        bounded += sum(limit < 1 << 256 for limit in belows)
    assert bounded > 1000


def test_choices_in_each_other_have_a_limit_that_is_told():
    def deep(call, depth):
        return call.element(0) if depth == 0 else rs.when(call.word(32), lambda: deep(call, depth - 1), 0)

    assert rs.Program(lambda call: deep(call, 63), F, "deep").run(3, 1).numbers() == (3,)
    with pytest.raises(rs.RecordingError, match="63 deep") as error:
        assert rs.Program(lambda call: deep(call, 64), F, "deep").text
    assert str(error.value).startswith(f"{__file__}:")
