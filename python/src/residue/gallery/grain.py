"""The shift register that the constants of Poseidon and Poseidon2 come from: Grassi et al. 2019 (2019/458), appendix F."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice


def _bits(field_bits: int, width: int, full: int, partial: int) -> Iterator[int]:
    fields = [(1, 2), (0, 4), (field_bits, 12), (width, 12), (full, 10), (partial, 10), ((1 << 30) - 1, 30)]
    state = [value >> bit & 1 for value, length in fields for bit in reversed(range(length))]

    def step() -> int:
        state.append(state[62] ^ state[51] ^ state[38] ^ state[23] ^ state[13] ^ state[0])
        state.pop(0)
        return state[-1]

    for _ in range(160):
        step()
    while True:
        # Of two bits the second counts if the first is set.
        counts, bit = step(), step()
        if counts:
            yield bit


def numbers(modulus: int, width: int, full: int, partial: int) -> Iterator[int]:
    """All numbers of as many bits as the modulus has, in order."""
    bits = _bits(modulus.bit_length(), width, full, partial)
    while True:
        yield sum(bit << place for place, bit in zip(reversed(range(modulus.bit_length())), bits, strict=False))


def constants(stream: Iterator[int], modulus: int, count: int) -> list[int]:
    """The next `count` numbers below the modulus."""
    return list(islice((number for number in stream if number < modulus), count))
