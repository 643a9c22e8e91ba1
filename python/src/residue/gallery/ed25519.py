"""Ed25519's points: multiples of a point of the twisted Edwards curve −x² + y² = 1 + dx²y² (RFC 8032, §5.1)."""

from __future__ import annotations

from dataclasses import dataclass

from residue import Call, Element, Field, Word, function, program, repeat, require, when

P = 2**255 - 19
F = Field(P, "Curve25519 Fp")
D = F(-121665) / 121666

BASE_Y = F(4) / 5
BASE_X = F(15112221349535400772501151409588531511454012693041857206046113283949847762202)


@dataclass(frozen=True)
class Extended:
    """x/z and y/z, with t = xy/z. Formulas: Hisil, Wong, Carter, Dawson 2008 (2008/522), §3.1 and §3.3, which are complete here."""

    x: Element
    y: Element
    z: Element
    t: Element

    def __add__(self, other: Extended) -> Extended:
        a = (self.y - self.x) * (other.y - other.x)
        b = (self.y + self.x) * (other.y + other.x)
        c = self.t * (2 * D) * other.t
        d = 2 * self.z * other.z
        e, f, g, h = b - a, d - c, d + c, b + a
        return Extended(e * f, g * h, f * g, e * h)

    def double(self) -> Extended:
        """Twice the point."""
        a, b, c = self.x.square(), self.y.square(), 2 * self.z.square()
        h = a + b
        e, g = h - (self.x + self.y).square(), a - b
        f = c + g
        return Extended(e * f, g * h, f * g, e * h)


def defect(x: Element, y: Element) -> Element:
    """Zero if (x, y) is on the curve."""
    xx, yy = x.square(), y.square()
    return yy - xx - 1 - D * xx * yy


@function
def inverse(a: Element) -> Element:
    """a⁻¹ = a^(p − 2); 0 for 0."""
    return a ** (P - 2)


def multiple(scalar: Word, point: Extended) -> Extended:
    """The multiple by a word, two bits at a time: 0, P, 2P or 3P is added after two doublings."""
    identity = Extended(F(0), F(1), F(1), F(0))
    twice = point.double()
    thrice = twice + point

    def turn(index: Word, total: Extended) -> Extended:
        total = total.double().double()
        digit = ((scalar >> (254 - 2 * index)) & 3).bind()
        small = when(digit == 2, twice, thrice)
        chosen = when(digit == 1, point, small)
        total = when(digit == 0, total, lambda: total + chosen)
        return total

    return repeat(128, identity, turn)


@program(F)
def scalar_multiple(call: Call) -> tuple[Element, Element]:
    """Calldata: x and y of a point, then a scalar. Returns x and y of the multiple."""
    x, y = call.elements(0, 2)
    require(defect(x, y) == 0)
    total = multiple(call.word(64), Extended(x, y, F(1), x * y))
    z = inverse(total.z)
    return total.x * z, total.y * z
