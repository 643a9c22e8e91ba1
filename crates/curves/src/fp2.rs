//! `Fp2 = Fp[u] / (u² + 1)`, for primes p ≡ 3 mod 4, with the nonresidue ξ = 1 + u of the next layers.
//!
//! Products take the right operand in the form of a [`Multiplicand`], which is linear and can be used many times: then a
//! product is three multiplications and two additions, where the schoolbook has four and two.

use core::ops::Mul;
use num_bigint::BigUint;
use residue_modular::scope::enter;
use residue_modular::{Fe, Number, bundle};

/// c0 + c1·u.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fp2<F> {
    /// The part in Fp.
    pub c0: F,
    /// The part times u.
    pub c1: F,
}

bundle!(Fp2 { c0: F, c1: F });
linear!(Fp2 { c0, c1 });

/// An element b = b0 + b1·u as the right operand of products.
#[derive(Clone, Copy, Debug)]
pub struct Multiplicand<F> {
    c0: F,
    /// b0 − b1.
    difference: F,
    /// b0 + b1.
    sum: F,
}

bundle!(Multiplicand { c0: F, difference: F, sum: F });
linear!(Multiplicand { c0, difference, sum });

impl<F: Fe> Fp2<F> {
    /// c0 + c1·u.
    pub const fn new(c0: F, c1: F) -> Self {
        Self { c0, c1 }
    }

    /// This element as the right operand of products.
    #[must_use]
    pub fn multiplicand(self) -> Multiplicand<F> {
        Multiplicand { c0: self.c0, difference: self.c0 - self.c1, sum: self.c0 + self.c1 }
    }

    /// a ↦ a²: (a0 + a1)(a0 − a1) + 2·a0·a1·u.
    #[must_use]
    pub fn square(self) -> Self {
        let _scope = enter("fp2_square");
        let Self { c0, c1 } = self;
        Self::new((c0 + c1) * (c0 - c1), (c0 * c1).double())
    }

    /// a ↦ 2a.
    #[must_use]
    pub fn double(self) -> Self {
        self + self
    }

    /// (a, k) ↦ k·a for k in Fp.
    #[must_use]
    pub fn scale(self, factor: F) -> Self {
        Self::new(self.c0 * factor, self.c1 * factor)
    }

    /// a ↦ aᵖ = a0 − a1·u.
    #[must_use]
    pub fn conjugate(self) -> Self {
        Self::new(self.c0, -self.c1)
    }

    /// (a, b) ↦ aᵖ·b: the signs of the conjugate vanish in the product.
    #[must_use]
    pub fn conjugate_mul(self, other: Self) -> Self {
        let c0 = self.c0 * other.c0 + self.c1 * other.c1; // a0·b0 + a1·b1
        let c1 = self.c0 * other.c1 - self.c1 * other.c0; // a0·b1 − a1·b0
        Self::new(c0, c1)
    }

    /// (a, b) ↦ aᵖ·b in three products, for a multiplicand that is used often or constant.
    #[must_use]
    pub fn conjugate_times(self, b: Multiplicand<F>) -> Self {
        let k = (self.c0 - self.c1) * b.c0; //   K = (a0 − a1)·b0
        let c0 = k + self.c1 * b.sum; //         a0·b0 + a1·b1 = K + a1·(b0 + b1)
        let c1 = k - self.c0 * b.difference; //  a0·b1 − a1·b0 = K − a0·(b0 − b1)
        Self::new(c0, c1)
    }

    /// (a, b) ↦ a + u·b.
    #[must_use]
    pub fn add_times_u(self, other: Self) -> Self {
        Self::new(self.c0 - other.c1, self.c1 + other.c0)
    }

    /// a ↦ ξ·a, ξ = 1 + u.
    #[must_use]
    pub fn mul_by_nonresidue(self) -> Self {
        self.add_times_u(self)
    }

    /// a ↦ a0² + a1² = aᵖ⁺¹, in Fp; zero only for zero.
    pub fn norm(self) -> F {
        self.c0.square() + self.c1.square()
    }

    /// a ↦ a⁻¹ = aᵖ / norm(a), where `invert` inverts in Fp.
    #[must_use]
    pub fn inverse_with(self, invert: impl FnOnce(F) -> F) -> Self {
        let inverse = invert(self.norm());
        Self::new(self.c0 * inverse, -(self.c1 * inverse))
    }
}

impl<F: Number> Fp2<F> {
    /// 1.
    pub const ONE: Self = Self { c0: F::ONE, c1: F::ZERO };

    /// (a, e) ↦ aᵉ by square and multiply; a⁰ = 1.
    #[must_use]
    pub fn pow(self, exponent: &BigUint) -> Self {
        let mut power = Self::ONE;
        for bit in (0..exponent.bits()).rev() {
            power = power.square();
            if exponent.bit(bit) {
                power = power * self;
            }
        }
        power
    }

    /// a ↦ a⁻¹; `None` for zero.
    pub fn inverse(self) -> Option<Self> {
        let inverse = self.norm().inverse()?;
        Some(self.inverse_with(|_| inverse))
    }
}

impl<F: Fe> Multiplicand<F> {
    /// bᵖ = b0 − b1·u.
    #[must_use]
    pub fn conjugate(self) -> Self {
        Self { c0: self.c0, difference: self.sum, sum: self.difference }
    }

    /// ξ·b, ξ = 1 + u.
    #[must_use]
    pub fn mul_by_nonresidue(self) -> Self {
        Self {
            c0: self.difference,                    // Re(ξ·b) = b0 − b1
            difference: self.difference - self.sum, // Re(ξ·b) − Im(ξ·b) = −2·b1
            sum: self.c0.double(),                  // Re(ξ·b) + Im(ξ·b) = 2·b0
        }
    }
}

impl<F: Fe> Mul<Multiplicand<F>> for Fp2<F> {
    type Output = Self;

    /// (a, b) ↦ a·b by Gauss's three products: Knuth, TAOCP volume 2, §4.6.4, exercise 41. The one product of this layer:
    /// whoever prefers the schoolbook's four changes this function.
    fn mul(self, b: Multiplicand<F>) -> Self {
        let _scope = enter("fp2_mul");
        let k = (self.c0 + self.c1) * b.c0; //   K = (a0 + a1)·b0
        let c0 = k - self.c1 * b.sum; //         a0·b0 − a1·b1 = K − a1·(b0 + b1)
        let c1 = k - self.c0 * b.difference; //  a0·b1 + a1·b0 = K − a0·(b0 − b1)
        Self::new(c0, c1)
    }
}

impl<F: Fe> Mul for Fp2<F> {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        self * other.multiplicand()
    }
}
