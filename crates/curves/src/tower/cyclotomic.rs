//! Squaring in the cyclotomic subgroup G_Φ₁₂(p) of Fp12, where it costs half of a general squaring.
//!
//! Granger–Scott 2010 (2009/565), extensions of degree six: for g = a + b·w + c·w² over Fp4, and a bar for the conjugate
//! of Fp4 over Fp2, g² = (3a² − 2ā) + (3s·c² + 2b̄)·w + (3b² − 2c̄)·w². Runs of squarings work on G = 3g, because the threes
//! then vanish: 3g² = (A² − 2Ā) + (s·C² + 2B̄)·w + (B² − 2C̄)·w² for G = A + B·w + C·w².
//!
//! That is for w³ = s. With w³ = k in Fp, see [`Tower::CUBE`], the norm of g to `Fp4` is taken with p²-th powers of w that have the other
//! sign, and the coefficients of w are 3k·c² − 2b̄ and k·C² − 2B̄.

pub mod compressed;
mod golden;

use super::{Fp2, Fp4, Fp12, Tower, times_small};
use compressed::Compressed;
use residue_formula::Fe;
use residue_formula::scope::enter;

/// g ↦ g² for g in the cyclotomic subgroup.
#[must_use]
pub fn cyclotomic_square<F: Fe, T: Tower>(g: Fp12<F, T>) -> Fp12<F, T> {
    let _scope = enter("cyclotomic_square");
    let Fp12 { c0: a, c1: b, c2: c } = g;
    // (x, t) ↦ 3t − 2x̄ = 2(t − x̄) + t
    let combine = |x: Fp4<F, T>, t: Fp4<F, T>| Fp4::new(t.c0 - x.c0, t.c1 + x.c1).double() + t;
    let t = c.square().mul_by_cube(); //                                      T = s·c²
    let c0 = combine(a, a.square()); //                                       3a² − 2ā
    let c1 = match T::CUBE {
        Some(_) => combine(b, t),
        None => Fp4::new(t.c0 + b.c0, t.c1 - b.c1).double() + t, //           3T + 2b̄ = 2(T + b̄) + T
    };
    let c2 = combine(c, b.square()); //                                       3b² − 2c̄
    Fp12::new(c0, c1, c2)
}

/// 3g ↦ 3g² for g in the cyclotomic subgroup. All products come first, so that results can take the place of operands.
#[must_use]
pub fn cyclotomic_square_tripled<F: Fe, T: Tower>(tripled: Fp12<F, T>) -> Fp12<F, T> {
    let _scope = enter("cyclotomic_square");
    let Fp12 { c0: a, c1: b, c2: c } = tripled;
    if T::IS_GOLDEN {
        return golden::cyclotomic_square_tripled(tripled);
    }
    if !has_short_squares::<T>() {
        let t = c.square().mul_by_cube();
        let [a2, b2, c2] = [a, b, c].map(|x| x.conjugate().double());
        let c1 = if T::CUBE.is_some() { t - b2 } else { t + b2 };
        return Fp12::new(a.square() - a2, c1, b.square() - c2);
    }
    if T::K == 1 && a.c0.is_in_sums() {
        return cyclotomic_square_tripled_in_sums(tripled);
    }
    let [pa, pb, pc] = [a, b, c].map(products);
    let c0 = square_minus_conjugate(&pa, a); //           A² − 2Ā
    let c1 = match T::CUBE {
        Some(k) => multiple_of_square_minus_conjugate(&pc, k, b),
        None => twisted_square_plus_conjugate(&pc, b), // s·C² + 2B̄
    };
    let c2 = square_minus_conjugate(&pb, c); //           B² − 2C̄
    Fp12::new(c0, c1, c2)
}

/// The same as sums of products in Fp with one reduction each, for ξ = 1 + u and w³ = s.
fn cyclotomic_square_tripled_in_sums<F: Fe, T: Tower>(Fp12 { c0: a, c1: b, c2: c }: Fp12<F, T>) -> Fp12<F, T> {
    let [a2, b2, c2] = [a, b, c].map(Fp4::double);
    let square = Fp4::new(first_part_in_sums(a, a2.c0), a2.c0 * a.c1);
    let rest = Compressed::in_sums((b, b2), (c, c2));
    Fp12::new(Fp4::new(square.c0 - a2.c0, square.c1 + a2.c1), rest.b, rest.c) // A² − 2Ā
}

/// (x, 2·x0) ↦ x0² + ξ·x1², with x = (a + b·u) + (c + d·u)·s: no product stands in two sums. With 2·x0·x1 it makes x², and
/// 2·x0·(ξ·x1) + (x0² + ξ·x1²)·s is s·x².
fn first_part_in_sums<F: Fe, T: Tower>(x: Fp4<F, T>, doubled: Fp2<F, T>) -> Fp2<F, T> {
    let (Fp2 { c0: a, c1: b, .. }, Fp2 { c0: c, c1: d, .. }) = (x.c0, x.c1);
    let Fp2 { c0: difference, c1: sum, .. } = x.c1.mul_by_nonresidue();
    let re = (a + b) * (a - b) + c * difference - d * sum; // a² − b² + c² − d² − 2cd
    let im = doubled.c0 * b + c * sum + d * difference; //   2ab + c² − d² + 2cd
    Fp2::new(re, im)
}

/// 3g ↦ 3g² on the part in Fp4 alone, which depends on nothing else: A is the trace of g over Fp4, and A ↦ A² − 2Ā its
/// doubling of Lenstra and Verheul 2000, “The XTR public key system”, lemma 2.3.2.
#[must_use]
pub fn trace_of_square<F: Fe, T: Tower>(trace: Fp4<F, T>) -> Fp4<F, T> {
    let _scope = enter("trace_of_square");
    if T::IS_GOLDEN {
        return golden::square_minus_conjugate(trace, trace);
    }
    if !has_short_squares::<T>() {
        return trace.square() - trace.conjugate().double();
    }
    square_minus_conjugate(&products(trace), trace)
}

/// A ↦ A − 1 if [`shifted_trace_of_square`] is the way to square traces: as sums of products in Fp, for ξ = 1 + u.
pub fn shifted_trace<F: Fe, T: Tower>(trace: Fp4<F, T>, one: impl FnOnce() -> F) -> Option<Fp4<F, T>> {
    let is_way = has_short_squares::<T>() && !T::IS_GOLDEN && T::K == 1 && trace.c0.is_in_sums();
    is_way.then(|| Fp4::new(Fp2::new(trace.c0.c0 - one(), trace.c0.c1), trace.c1))
}

/// (A − 1, 2, 4) ↦ A² − 2Ā − 1, as [`trace_of_square`]: for A = 1 + a + b·u + x1·s it is x0² + ξ·x1² − 2 + 2(x0 + 2)·x1·s with x0 = a + b·u.
#[must_use]
pub fn shifted_trace_of_square<F: Fe, T: Tower>(shifted: Fp4<F, T>, two: F, four: F) -> Fp4<F, T> {
    let _scope = enter("trace_of_square");
    let doubled = shifted.c0.double();
    let first = first_part_in_sums(shifted, doubled);
    Fp4::new(Fp2::new(first.c0 - two, first.c1), Fp2::new(doubled.c0 + four, doubled.c1) * shifted.c1)
}

/// True if [`Products`] hold: u² = −1, and ξ has a real part.
const fn has_short_squares<T: Tower>() -> bool {
    T::N == 1 && T::K > 0
}

/// The seven multiplications in a square of Fp4 for u² = −1, with additions and doublings left to be merged with what follows.
struct Products<F, T> {
    /// (Re, Im/2) of x0².
    xx: Fp2<F, T>,
    /// (Re, Im/2) of x1².
    yy: Fp2<F, T>,
    /// K, K₁ and K₀ of x0·x1 = (K − K₁) + (K − K₀)·u, as in the product of Fp2.
    k: F,
    k1: F,
    k0: F,
}

/// The products of x = x0 + x1·s that its square needs. The sums serve twice each.
fn products<F: Fe, T: Tower>(x: Fp4<F, T>) -> Products<F, T> {
    let Fp4 { c0: x, c1: y } = x;
    let sum_x = x.c0 + x.c1;
    let sum_y = y.c0 + y.c1;
    let difference_y = y.c0 - y.c1;
    Products {
        xx: Fp2::new(sum_x * (x.c0 - x.c1), x.c0 * x.c1),
        yy: Fp2::new(sum_y * difference_y, y.c0 * y.c1),
        k: sum_x * y.c0,
        k1: x.c1 * sum_y,
        k0: x.c0 * difference_y,
    }
}

/// (x, l) ↦ x0² + ξ·x1² − 2l, given the products of x. Halves are added up first and doubled together.
fn first_part<F: Fe, T: Tower>(p: &Products<F, T>, l: Fp2<F, T>) -> Fp2<F, T> {
    let h0 = p.yy.c1 + l.c0; //                      H₀ = Im(x1²)/2 + Re(l)
    let [re, im] = [p.yy.c0, p.yy.c1].map(|part| times_small(part, T::K));
    let h1 = p.xx.c1 + (im - l.c1); //               H₁ = Im(x0²)/2 + k·Im(x1²)/2 − Im(l)
    let c0 = if T::K % 2 == 0 {
        p.xx.c0 + (times_small(p.yy.c0, T::K / 2) - h0).double()
    } else {
        p.xx.c0 + re - h0.double() //                Re(x0²) + k·Re(x1²) − 2H₀
    };
    let c1 = p.yy.c0 + h1.double(); //               Re(x1²) + 2H₁
    Fp2::new(c0, c1)
}

/// (x, l) ↦ x² − 2l̄ in Fp4, given the products of x.
fn square_minus_conjugate<F: Fe, T: Tower>(p: &Products<F, T>, l: Fp4<F, T>) -> Fp4<F, T> {
    let re = p.k - p.k1 + l.c1.c0; //                Re(x0·x1 + l1)
    let im = p.k - p.k0 + l.c1.c1; //                Im(x0·x1 + l1)
    Fp4::new(first_part(p, l.c0), Fp2::new(re, im).double())
}

/// (x, k, l) ↦ k·x² − 2l̄ in Fp4, given the products of x.
fn multiple_of_square_minus_conjugate<F: Fe, T: Tower>(p: &Products<F, T>, k: u32, l: Fp4<F, T>) -> Fp4<F, T> {
    let times = |a: Fp2<F, T>, k| Fp2::new(times_small(a.c0, k), times_small(a.c1, k));
    let im = p.xx.c1 + times_small(p.yy.c1, T::K); //            Im(x0²)/2 + k·Im(x1²)/2
    let re = times_small(p.yy.c0, T::K) - p.yy.c1.double(); //   Re(ξ·x1²)
    let square = Fp2::new(p.xx.c0 + re, p.yy.c0 + im.double()); // x0² + ξ·x1²
    let c0 = times(square, k - 2) + (square - l.c0).double(); // k·(x0² + ξ·x1²) − 2l0
    let half = Fp2::new(p.k - p.k1, p.k - p.k0); //              x0·x1
    Fp4::new(c0, (times(half, k) + l.c1).double())
}

/// (x, l) ↦ s·x² + 2l̄ in Fp4, where s·x² = 2ξ·x0·x1 + (x0² + ξ·x1²)·s, given the products of x.
fn twisted_square_plus_conjugate<F: Fe, T: Tower>(p: &Products<F, T>, l: Fp4<F, T>) -> Fp4<F, T> {
    let half = if T::K == 1 {
        let re = p.k0 - p.k1 + l.c0.c0; //           Re(ξ·x0·x1 + l0) = (K − K₁) − (K − K₀) + Re(l0)
        let im = p.k.double() - p.k0 - p.k1 + l.c0.c1; //  Im(ξ·x0·x1 + l0) = (K − K₁) + (K − K₀) + Im(l0)
        Fp2::new(re, im)
    } else {
        Fp2::new(p.k - p.k1, p.k - p.k0).mul_by_nonresidue() + l.c0
    };
    Fp4::new(half.double(), first_part(p, l.c1))
}
