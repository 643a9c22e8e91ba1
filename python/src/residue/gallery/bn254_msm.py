"""Sums of multiples on BN254's G1 (MSM): any number of points, with one doubling a bit for all of them."""

from __future__ import annotations

from dataclasses import dataclass

from residue import Array, Call, Element, Word, bind, program, repeat, require, when
from residue.gallery.bn254 import Affine, F, inverse, point


@dataclass(frozen=True)
class Projective:
    """x/z and y/z; z is 0 at the identity alone. Complete formulas: Renes, Costello, Batina 2015 (2015/1060), for a = 0, b₃ = 9."""

    x: Element
    y: Element
    z: Element

    def __add__(self, other: Projective) -> Projective:
        """The sum of any two points: algorithm 7."""
        t0, t1, t2 = self.x * other.x, self.y * other.y, self.z * other.z
        t3 = (self.x + self.y) * (other.x + other.y) - (t0 + t1)
        t4 = (self.y + self.z) * (other.y + other.z) - (t1 + t2)
        y3 = 9 * ((self.x + self.z) * (other.x + other.z) - (t0 + t2))
        t0, t2 = 3 * t0, 9 * t2
        z3, t1 = t1 + t2, t1 - t2
        return Projective(t3 * t1 - t4 * y3, y3 * t0 + t1 * z3, z3 * t4 + t0 * t3)

    def double(self) -> Projective:
        """Twice a point: algorithm 9."""
        t0, t2 = self.y.square(), 9 * self.z.square()
        z3, t1 = 8 * t0, self.y * self.z
        x3, y3 = t2 * z3, t0 + t2
        t0 = t0 - 3 * t2
        return Projective(2 * (t0 * (self.x * self.y)), x3 + t0 * y3, t1 * z3)


@program(F)
def msm(call: Call) -> Affine:
    """∑ kᵢPᵢ of any number of pairs of 96 bytes, a point that is not the identity and a scalar: one doubling a bit for all of them."""
    count = bind(call.size // 96)
    points = Array(Affine(F(0), F(0)), name="points")
    points.reserve(count)

    def read(index: Word) -> None:
        one = point(call, index * 96)
        require(one.defect() == 0)
        points[index] = one

    repeat(count, None, lambda index, _: read(index))

    def bit(turn: Word, total: Projective) -> Projective:
        def pair(index: Word, total: Projective) -> Projective:
            digit = call.word(index * 96 + 64).bit(255 - turn)
            one = points[index]
            total = when(digit, lambda: total + Projective(one.x, one.y, F(1)), total)
            return total

        return repeat(count, total.double(), pair)

    total = repeat(256, Projective(F(0), F(1), F(0)), bit)
    z = inverse(total.z)
    return Affine(total.x * z, total.y * z)
