"""Poseidon2's permutation of three elements of the scalar field of BN254: Grassi, Khovratovich, Schofnegger 2023 (2023/323), x⁵.

Its matrices are multiplied by with additions alone, which is what makes it cheaper than Poseidon.
"""

from __future__ import annotations

from residue import Call, Element, function, program
from residue.gallery import grain
from residue.gallery.poseidon import F, State, fifth

WIDTH, FULL, PARTIAL = 3, 8, 56

_numbers = grain.constants(grain.numbers(F.modulus, WIDTH, FULL, PARTIAL), F.modulus, WIDTH * FULL + PARTIAL)
_half = WIDTH * FULL // 2
FIRST, INNER, LAST = _numbers[:_half], _numbers[_half : _half + PARTIAL], _numbers[_half + PARTIAL :]


def outer_mixed(state: State) -> State:
    """(2 1 1; 1 2 1; 1 1 2) times the state: 2023/323, §5.1."""
    total = state[0] + state[1] + state[2]
    return tuple(x + total for x in state)


def inner_mixed(state: State) -> State:
    """(2 1 1; 1 2 1; 1 1 3) times the state: 2023/323, §5.2."""
    total = state[0] + state[1] + state[2]
    return state[0] + total, state[1] + total, 2 * state[2] + total


@function
def full_round(state: State, added: State) -> State:
    """A round in which all of the state goes through the S-box."""
    return outer_mixed(tuple(fifth(x + c) for x, c in zip(state, added, strict=True)))


@function
def partial_round(state: State, added: Element) -> State:
    """A round in which one element of the state does."""
    return inner_mixed((fifth(state[0] + added), state[1], state[2]))


def _full(state: State, constants: list[int]) -> State:
    for at in range(0, len(constants), WIDTH):
        state = full_round(state, tuple(F(c) for c in constants[at : at + WIDTH]))
    return state


def permuted(state: State) -> State:
    """The permutation."""
    state = _full(outer_mixed(state), FIRST)
    for constant in INNER:
        state = partial_round(state, F(constant))
    return _full(state, LAST)


@program(F)
def poseidon2(call: Call) -> State:
    """The permutation of three elements."""
    return permuted(call.elements(0, 3))
