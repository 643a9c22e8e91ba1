//! `Fp2 = Fp[u] / (u² + n)` or `Fp[u] / (u² − u − 1)`, with the nonresidue ξ = k + u of the next layers; n and k are the tower's.
//!
//! Products take the right operand in the form of a [`Multiplicand`], which is linear and can be used many times: then a
//! product is three multiplications and two additions, where the schoolbook has four and two. Which of them pays is a
//! question of prices: [`Fe::fp2_product`] says which way a text goes.
//!
//! With the golden ratio for u, see [`Tower::IS_GOLDEN`], (a0 + a1·u)(b0 + b1·u) is a0·b0 + a1·b1 + ((a0 + a1)(b0 + b1) − a0·b0)·u: three
//! multiplications and three additions too, and one addition makes the multiplicand, where two and more do with u² = −n.

use super::{Tower, times_small};
use core::marker::PhantomData;
use core::ops::{Add, Mul, Neg, Sub};
use num_bigint::BigUint;
use residue_formula::scope::enter;
use residue_formula::{Bundle, Fe, Fp2Product, Number};
use residue_ir::Machine;

/// c0 + c1·u.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fp2<F, T> {
    /// The part in Fp.
    pub c0: F,
    /// The part times u.
    pub c1: F,
    /// Tower that defines u.
    tower: PhantomData<T>,
}

impl<F, T> Fp2<F, T> {
    /// c0 + c1·u.
    pub const fn new(c0: F, c1: F) -> Self {
        Self { c0, c1, tower: PhantomData }
    }
}

impl<F: Fe, T: Tower> Add for Fp2<F, T> {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self::new(self.c0 + other.c0, self.c1 + other.c1)
    }
}

impl<F: Fe, T: Tower> Sub for Fp2<F, T> {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self::new(self.c0 - other.c0, self.c1 - other.c1)
    }
}

impl<F: Fe, T: Tower> Neg for Fp2<F, T> {
    type Output = Self;

    fn neg(self) -> Self {
        Self::new(-self.c0, -self.c1)
    }
}

impl<F: Fe, T: Tower> Bundle<F> for Fp2<F, T> {
    const LEN: usize = 2;

    fn collect(&self, values: &mut Vec<F>) {
        values.extend([self.c0, self.c1]);
    }

    fn build(values: &mut impl Iterator<Item = F>) -> Self {
        let [c0, c1] = <[F; 2]>::build(values);
        Self::new(c0, c1)
    }
}

/// (a, n) ↦ n·a, where u² = −n.
fn times_n<F: Fe, T: Tower>(a: F) -> F {
    times_small(a, T::N)
}

/// An element b = b0 + b1·u as the right operand of products, with the parts that products read in the way that its parts ask for.
#[derive(Clone, Copy, Debug)]
pub enum Multiplicand<F, T> {
    /// For three multiplications.
    Karatsuba {
        /// b0.
        c0: F,
        /// b0 − b1; b1 itself for the golden ratio.
        difference: F,
        /// b0 + n·b1; b0 + b1 for the golden ratio.
        sum: F,
    },
    /// For four.
    Schoolbook(Fp2<F, T>),
}

impl<F: Fe, T: Tower> Multiplicand<F, T> {
    /// The same map of both, part by part.
    fn combine(self, other: Self, map: impl Fn(F, F) -> F) -> Self {
        match (self, other) {
            (Self::Karatsuba { c0, difference, sum }, Self::Karatsuba { c0: d0, difference: e, sum: t }) => {
                Self::Karatsuba { c0: map(c0, d0), difference: map(difference, e), sum: map(sum, t) }
            }
            (Self::Schoolbook(a), Self::Schoolbook(b)) => Self::Schoolbook(Fp2::new(map(a.c0, b.c0), map(a.c1, b.c1))),
            _ => unreachable!("one text makes its products in one way"),
        }
    }
}

impl<F: Fe, T: Tower> Multiplicand<F, T> {
    /// The element itself, where products in larger fields are to be sums of products in Fp: see [`Fp2::is_in_sums`].
    pub(super) fn in_sums(self) -> Option<Fp2<F, T>> {
        match self {
            Self::Schoolbook(b) => b.is_in_sums().then_some(b),
            Self::Karatsuba { .. } => None,
        }
    }
}

impl<F: Fe, T: Tower> Add for Multiplicand<F, T> {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        self.combine(other, |a, b| a + b)
    }
}

impl<F: Fe, T: Tower> Sub for Multiplicand<F, T> {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self.combine(other, |a, b| a - b)
    }
}

impl<F: Fe, T: Tower> Neg for Multiplicand<F, T> {
    type Output = Self;

    fn neg(self) -> Self {
        match self {
            Self::Karatsuba { c0, difference, sum } => Self::Karatsuba { c0: -c0, difference: -difference, sum: -sum },
            Self::Schoolbook(b) => Self::Schoolbook(-b),
        }
    }
}

/// Three values in either way, as the length of a bundle is known beforehand; of two parts the first stands twice.
impl<F: Fe, T: Tower> Bundle<F> for Multiplicand<F, T> {
    const LEN: usize = 3;

    fn collect(&self, values: &mut Vec<F>) {
        values.extend(match *self {
            Self::Karatsuba { c0, difference, sum } => [c0, difference, sum],
            Self::Schoolbook(b) => [b.c0, b.c1, b.c0],
        });
    }

    fn build(values: &mut impl Iterator<Item = F>) -> Self {
        let [c0, second, third] = <[F; 3]>::build(values);
        match c0.fp2_product() {
            Fp2Product::Karatsuba | Fp2Product::Fp6 => Self::Karatsuba { c0, difference: second, sum: third },
            Fp2Product::Schoolbook | Fp2Product::Sums => Self::Schoolbook(Fp2::new(c0, second)),
        }
    }
}

impl<F: Fe, T: Tower> Fp2<F, T> {
    /// This element as the right operand of products.
    #[must_use]
    pub fn multiplicand(self) -> Multiplicand<F, T> {
        match self.c0.fp2_product() {
            Fp2Product::Karatsuba | Fp2Product::Fp6 if T::IS_GOLDEN => {
                Multiplicand::Karatsuba { c0: self.c0, difference: self.c1, sum: self.c0 + self.c1 }
            }
            Fp2Product::Karatsuba | Fp2Product::Fp6 => {
                let difference = self.c0 - self.c1;
                Multiplicand::Karatsuba { c0: self.c0, difference, sum: self.c0 + times_n::<F, T>(self.c1) }
            }
            Fp2Product::Schoolbook | Fp2Product::Sums => Multiplicand::Schoolbook(self),
        }
    }

    /// True if products in larger fields are to be sums of products in Fp: for u² = −1 or the golden ratio.
    pub(crate) fn is_in_sums(self) -> bool {
        (T::N == 1 || T::IS_GOLDEN) && self.c0.fp2_product() == Fp2Product::Sums
    }

    /// True if products in Fp6 are to be single instructions: for u² = −1.
    pub(super) fn is_in_fp6(self) -> bool {
        T::N == 1 && !T::IS_GOLDEN && self.c0.fp2_product() == Fp2Product::Fp6
    }

    /// Σ aᵢ·bᵢ as two sums of products in Fp, for u² = −1: Σ aᵢ₀·bᵢ₀ − aᵢ₁·bᵢ₁ and Σ aᵢ₀·bᵢ₁ + aᵢ₁·bᵢ₀; for the golden ratio Σ aᵢ₀·bᵢ₀ + aᵢ₁·bᵢ₁ and
    /// Σ aᵢ₀·bᵢ₁ + aᵢ₁·(bᵢ₀ + bᵢ₁).
    #[must_use]
    pub(super) fn sum_of_products<const COUNT: usize>(products: [(Self, Self); COUNT]) -> Self {
        const { assert!(COUNT > 0, "there is a product") };
        assert!(T::N == 1 || T::IS_GOLDEN, "others are not used");
        let _scope = enter("fp2_sum_of_products");
        let parts = products.map(|(a, b)| match T::IS_GOLDEN {
            true => Self::new(a.c0 * b.c0 + a.c1 * b.c1, a.c0 * b.c1 + a.c1 * (b.c0 + b.c1)),
            false => Self::new(a.c0 * b.c0 - a.c1 * b.c1, a.c0 * b.c1 + a.c1 * b.c0),
        });
        parts[1..].iter().fold(parts[0], |sum, &part| sum + part)
    }

    /// a ↦ a².
    #[must_use]
    pub fn square(self) -> Self {
        let _scope = enter("fp2_square");
        if T::IS_GOLDEN {
            let [im, difference] = self.products_of_square();
            return Self::new(im + difference, im);
        }
        Self::new(self.real_part_of_square(), (self.c0 * self.c1).double())
    }

    /// a ↦ Im(a²) = a1·(2a0 + a1) and Re(a²) − Im(a²) = a0·(a0 − 2a1) for the golden ratio: Re(a²) = a0² + a1².
    pub(super) fn products_of_square(self) -> [F; 2] {
        let Self { c0, c1, .. } = self;
        [c1 * (c0.double() + c1), c0 * (c0 - c1.double())]
    }

    /// a ↦ a0² − n·a1² = (a0 + a1)(a0 − n·a1) + (n − 1)·a0·a1.
    pub fn real_part_of_square(self) -> F {
        let Self { c0, c1, .. } = self;
        if T::IS_GOLDEN {
            return self.square().c0;
        }
        let product = (c0 + c1) * (c0 - times_n::<F, T>(c1));
        if T::N == 1 { product } else { product + times_small(c0 * c1, T::N - 1) }
    }

    /// (a, b) ↦ a0·b0 − n·a1·b1 for a multiple b of a by an element of Fp, which makes a0·b1 = a1·b0:
    /// (a0 + a1)(b0 − n·b1) + (n − 1)·a0·b1.
    pub fn real_part_of_parallel_product(self, b: Self) -> F {
        if T::IS_GOLDEN {
            return (self * b).c0;
        }
        let product = (self.c0 + self.c1) * (b.c0 - times_n::<F, T>(b.c1));
        if T::N == 1 { product } else { product + times_small(self.c0 * b.c1, T::N - 1) }
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

    /// a ↦ aᵖ = a0 − a1·u; a0 + a1 − a1·u for the golden ratio.
    #[must_use]
    pub fn conjugate(self) -> Self {
        if T::IS_GOLDEN {
            return Self::new(self.c0 + self.c1, -self.c1);
        }
        Self::new(self.c0, -self.c1)
    }

    /// (a, b) ↦ aᵖ·b: the signs of the conjugate vanish in the product.
    #[must_use]
    pub fn conjugate_mul(self, other: Self) -> Self {
        let _scope = enter("fp2_conjugate_mul");
        if T::IS_GOLDEN {
            let c0 = (self.c0 + self.c1) * other.c0 - self.c1 * other.c1; // (a0 + a1)·b0 − a1·b1
            return Self::new(c0, self.c0 * other.c1 - self.c1 * other.c0);
        }
        let c0 = self.c0 * other.c0 + times_n::<F, T>(self.c1 * other.c1); // a0·b0 + n·a1·b1
        let c1 = self.c0 * other.c1 - self.c1 * other.c0; // a0·b1 − a1·b0
        Self::new(c0, c1)
    }

    /// (a, b) ↦ aᵖ·b, for a multiplicand that is used often or constant.
    #[must_use]
    pub fn conjugate_times(self, b: Multiplicand<F, T>) -> Self {
        match b {
            Multiplicand::Karatsuba { .. } if T::IS_GOLDEN => self.conjugate() * b,
            Multiplicand::Karatsuba { c0: b0, difference, sum } => {
                let _scope = enter("fp2_conjugate_mul");
                let k = (self.c0 - self.c1) * b0; //   K = (a0 − a1)·b0
                let c0 = k + self.c1 * sum; //         a0·b0 + n·a1·b1 = K + a1·(b0 + n·b1)
                let c1 = k - self.c0 * difference; //  a0·b1 − a1·b0 = K − a0·(b0 − b1)
                Self::new(c0, c1)
            }
            Multiplicand::Schoolbook(b) => self.conjugate_mul(b),
        }
    }

    /// (a, b) ↦ a + u·b.
    #[must_use]
    pub fn add_times_u(self, other: Self) -> Self {
        if T::IS_GOLDEN {
            return Self::new(self.c0 + other.c1, self.c1 + (other.c0 + other.c1)); // u·b = b1 + (b0 + b1)·u
        }
        Self::new(self.c0 - times_n::<F, T>(other.c1), self.c1 + other.c0)
    }

    /// a ↦ ξ·a, ξ = k + u.
    #[must_use]
    pub fn mul_by_nonresidue(self) -> Self {
        if T::IS_GOLDEN {
            const { assert!(!T::IS_GOLDEN || T::K == 2, "others are not used") };
            let sum = self.c0 + self.c1; // (2 + u)(a0 + a1·u) = 2a0 + a1 + (a0 + 3a1)·u
            return Self::new(self.c0 + sum, self.c1.double() + sum);
        }
        if T::K == 0 {
            return Self::new(-times_n::<F, T>(self.c1), self.c0);
        }
        Self::new(times_small(self.c0, T::K), times_small(self.c1, T::K)).add_times_u(self)
    }

    /// a ↦ ξ̄·a, ξ̄ = k − u, for u² = −1 and k > 0.
    #[must_use]
    pub fn mul_by_conjugate_of_nonresidue(self) -> Self {
        assert!(T::N == 1 && T::K > 0 && !T::IS_GOLDEN, "others are not used");
        let Self { c0, c1, .. } = self;
        Self::new(times_small(c0, T::K) + c1, times_small(c1, T::K) - c0)
    }

    /// a ↦ v³·a for the v of Fp6: c·a, or ξ·a.
    #[must_use]
    pub fn mul_by_cube(self) -> Self {
        match T::CUBE {
            Some(c) => Self::new(times_small(self.c0, c), times_small(self.c1, c)),
            None => self.mul_by_nonresidue(),
        }
    }

    /// (a, b, a + b) ↦ a + ξ·b = a + k·b + u·b. From k = 9 on a product by k costs no more than additions to the sum.
    #[must_use]
    pub fn add_times_nonresidue(self, other: Self, sum: Self) -> Self {
        if T::IS_GOLDEN {
            let both = other.c0 + other.c1; // (2 + u)·b − b = b0 + b1 + (b0 + 2b1)·u
            return Self::new(sum.c0 + both, sum.c1 + both + other.c1);
        }
        let times = |k| Self::new(times_small(other.c0, k), times_small(other.c1, k));
        let with_real_part = match T::K {
            0 => self,
            1 => sum,
            2..9 => sum + times(T::K - 1),
            k => self + times(k),
        };
        with_real_part.add_times_u(other)
    }

    /// a ↦ a0² + n·a1² = aᵖ⁺¹, in Fp; zero only for zero. For the golden ratio it is a0² + a0·a1 − a1².
    pub fn norm(self) -> F {
        if T::IS_GOLDEN {
            return self.c0 * (self.c0 + self.c1) - self.c1.square();
        }
        self.c0.square() + times_n::<F, T>(self.c1.square())
    }

    /// a ↦ a⁻¹ = aᵖ / norm(a), where `invert` inverts in Fp.
    #[must_use]
    pub fn inverse_with(self, invert: impl FnOnce(F) -> F) -> Self {
        let inverse = invert(self.norm());
        let re = if T::IS_GOLDEN { self.c0 + self.c1 } else { self.c0 };
        Self::new(re * inverse, -(self.c1 * inverse))
    }
}

impl<T: Tower> Fp2<BigUint, T> {
    /// Canonical values as a constant of the program that `machine` runs.
    pub fn lift<M: Machine>(&self, machine: &M) -> Fp2<M::Fe, T> {
        Fp2::new(machine.constant(&self.c0), machine.constant(&self.c1))
    }
}

impl<F: Number, T: Tower> Fp2<F, T> {
    /// Its canonical values.
    pub fn to_canonical(self) -> Fp2<BigUint, T> {
        Fp2::new(self.c0.to_canonical(), self.c1.to_canonical())
    }

    /// 1.
    pub const ONE: Self = Self::new(F::ONE, F::ZERO);

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

impl<F: Fe, T: Tower> Multiplicand<F, T> {
    /// bᵖ = b0 − b1·u.
    #[must_use]
    pub fn conjugate(self) -> Self {
        match self {
            Self::Karatsuba { c0, difference, sum } if T::N == 1 && !T::IS_GOLDEN => {
                Self::Karatsuba { c0, difference: sum, sum: difference }
            }
            Self::Karatsuba { .. } => self.element().conjugate().multiplicand(),
            Self::Schoolbook(b) => Self::Schoolbook(b.conjugate()),
        }
    }

    /// b.
    pub(super) fn element(self) -> Fp2<F, T> {
        match self {
            Self::Karatsuba { c0, difference, .. } if T::IS_GOLDEN => Fp2::new(c0, difference),
            Self::Karatsuba { c0, difference, .. } => Fp2::new(c0, c0 - difference),
            Self::Schoolbook(b) => b,
        }
    }

    /// ξ·b.
    #[must_use]
    pub fn mul_by_nonresidue(self) -> Self {
        match self {
            Self::Karatsuba { c0, difference, sum } if T::IS_ONE_PLUS_I => Self::Karatsuba {
                c0: difference,               // Re(ξ·b) = b0 − b1
                difference: difference - sum, // Re(ξ·b) − Im(ξ·b) = −2·b1
                sum: c0.double(),             // Re(ξ·b) + Im(ξ·b) = 2·b0
            },
            Self::Karatsuba { .. } => self.element().mul_by_nonresidue().multiplicand(),
            Self::Schoolbook(b) => Self::Schoolbook(b.mul_by_nonresidue()),
        }
    }
}

impl<F: Fe, T: Tower> Mul<Multiplicand<F, T>> for Fp2<F, T> {
    type Output = Self;

    /// (a, b) ↦ a·b by Gauss's three products: Knuth, TAOCP volume 2, §4.6.4, exercise 41; or by the schoolbook's four.
    fn mul(self, b: Multiplicand<F, T>) -> Self {
        let _scope = enter("fp2_mul");
        match b {
            Multiplicand::Karatsuba { c0: b0, difference: b1, sum } if T::IS_GOLDEN => {
                let k = self.c0 * b0; //                        K = a0·b0
                let c0 = k + self.c1 * b1; //                   a0·b0 + a1·b1
                let c1 = (self.c0 + self.c1) * sum - k; //      a0·b1 + a1·b0 + a1·b1
                Self::new(c0, c1)
            }
            Multiplicand::Schoolbook(b) if T::IS_GOLDEN => {
                let product = self.c1 * b.c1;
                Self::new(self.c0 * b.c0 + product, self.c0 * b.c1 + self.c1 * b.c0 + product)
            }
            Multiplicand::Karatsuba { c0: b0, difference, sum } => {
                let k = (self.c0 + self.c1) * b0; //   K = (a0 + a1)·b0
                let c0 = k - self.c1 * sum; //         a0·b0 − n·a1·b1 = K − a1·(b0 + n·b1)
                let c1 = k - self.c0 * difference; //  a0·b1 + a1·b0 = K − a0·(b0 − b1)
                Self::new(c0, c1)
            }
            Multiplicand::Schoolbook(b) => {
                let c0 = self.c0 * b.c0 - times_n::<F, T>(self.c1 * b.c1); // a0·b0 − n·a1·b1
                let c1 = self.c0 * b.c1 + self.c1 * b.c0; // a0·b1 + a1·b0
                Self::new(c0, c1)
            }
        }
    }
}

impl<F: Fe, T: Tower> Mul for Fp2<F, T> {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        self * other.multiplicand()
    }
}
