"""A number-theoretic transform over the field of 2⁶⁴ − 2³² + 1 elements: Cooley and Tukey's, in place, with loops of the code."""

from __future__ import annotations

from residue import Array, Call, Element, Field, Table, Word, output, program, repeat

F = Field(2**64 - 2**32 + 1, "Goldilocks", size=8)
GENERATOR = 7
SIZE = 64
STAGES = SIZE.bit_length() - 1

ROOT = F(GENERATOR) ** ((F.modulus - 1) // SIZE)
ROOTS = Table(F, [int(ROOT**k) for k in range(SIZE // 2)], "roots")


def reversed_bits(index: int) -> int:
    """The index with its bits in the other order."""
    return int(f"{index:0{STAGES}b}"[::-1], 2)


@program(F, name="ntt")
def ntt(call: Call) -> object:
    """Calldata: 64 elements of 8 bytes. Returns their transform, in the same order as theirs."""
    values = Array(F(0), SIZE, "values")
    for index in range(SIZE):
        values[index] = call.element(8 * reversed_bits(index))
    for stage in range(STAGES):
        half = 1 << stage

        def butterfly(turn: Word, _: None, half: int = half, stage: int = stage) -> None:
            place = (turn & (half - 1)).bind()
            low = (((turn >> stage) << (stage + 1)) + place).bind()
            high = (low + half).bind()
            a, b = values[low], values[high] * ROOTS[place << (STAGES - 1 - stage)]
            values[low] = a + b
            values[high] = a - b

        repeat(SIZE // 2, None, butterfly)
    return output([values[index] for index in range(SIZE)], size=8)


@program(F, name="ntt_unrolled")
def unrolled(call: Call) -> object:
    """The same without loops of the code, and cheaper in gas: butterflies of a stage stand side by side, many to an instruction."""
    values: list[Element] = [call.element(8 * reversed_bits(index)) for index in range(SIZE)]
    for stage in range(STAGES):
        half = 1 << stage
        for low in range(SIZE):
            if low & half == 0:
                twiddle = ROOTS[(low & (half - 1)) << (STAGES - 1 - stage)]
                a, b = values[low], values[low + half] * twiddle
                values[low], values[low + half] = a + b, a - b
    return output(values, size=8)
