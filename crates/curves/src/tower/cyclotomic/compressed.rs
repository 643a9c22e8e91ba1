//! Squaring on two of three parts: Karabina 2010 (2010/542), “Squaring in cyclotomic subgroups”, the compression by 2/3; the formulas are
//! those of Aranha et al. 2011 (2010/526), §5.2.
//!
//! The squarings of [`super::cyclotomic_square_tripled`] take B and C of the square from B and C alone. For g = a + b·w + c·w² in the
//! cyclotomic subgroup the part a follows from the others, b = g₂ + g₃·s and c = g₄ + g₅·s, where g₂ ≠ 0:
//!
//! a = g₀ + g₁·s, g₁ = (ξ·g₅² + 3g₄² − 2g₃)/(4g₂), g₀ = ξ·(2g₁² + g₂·g₅ − 3g₃·g₄) + 1.
//!
//! g₂ = 0 needs other formulas, which are not here: callers check [`Compressed::norm`] first.

use super::{
    Fp2, Fp4, Fp12, Tower, first_part_in_sums, golden, has_short_squares, products, square_minus_conjugate,
    twisted_square_plus_conjugate,
};
use residue_formula::scope::enter;
use residue_formula::{Fe, bundle};

/// The parts B and C of three times an element of the cyclotomic subgroup.
#[derive(Clone, Copy, Debug)]
pub struct Compressed<F, T> {
    /// The part times w.
    pub b: Fp4<F, T>,
    /// The part times w².
    pub c: Fp4<F, T>,
}

bundle!(Compressed<T: Tower> { b: Fp4<F, T>, c: Fp4<F, T> });

/// True if there are such squarings: for w³ = s, where u² = −1 and ξ = k + u with k > 0, or u is the golden ratio.
pub const fn is_compressible<T: Tower>() -> bool {
    (has_short_squares::<T>() || T::IS_GOLDEN) && T::CUBE.is_none()
}

impl<F: Fe, T: Tower> Compressed<F, T> {
    /// 3g ↦ its parts.
    pub fn new(tripled: Fp12<F, T>) -> Self {
        Self { b: tripled.c1, c: tripled.c2 }
    }

    /// 3g ↦ 3g².
    #[must_use]
    pub fn square(self) -> Self {
        assert!(is_compressible::<T>(), "others are not used");
        let _scope = enter("compressed_square");
        let Self { b, c } = self;
        if T::IS_GOLDEN {
            return golden::compressed_square(self);
        }
        if T::K == 1 && b.c0.is_in_sums() {
            let (b2, c2) = (b.double(), c.double());
            return Self::in_sums((b, b2), (c, c2));
        }
        let [pb, pc] = [b, c].map(products);
        Self { b: twisted_square_plus_conjugate(&pc, b), c: square_minus_conjugate(&pb, c) }
    }

    /// (B, 2B), (C, 2C) ↦ s·C² + 2B̄, B² − 2C̄ as sums of products in Fp.
    pub(super) fn in_sums((b, b2): (Fp4<F, T>, Fp4<F, T>), (c, c2): (Fp4<F, T>, Fp4<F, T>)) -> Self {
        let (b0, b1) = (c2.c0 * c.c1.mul_by_nonresidue(), first_part_in_sums(c, c2.c0));
        let (c0, c1) = (first_part_in_sums(b, b2.c0), b2.c0 * b.c1);
        Self { b: Fp4::new(b0 + b2.c0, b1 - b2.c1), c: Fp4::new(c0 - c2.c0, c1 + c2.c1) }
    }

    /// 3g ↦ the norm of 3g₂, which must not be zero for [`Compressed::decompress`].
    pub fn norm(self) -> F {
        self.b.c0.norm()
    }

    /// (3g, 1/(4·norm), 1/3, 3) ↦ 3g, for g in the cyclotomic subgroup.
    #[must_use]
    pub fn decompress(self, inverse: F, third: F, three: F) -> Fp12<F, T> {
        let _scope = enter("decompress");
        let (Fp4 { c0: g2, c1: g3 }, Fp4 { c0: g4, c1: g5 }) = (self.b, self.c);
        let triple = |a: Fp2<F, T>| a.double() + a;
        let g4g4 = g4.square();
        // 3g₁ = (ξ·(3g₅)² + 3·(3g₄)² − 6·3g₃) / (4·3g₂)
        let numerator = g5.square().mul_by_nonresidue() + triple(g4g4 - g3.double());
        let g1 = (numerator * g2.conjugate()).scale(inverse);
        // 3g₀ = ξ·(2·(3g₁)² + 3g₂·3g₅ − 3·3g₃·3g₄)/3 + 3
        let rest = (g2 * g5 - triple(g3) * g4) + g1.square().double();
        let g0 = rest.mul_by_nonresidue().scale(third);
        Fp12::new(Fp4::new(Fp2::new(g0.c0 + three, g0.c1), g1), self.b, self.c)
    }
}
