"""Recording: what is written, and what is refused with its place."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest

import residue as rs
from residue import Array, Field, Table, Variable, finish, function, not_, over, program, repeat, require, when, word

F = Field(97)
BIG = Field(2**255 - 19)


def both(body, *arguments, field=F, revision="eip6690-2024"):
    """The output, if numbers, the evaluator, the engine and the specification give the same."""
    one = rs.Program(body, field, "one")
    data = one.encode(*arguments)
    expected = one(data)
    assert one.evaluate(data) == expected
    for engine in ("batch", "spec"):
        run = one.run(data, engine=engine, revision=revision)
        assert run.success
        assert run.output == expected
    return expected


def test_operators_and_powers():
    def body(call):
        x, y = call.element(0), call.element(32)
        return x + y, x - y, x * y, -x, 3 - x, 3 * x, x * -5, x**0, x**13, x**-1, x / y, 1 / y, x.square(), +x, 0 * x

    assert len(both(body, 5, 6)) == 15 * 32


def test_a_long_power_has_windows():
    one = rs.Program(lambda call: call.element(0) ** (2**255 - 21), BIG, "inverse")
    products = one.text.count("= mul")
    assert 254 < products < 254 + 70
    assert one.run(3).output == one(3) == pow(3, -1, BIG.modulus).to_bytes(32, "big")


class Fp2:
    """A class of a user's, with slots."""

    __slots__ = ("a", "b")

    def __init__(self, a: Any, b: Any) -> None:
        self.a, self.b = a, b

    def __mul__(self, other: "Fp2") -> "Fp2":
        return Fp2(self.a * other.a - self.b * other.b, self.a * other.b + self.b * other.a)


@dataclass(frozen=True)
class Point:
    x: Fp2
    y: Fp2
    name: str = "point"


class Three(NamedTuple):
    a: Any
    b: Any
    c: Any


def test_classes_of_values_go_through_loops_choices_and_functions():
    @function
    def times(p: Point) -> Point:
        return Point(p.x * p.y, p.y)

    def body(call):
        p = Point(Fp2(call.element(0), 1), Fp2(2, call.element(32)))
        p = repeat(call.word(64), p, lambda turn, p: times(p))
        q = when(p.x.a == 0, p, lambda: times(p))
        t = repeat(2, Three(1, 2, word(3)), lambda turn, t: Three(t.b, t.a, t.c * 2 + turn))
        assert q.name == "point"
        state = {"q": [q.x], "t": t}
        return repeat(1, state, lambda turn, state: state)

    both(body, 3, 4, 5)
    both(body, 3, 4, 0)


def test_words_conditions_and_requirements():
    def body(call):
        n, m = call.word(0), call.word(32)
        require((n < m) | (n == m))
        require(not_(n > m) & 1)
        x = BIG.reduce(n) + BIG.element(m & 0xFF)
        return x, n // 0, n % 0, n << 256, ~n, n.byte(31), n.bit(1), 7 - n, (n != m), x == 3, x.is_odd(), x.is_zero()

    both(body, 2**200 + 3, 2**201 + 17, field=BIG)
    one = rs.Program(body, BIG, "one")
    with pytest.raises(rs.Halted):
        one(5, 4)
    assert one.evaluate(5, 4) is None
    assert not one.run(5, 4).success


def test_memory_tables_and_variables():
    squares = Table(F, [(k * k, k) for k in range(10)], "squares")

    def body(call):
        n = call.word(0)
        some, room = Array((1, 1), 8, "some"), Array(1, name="room")
        some.fill(8, squares[3])
        room.reserve(n + 2)
        total = Variable(5)

        def turn(index, x):
            total.set(total.get() + index)
            some[index] = squares[index]
            room[index] = x
            return x + some[index][0] + squares[index][1]

        x = repeat(n, 1, turn)
        return x, some[7], room[1], total.get(), squares[n]

    both(body, 4)


def test_two_fields_and_hashes():
    def inverse(n):
        return (BIG.element(n) ** -1).word()

    def body(call):
        w = over(BIG, inverse, call.word(0))
        v = over(BIG, inverse, w + 1)
        h = rs.sha256(w, call[4:12], v.first(3), F.reduce(w))
        return F.reduce(v), w, h, rs.keccak256(call[0 : call.size])

    one = rs.Program(body, F, "two")
    data = (12345).to_bytes(32, "big") + b"abc"
    assert one(data) == one.evaluate(data) == one.run(data).output
    with pytest.raises(rs.Inexpressible):
        one.compile("evm384-v7")


def test_functions_and_fields_within_loops_and_choices():
    def square(w):
        x = BIG.reduce(w)
        return (x * x + 1).word(), x == 3

    @function
    def inner(x):
        return x * x

    def body(call):
        some = Array(1, 4, "some")

        @function
        def kept(x):
            some[1] = inner(x) + inner(x + 1)
            return some[1]

        def turn(index, x, w):
            w, is_three = over(BIG, square, w + index)
            x = when(is_three | (index == 1), lambda: kept(x), lambda: x + kept(x + 2))
            return x, when(w.bit(0), lambda: over(BIG, square, w)[0], w)

        x, w = repeat(call.word(32), (call.element(0), call.word(64)), turn)
        return x, w, some[1]

    both(body, 5, 3, 3)
    one = rs.Program(body, F, "one")
    assert one.text.count("subprogram") == 1
    assert one.text.count("function f") == 4

    def elsewhere(call):
        some = Array(1, 4, "some")
        return over(BIG, lambda w: (some[0], w)[1], call.word(0))

    refused(elsewhere, "another field's part")


def test_a_choice_that_is_known_is_made_while_recording():
    text = rs.Program(lambda call: when(True, lambda: call.element(0), lambda: 0), F, "known").text
    assert "branch" not in text


def test_truths_and_numbers_are_the_same_in_code_and_on_numbers():
    def body(call):
        x, found = repeat(4, (call.element(0), False), lambda turn, x, found: (x + 1, found | (x == 3)))
        w = when(x == 9, call.word(32), 1) + 5
        v = over(BIG, lambda w: 7, 1) + over(BIG, lambda w: w == 1, w)
        when(call.word(0) == 77, lambda: require(False), None)
        return x, found, w, v, rs.keccak256(b"abc" * 20, 5, x)

    assert both(body, 1, 3)[32:64] == (1).to_bytes(32, "big")
    assert both(body, 5, 3)[32:64] == bytes(32)


def test_a_division_by_zero_is_zero():
    assert both(lambda call: 1 / call.element(0), 0) == bytes(32)
    assert 1 / F(0) == 0


def test_a_program_may_end_early():
    def body(call):
        x = call.element(0)
        when(x == 0, lambda: finish((7, 8)), None)
        when(x == 1, lambda: finish(word(9)), None)
        return x * 2

    assert [len(both(body, x)) for x in (0, 1, 2)] == [64, 32, 32]
    refused(lambda call: over(BIG, lambda w: finish(w), 3), "finish")
    with pytest.raises(rs.RecordingError, match="none is running"):
        finish(1)


# --- what is refused ---


def refused(body, *parts, field=F):
    with pytest.raises(rs.RecordingError) as error:
        assert rs.Program(body, field, "refused").text
    message = str(error.value)
    assert isinstance(error.value, TypeError)
    file, line, _ = message.split(":", 2)
    first = body.__code__.co_firstlineno
    assert file == __file__
    assert first <= int(line) <= first + 8, message
    for part in parts:
        assert part in message


def test_what_is_known_only_when_the_code_runs():
    refused(lambda call: 1 if call.element(0) == 3 else 2, "when(condition, then, otherwise)")
    refused(lambda call: [0 for _ in range(call.word(0))], "repeat(count, state, body)")
    refused(lambda call: call.element(0) and 3, "not_(condition)")
    refused(lambda call: [1, 2][call.word(0)])
    refused(lambda call: int(call.element(0)))
    refused(lambda call: ~(call.word(0) == 3), "not_(condition)")


def test_elements_words_and_fields_do_not_mix():
    refused(lambda call: call.element(0) + BIG(3), "go between fields as words")
    refused(lambda call: call.element(0) + call.word(0), "field.reduce(word)")
    refused(lambda call: call.word(0) + call.element(0))
    refused(lambda call: BIG.reduce(call.word(0)), "over(field, function, *words)")
    refused(lambda call: F(call.word(0)), "field.reduce(word)")
    refused(lambda call: call.element(0) < 3, "no order")
    refused(lambda call: call.word(0) + (1 << 256), "a word is at ")
    refused(lambda call: call.word(0) - (-1), "a word is at ")
    refused(lambda call: call.element(0) / 3, "not prime", field=Field(91))
    refused(lambda call: call.element(0) ** call.element(1), "exponent")
    refused(lambda call: "text")
    refused(lambda call: (call.element(0), 2.5), "2.5")
    refused(lambda call: (call.element(0), "text"), "text")
    refused(lambda call: [call.element(0), {"x": None}], "None")
    refused(lambda call: call.element(0) + (call.element(32) == 1), "field.reduce(word)")
    refused(lambda call: call.element(0) == 2.5, "a float")
    refused(lambda call: function(lambda x: x)(True), "takes elements")
    refused(lambda call: rs.sha256((call.word(0), 33)), "32 bytes")
    refused(lambda call: rs.sha256(call[5:3]), "ends before it")
    refused(lambda call: BIG.element(1, 2), "1 are wanted")
    refused(lambda call: rs.output(BIG.reduce(call.word(0)), 31), "need 32", field=BIG)
    refused(lambda call: call.word(0) / 2, "words are whole")
    refused(lambda call: 2 ** call.word(0), "1 << w")
    refused(lambda call: Array(1, 4).reserve(5), "no more is reserved")
    refused(lambda call: Table(BIG, [F(1)]), "elements go between fields")
    refused(lambda call: Table(F, [call.element(0)]), "Array holds such")
    refused(lambda call: repeat(2, 1, 3), "no function")
    refused(lambda call: when(call.element(0), 1, 2), "no condition")
    refused(lambda call: require("yes"), "no condition")
    refused(lambda call: call.element("x"), "a word is a whole number")
    refused(lambda call: Array(1, 3), "elements and words")
    refused(lambda call: Array(1, 0), "room")
    refused(lambda call: over(97, lambda w: w, 3), "no field")
    around: list[Any] = []
    around.append(around)
    refused(lambda call: around, "contains itself")


def test_values_stay_where_they_are_made():
    kept: list[Any] = []
    refused(lambda call: (repeat(3, 1, lambda turn, x: kept.append(x) or x), kept[-1] + 1)[1], "a loop, which is over")
    refused(lambda call: (when(call.word(0), lambda: kept.append(call.element(0)), None), kept[-1])[1], "first arm")
    refused(
        lambda call: (
            function(lambda y: y + call.element(0))(kept.append(call.element(0)) or kept[-1]) + function(lambda z: z + kept[-1])(1)
        ),
        "pass it as an argument",
    )
    with pytest.raises(rs.RecordingError, match="has ended"):
        kept[-1] + 1


def test_shapes_have_to_fit():
    refused(lambda call: repeat(2, (1, 2), lambda turn, x, y: (x,)), "before a turn")
    refused(lambda call: repeat(2, 1, lambda turn, x: turn), "begin with word")
    refused(lambda call: when(call.word(0), lambda: (1, 2), lambda: 1), "arms")
    refused(lambda call: function(lambda w: w)(call.word(0)), "takes elements")
    refused(lambda call: Array((1, 2), 3).__setitem__(0, 1), "an element of array")


def test_reference_on_numbers_says_what_fails():
    one = rs.Program(lambda call: Array(1, 3)[call.word(0)], F, "unstored")
    with pytest.raises(rs.NoOutcome):
        one(1)
    with pytest.raises(rs.NoOutcome):
        one.evaluate(1)


def test_encoding():
    one = rs.Program(lambda call: (call.element(40), call.word(0)), F, "encoded")
    assert one.encode(3, 4) == (3).to_bytes(32, "big") + bytes(8) + (4).to_bytes(32, "big")
    for wrong in [(1,), (1, 2, 3)]:
        with pytest.raises(rs.ResidueError, match="reads 2 numbers"):
            one.encode(*wrong)
    with pytest.raises(rs.ResidueError, match="overlaps"):
        rs.Program(lambda call: (call.element(1), call.word(0)), F, "overlapping").encode(3, 4)
    with pytest.raises(rs.ResidueError, match="bytes"):
        rs.Program(lambda call: call.element(call.word(0)), F, "anywhere").encode(3)


def test_what_is_wrong_with_a_text_is_told_with_its_python_line():
    def body(call):
        room = Array(1, 70_000)
        room.fill(70_000, call.element(0))
        return room[1]

    one = rs.Program(body, F, "filled")
    with pytest.raises(rs.ProgramError, match="70000 elements") as error:
        one.compile()
    assert error.value.place is not None
    assert "test_recording.py" in error.value.place
    with pytest.raises(rs.ProgramError, match="line 2"):
        rs.ProgramText('program "x"\nmodulus 97\n')


def test_names_and_lines_reach_trace_and_profile():
    def double(p):
        return Fp2(p.a + p.a, p.b * p.b)

    def body(call):
        p = double(Fp2(call.element(0), 1))
        p = repeat(3, p, lambda turn, p: double(p) * double(p))
        return p.a, p.b

    one = rs.Program(body, F, "named")
    names = {row["name"]: row for row in one.profile(3).by_name()}
    # The two doublings of a turn are the same, and done once.
    assert names["double"]["calls"] == 1 + 3
    assert "Fp2.__mul__" in names
    line = f"test_recording.py:{double.__code__.co_firstlineno + 1}"
    assert any(row["name"] == line and row["gas"] > 0 for row in one.profile(3).by_line())
    steps = one.trace(3, function=line).steps
    assert steps
    assert all(line in (step.source or "") for step in steps)
    assert line in one.text
    assert "<svg" in one.profile(3).flame_graph()
    assert one.profile(3).gas_used == sum(node.gas for node in one.profile(3).nodes)


def test_decorator():
    @program(F, name="cube", size=1)
    def cube(call):
        """Docs."""
        return call.element(0) ** 3

    assert (cube.name, cube.__doc__, cube(2)) == ("cube", "Docs.", b"\x08")
    with pytest.raises(TypeError, match="@program"):
        program(lambda call: 1)  # type: ignore[arg-type]
