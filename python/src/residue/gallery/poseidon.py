"""Poseidon for two inputs over the scalar field of BN254, as circomlib has it: Grassi et al. 2019 (2019/458), table 2, x⁵."""

from __future__ import annotations

from itertools import islice

from residue import Call, Element, Field, function, program
from residue.gallery import grain

F = Field(0x30644E72E131A029B85045B68181585D2833E84879B9709143E1F593F0000001, "BN254 Fr")
WIDTH, FULL, PARTIAL = 3, 8, 57

State = tuple[Element, ...]

_stream = grain.numbers(F.modulus, WIDTH, FULL, PARTIAL)
CONSTANTS = grain.constants(_stream, F.modulus, WIDTH * (FULL + PARTIAL))
_points = list(islice(_stream, 2 * WIDTH))
# Cauchy's matrix: 1 / (xᵢ + yⱼ).
MATRIX = [[F(x + y).inverse() for y in _points[WIDTH:]] for x in _points[:WIDTH]]


def fifth(x: Element) -> Element:
    """x⁵."""
    return x.square().square() * x


def mixed(state: State) -> State:
    """The matrix times the state."""
    return tuple(row[0] * state[0] + row[1] * state[1] + row[2] * state[2] for row in MATRIX)


@function
def full_round(state: State, added: State) -> State:
    """A round in which all of the state goes through the S-box."""
    return mixed(tuple(fifth(x + c) for x, c in zip(state, added, strict=True)))


@function
def partial_round(state: State, added: State) -> State:
    """A round in which one element of the state does."""
    first, *others = (x + c for x, c in zip(state, added, strict=True))
    return mixed((fifth(first), *others))


def permuted(state: State) -> State:
    """All rounds."""
    for number in range(FULL + PARTIAL):
        added = tuple(F(c) for c in CONSTANTS[WIDTH * number : WIDTH * (number + 1)])
        is_full = not FULL // 2 <= number < FULL // 2 + PARTIAL
        state = (full_round if is_full else partial_round)(state, added)
    return state


@program(F)
def poseidon(call: Call) -> Element:
    """The hash of two elements."""
    a, b = call.elements(0, 2)
    return permuted((F(0), a, b))[0]
