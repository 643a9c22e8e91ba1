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
    """The sum of two points, as the precompile at address 6 has it.

    On the curve (y₁ − y₂)·(y₁ + y₂) = x₁³ − x₂³. So (x₁² + x₁·x₂ + x₂²)/(y₁ + y₂) is the slope of the chord and, for equal
    points, of the tangent, unless y₁ + y₂ = 0: Brier and Joye 2002. The identity is seen to be one only where a point is
    not on the curve, as (0, 0) is not.
    """
    p, q = point(call, 0), point(call, 64)
    # −1 is no square modulo p, so that a sum of two squares is zero only if both are.
    defect = p.defect().square() + q.defect().square()
    slope = (p.x.square() + p.x * q.x + q.x.square(), p.y + q.y)
    are_on_curve = defect == 0
    is_undefined = slope[1] == 0

    def chord() -> tuple[Element, Element]:
        when(defect == 0, None, lambda: sum_with_identity(call, p, q))
        # Q = −P, or one of both other points with the y of −P, so that there is no tangent.
        dx = q.x - p.x
        when(dx == 0, lambda: finish(Affine(dx, dx)), None)
        return q.y - p.y, dx

    numerator, denominator = when(is_undefined < are_on_curve, lambda: slope, chord)
    ratio = numerator * inverse(denominator)
    x = ratio.square() - p.x - q.x
    finish(Affine(x, ratio * (p.x - x) - p.y))


def sum_with_identity(call: Call, p: Affine, q: Affine) -> None:
    """Ends with the sum of points one of which at least is not on the curve: it must be the identity."""
    p_is_finite, q_is_finite = is_finite(call, 0), is_finite(call, 64)
    require(not_(p_is_finite & q_is_finite))
    # (0, 0) stands for the identity, so that the sum is that of the coordinates.
    total = Affine(p.x + q.x, p.y + q.y)
    when(p_is_finite | q_is_finite, lambda: require(total.defect() == 0), None)
    finish(total)
