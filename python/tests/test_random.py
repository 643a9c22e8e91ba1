"""Random programs: bytecode gives what Python computes on numbers, as the evaluator and the specification do."""

import contextlib
import os
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import HealthCheck, event, given, note, settings
from hypothesis import strategies as st

import residue as rs

CASES = int(os.environ.get("RESIDUE_CASES", "60"))

MODULI = [
    97,
    (1 << 61) - 1,
    0x30644E72E131A029B85045B68181585D2833E84879B9709143E1F593F0000001,
    (1 << 255) - 19,
    0x1A0111EA397FE69A4B1BA7B6434BACD764774B84F38512BF6730D2A0F6B0F6241EABFFFEB153FFFFB9FEFFFFFFFFAAAB,
]
REVISIONS = ["eip6690-2024", "eip6601", "eip7747", "evmone-2023", "evm384-v7", "evm384-v10", "eip5843"]


@dataclass
class Pair:
    """A small class of values, as users have them."""

    a: Any
    b: Any

    def __mul__(self, other: "Pair") -> "Pair":
        return Pair(self.a * other.a - self.b * other.b, (self.a + self.b) * other.b)


@rs.function
def mixed(x, y):
    return x * y + 1, x - y


index = st.integers(0, 1 << 16)
simple = st.one_of(
    st.tuples(st.sampled_from(["add", "sub", "mul"]), index, index),
    st.tuples(st.just("times"), index, st.integers(-16, 16)),
    st.tuples(st.just("constant"), index, st.integers(-(1 << 70), 1 << 270)),
    st.tuples(st.just("power"), index, st.integers(0, 40)),
    st.tuples(st.just("pair"), index, index),
    st.tuples(st.just("function"), index, index),
    st.tuples(st.just("equal"), index, index),
    st.tuples(st.just("odd"), index, index),
    st.tuples(st.just("word"), index, index),
    st.tuples(st.just("reduce"), index, index),
    st.tuples(
        st.sampled_from(["+", "-", "*", "//", "%", "&", "|", "^", "<", ">", "<=", ">=", "==", "byte", "~"]),
        index,
        index,
    ),
    st.tuples(st.sampled_from(["<<", ">>"]), index, st.integers(0, 300)),
    st.tuples(st.just("keccak"), index, index),
    st.tuples(st.just("store"), index, index),
    st.tuples(st.just("load"), index, index),
    st.tuples(st.just("lookup"), index, index),
    st.tuples(st.just("past"), index, index),
    st.tuples(st.just("set"), index, index),
    st.tuples(st.just("get"), index, index),
)
statements = st.recursive(
    st.lists(simple, max_size=8),
    lambda inner: st.lists(
        st.one_of(
            simple,
            st.tuples(st.just("when"), index, st.tuples(inner, inner)),
            st.tuples(st.just("repeat"), index, inner),
            st.tuples(st.just("loop"), index, inner),
        ),
        max_size=8,
    ),
    max_leaves=4,
)


def word_of(name: str, a: Any, b: Any) -> Any:
    results = {
        "+": lambda: a + b,
        "-": lambda: a - b,
        "*": lambda: a * b,
        "//": lambda: a // b,
        "%": lambda: a % b,
        "&": lambda: a & b,
        "|": lambda: a | b,
        "^": lambda: a ^ b,
        "<<": lambda: a << b,
        ">>": lambda: a >> b,
        "byte": lambda: a.byte(b % 40),
        "~": lambda: ~(a | 2),
        "<": lambda: rs.word(0) + (a < b),
        ">": lambda: rs.word(0) + (a > b),
        "<=": lambda: rs.word(0) + (a <= b),
        ">=": lambda: rs.word(0) + (a >= b),
        "==": lambda: rs.word(0) + (a == b),
    }
    return results[name]()


class Text:
    """Result of a list of statements, on numbers or recorded."""

    def __init__(self, field: rs.Field, steps: list[Any]) -> None:
        self.field, self.steps = field, steps
        self.table = rs.Table(field, [(k, k * k + 1) for k in range(4)])

    def __call__(self, call: rs.Call) -> Any:
        size = self.field.size
        elements = [call.element(0), call.element(size)]
        words = [call.word(2 * size), call.word(2 * size + 32)]
        self.array = rs.Array((elements[0], elements[0]), 4)
        self.array.fill(4, (1, elements[1]))
        self.variable = rs.Variable(words[0])
        elements, words = self.do(self.steps, elements, words)
        return elements[-1], words[-1], elements[0], self.variable.get()

    def do(self, steps: list[Any], elements: list[Any], words: list[Any]) -> tuple[list[Any], list[Any]]:
        elements, words = list(elements), list(words)
        for name, i, other in steps:
            x, w = elements[i % len(elements)], words[i % len(words)]
            if name in ("when", "repeat", "loop"):
                elements, words = self.control(name, w, other, elements, words)
                continue
            y, v = elements[other % len(elements)], words[other % len(words)]
            match name:
                case "add":
                    elements.append(x + y)
                case "sub":
                    elements.append(x - y)
                case "mul":
                    elements.append(x * y)
                case "times":
                    elements.append(other * x)
                case "constant":
                    elements.append(x * self.field(other) + other)
                case "power":
                    elements.append(x**other)
                case "pair":
                    elements.append((Pair(x, y) * Pair(y, elements[0])).b)
                case "function":
                    elements += mixed(x, y)
                case "equal":
                    words.append(rs.word(0) + (x == y))
                case "odd":
                    words.append(rs.word(0) + x.is_odd())
                case "word":
                    words.append(x.word() & ((1 << 250) - 1))
                case "reduce":
                    elements.append(self.field.reduce(w))
                case "keccak":
                    words.append(rs.keccak256(w, y, v.first(7)))
                case "store":
                    self.array[v % 4] = (x, elements[-1])
                case "load":
                    elements += self.array[w % 4]
                case "lookup":
                    elements += self.table[w % 4]
                case "past":
                    # The last index of five is no row and no element: the program halts there.
                    elements += [self.table[w % 5][0], self.array[v % 5][1]] if i % 8 == 0 else []
                case "set":
                    self.variable.set(w)
                case "get":
                    words.append(self.variable.get())
                case "<<" | ">>":
                    words.append(word_of(name, w, other))
                case _:
                    words.append(word_of(name, w, v))
        return elements, words

    def control(self, name: str, w: Any, other: Any, elements: list[Any], words: list[Any]) -> tuple[list[Any], list[Any]]:
        def ends(steps: list[Any], a: list[Any], b: list[Any]) -> Any:
            inner = self.do(steps, a, b)
            return inner[0][-1], inner[1][-1]

        if name == "when":
            then, otherwise = other
            element, word = rs.when(w % 3 == 1, lambda: ends(then, elements, words), lambda: ends(otherwise, elements, words))
        else:
            count = w % 3 if name == "repeat" else 2
            element, word = rs.repeat(
                count,
                (elements[-1], words[-1]),
                lambda turn, x, v: ends(other, [*elements, x], [*words, v, turn]),
            )
        return [*elements, element], [*words, word]


@settings(max_examples=CASES, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.sampled_from(MODULI),
    statements,
    st.lists(st.integers(0, (1 << 384) - 1), min_size=2, max_size=2),
    st.lists(st.one_of(st.integers(0, 5), st.integers(0, (1 << 256) - 1)), min_size=2, max_size=2),
    st.sampled_from(REVISIONS),
)
def test_bytecode_is_what_python_computes(modulus, steps, numbers, words, revision):
    field = rs.Field(modulus)
    program = rs.Program(Text(field, steps), field, "random")
    note(program.text)
    data = program.encode(b"".join([*(n % modulus for n in numbers)][k].to_bytes(field.size, "big") for k in range(2)))
    data += b"".join(word.to_bytes(32, "big") for word in words)
    try:
        expected = program(data)
    except rs.Halted:
        event("halts")
        expected = None
    assert program.evaluate(data) == expected
    try:
        code = program.compile(revision)
    except rs.Inexpressible:
        event(f"{revision} has no such field")
        return
    except rs.CompileError as error:
        # Limits of the EVM and of interfaces, which a program may meet.
        limits = [limit for limit in ("more than 16 words on the stack", "slots", "constants") if limit in str(error)]
        assert limits, error
        event(f"too large: {limits[0]}")
        return
    event("code")
    for engine in ("batch", "spec"):
        run = code.run(data, engine=engine)
        assert run.success == (expected is not None)
        assert expected is None or run.output == expected


@pytest.mark.parametrize("revision", REVISIONS)
def test_numbers_that_are_not_below_the_modulus_halt(revision):
    field = rs.Field(MODULI[2])
    program = rs.Program(lambda call: call.element(0) + 1, field, "one_more")
    data = field.modulus.to_bytes(32, "big")
    with pytest.raises(rs.Halted):
        program(data)
    assert program.evaluate(data) is None
    with contextlib.suppress(rs.Inexpressible):
        assert not program.run(data, revision=revision).success
