//! The same where u is the golden ratio and ξ = 2 + u, and w³ = s: additions of squares and conjugates are merged.

use super::compressed::Compressed;
use crate::tower::{Fp2, Fp4, Fp12, Tower, times_small};
use residue_formula::Fe;

/// 3g ↦ 3g².
pub(super) fn cyclotomic_square_tripled<F: Fe, T: Tower>(tripled: Fp12<F, T>) -> Fp12<F, T> {
    const { assert!(!T::IS_GOLDEN || T::CUBE.is_none(), "others are not used") };
    let Fp12 { c0: a, c1: b, c2: c } = tripled;
    let c0 = square_minus_conjugate(a, a); //                                        A² − 2Ā
    let Compressed { b: c1, c: c2 } = compressed_square(Compressed { b, c });
    Fp12::new(c0, c1, c2)
}

/// B and C of 3g ↦ those of 3g².
pub(super) fn compressed_square<F: Fe, T: Tower>(Compressed { b, c }: Compressed<F, T>) -> Compressed<F, T> {
    let product = match c.c0.is_in_sums() {
        true => Fp2::sum_of_products([(c.c0, c.c1.mul_by_nonresidue())]),
        false => (c.c0 * c.c1).mul_by_nonresidue(),
    };
    let half = product + b.c0; //                                                    ξ·C₀·C₁ + B₀
    let s_times_square = Fp4::new(half.double(), square_of_first_minus_twice(c, b.c1)); // s·C² + 2B̄
    Compressed { b: s_times_square, c: square_minus_conjugate(b, c) } //             B² − 2C̄
}

/// (x, l) ↦ x² − 2l̄ in Fp4.
pub(super) fn square_minus_conjugate<F: Fe, T: Tower>(x: Fp4<F, T>, l: Fp4<F, T>) -> Fp4<F, T> {
    Fp4::new(square_of_first_minus_twice(x, l.c0), (x.c0 * x.c1 + l.c1).double())
}

/// (x, l) ↦ x0² + ξ·x1² − 2l. With [P, D] and [Q, E] for Im and Re − Im of x0² and x1² the parts are
/// P + D + 3Q + 2E − 2·l0 and P + 4Q + E − 2·l1; as sums of products that have no factor but what x has in them, a² + b² + 2c(c + d) + 3d² − 2·l0 and
/// b(2a + b) + c(c + 6d) + 4d² − 2·l1, for x0 = a + b·u and x1 = c + d·u.
fn square_of_first_minus_twice<F: Fe, T: Tower>(x: Fp4<F, T>, l: Fp2<F, T>) -> Fp2<F, T> {
    if x.c0.is_in_sums() {
        let (Fp2 { c0: a, c1: b, .. }, Fp2 { c0: c, c1: d, .. }) = (x.c0, x.c1);
        let re = a.square() + b.square() + times_small(d.square(), 3) + (c * (c + d)).double() - l.c0.double();
        let im = b * (a.double() + b) + c * (c + times_small(d, 6)) + times_small(d.square(), 4) - l.c1.double();
        return Fp2::new(re, im);
    }
    let [p, d] = x.c0.products_of_square();
    let [q, e] = x.c1.products_of_square();
    let pq = p + q;
    let qe = q + e; //                                  Re(x1²)
    let re = pq + d + (qe - l.c0).double();
    let im = pq + qe + (q - l.c1).double();
    Fp2::new(re, im)
}
