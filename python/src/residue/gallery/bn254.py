"""BN254's G1: the addition of EIP-196, which the precompile at address 6 has.

Points stand as two coordinates of 32 bytes; (0, 0) stands for the identity.
"""

from __future__ import annotations

from dataclasses import dataclass

from residue import Call, Element, Field, Word, bind, finish, function, not_, program, require, when

P = 0x30644E72E131A029B85045B68181585D97816A916871CA8D3C208C16D87CFD47
F = Field(P, "BN254 Fp")


@dataclass(frozen=True)
class Affine:
    """x and y on y² = x³ + 3."""

    x: Element
    y: Element

    def defect(self) -> Element:
        """Zero if the point is on the curve."""
        return self.y.square() - self.x.square() * self.x - 3


@function
def inverse(a: Element) -> Element:
    """a⁻¹ = a^(p − 2); 0 for 0."""
    return a ** (P - 2)


def point(call: Call, offset: Word | int) -> Affine:
    """The coordinates of a point."""
    return Affine(call.element(offset), call.element(offset + 32))


def is_finite(call: Call, offset: int) -> Word:
    """1 if the point is not the identity."""
    return bind(not_((call.word(offset) | call.word(offset + 32)) == 0))


@program(F)
def add(call: Call) -> None:
    """The sum of two points, as the precompile at address 6 has it."""
    p, q = point(call, 0), point(call, 64)
    p_is_finite, q_is_finite = is_finite(call, 0), is_finite(call, 64)

    def both() -> None:
        # −1 is no square modulo p, so that a sum of two squares is zero only if both are.
        require(p.defect().square() + q.defect().square() == 0)
        finish(chord(p, q))

    def one_at_most() -> None:
        # (0, 0) stands for the identity, so that the sum is that of the coordinates.
        total = Affine(p.x + q.x, p.y + q.y)
        when(p_is_finite | q_is_finite, lambda: require(total.defect() == 0), None)
        finish(total)

    when(p_is_finite & q_is_finite, both, one_at_most)


def chord(p: Affine, q: Affine) -> Affine:
    """The sum by chord and tangent of two points that are not the identity: Silverman, III.2.3."""
    dx = q.x - p.x

    def tangent() -> tuple[Element, Element]:
        # Q = ±P. No point has y = 0, since the curve has an odd number of points.
        when((p.y + q.y) == 0, lambda: finish(Affine(dx, dx)), None)
        return 3 * p.x.square(), p.y + q.y

    numerator, denominator = when(dx == 0, tangent, lambda: (q.y - p.y, dx))
    slope = numerator * inverse(denominator)
    x = slope.square() - p.x - q.x
    return Affine(x, slope * (p.x - x) - p.y)
